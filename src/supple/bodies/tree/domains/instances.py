"""Instances: copies of a kind hung on domains of a tree, as leaves on branches.

A copy hangs on an interface of its parent. The interface is made of the parent's nodes around the place, with positive
weights whose mean is that place, so that the copy's frame has its origin there. Copies on several domains of one kind
at the same place share the interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import lsq_linear
from scipy.spatial import cKDTree

from supple.algebra.dense import rotations
from supple.bodies.tree.domains.domain_tree import Domain, DomainInterface, DomainTemplate, DomainTree
from supple.errors import InputError
from supple.geometry import HexMesh, TetMesh

Array = np.ndarray
FEWEST_NODES, MAX_NODES = 4, 64
"""Nodes of an interface around a place."""
LEAST_WEIGHT = 0.05
"""Of an equal share: the smallest weight of a node."""
LEAST_BREADTH = 0.05
"""Of nodes and weights, middle against largest eigenvalue of their covariance: narrower interfaces turn too easily."""


@dataclass(frozen=True, eq=False)
class Mount:
    """Where a copy hangs. parent: name or number of a domain. at: in the frame of the parent's kind [m], (3,).

    rotation: quaternion of the copy's frame in the parent's. scale and frequency_factor: of the copy [-]. name: of the
    new domain.
    """

    parent: str | int
    at: ArrayLike
    rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0)
    scale: float = field(default=1.0, kw_only=True)
    frequency_factor: float = field(default=1.0, kw_only=True)
    name: str = field(default="", kw_only=True)


def interface_at(
    mesh: TetMesh | HexMesh,
    at: ArrayLike,
    rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    *,
    reach: float | None = None,
    where: str = "interface_at",
) -> DomainInterface:
    """An interface around a place [m], (3,): the nearest nodes whose weighted mean is that place.

    reach: how far from the mesh the place may be [m]; the interface is then where the mesh is nearest. None allows a
    twentieth of the mesh's diagonal. where: the name of the place, for messages.

    >>> from supple.geometry import box_tets
    >>> beam = box_tets((1, 0.1, 0.1), (10, 1, 1))
    >>> interface = interface_at(beam, (0.52, 0.01, 0.02))
    >>> np.average(beam.nodes[interface.nodes], axis=0, weights=interface.weights).round(9).tolist()
    [0.52, 0.01, 0.02]
    """
    place = np.asarray(at, dtype=float)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise InputError("the place is not three finite numbers", where=where, value=at)
    allowed = mesh.diagonal / 20 if reach is None else reach
    best: tuple[float, Array, Array] | None = None
    _, order = cKDTree(mesh.nodes).query(place, k=min(MAX_NODES, len(mesh.nodes)))
    for count in range(FEWEST_NODES, len(order) + 1, 4):
        found = _balanced(mesh.nodes, np.sort(order[:count]), place)
        if found is not None and (best is None or found[0] < 0.9 * best[0]):
            best = found
        if best is not None and best[0] < 1e-9 * mesh.diagonal:
            break
    if best is None or best[0] > allowed:
        raise InputError(
            "the place is not on the mesh",
            where=where,
            value=place.tolist(),
            allowed=f"within {allowed:.3g} m; it is {best[0]:.3g} m away" if best else None,
            fix="Move it onto the mesh, or give a larger reach.",
        )
    return DomainInterface(best[1], best[2], np.asarray(rotation, dtype=float))


def attach(
    domain_tree: DomainTree, kind: DomainTemplate, mounts: Sequence[Mount], *, reach: float | None = None
) -> DomainTree:
    """The tree with copies of a kind hung on its domains, in the order of the mounts. reach: as for `interface_at`.

    A kind that is not held around its own origin, where it hangs, does not fit and is refused.
    """
    if kind.name in domain_tree.kinds and domain_tree.kinds[kind.name] is not kind:
        raise InputError("another kind has that name", where="attach", value=kind.name)
    if not kind.held.size:
        raise InputError("a kind that hangs on others must be held somewhere", where=f"domain kind '{kind.name}'")
    _check_template(kind)
    kinds, domains = {**domain_tree.kinds, kind.name: kind}, list(domain_tree.domains)
    known: dict[tuple[str, bytes], str] = {}
    for number, mount in enumerate(mounts):
        parent = _number(domain_tree, mount.parent)
        carrier = kinds[domain_tree.domains[parent].kind]
        turn = rotations.normalise(np.asarray(mount.rotation, dtype=float))
        key = (carrier.name, np.concatenate([np.asarray(mount.at, dtype=float), turn]).tobytes())
        where = f"mount {number} of '{kind.name}' on domain '{domain_tree.domains[parent].name or parent}'"
        if key not in known:
            known[key] = _free_name(carrier, kind.name)
            interfaces = {
                **carrier.interfaces,
                known[key]: interface_at(carrier.mesh, mount.at, turn, reach=reach, where=where),
            }
            kinds[carrier.name] = replace(carrier, interfaces=interfaces)
        name = mount.name or f"{kind.name}_{len(domains)}"
        domains.append(Domain(kind.name, parent, known[key], mount.scale, mount.frequency_factor, name))
    return DomainTree(kinds, domains, domain_tree.welds)


def _check_template(kind: DomainTemplate) -> None:
    """Refuse a template whose held nodes lie apart from its origin: it would hang in the air."""
    held = kind.mesh.nodes[kind.held]
    away, size = float(np.linalg.norm(held, axis=1).min()), float(np.ptp(held, axis=0).max())
    allowed = max(size, kind.mesh.diagonal / 20)
    if away > allowed:
        raise InputError(
            "the template does not fit its place: its origin is where it hangs, but the nodes it is held by lie apart",
            where=f"domain kind '{kind.name}'",
            value=f"{away:.3g} m from its origin",
            allowed=f"{allowed:.3g} m",
            fix="Move its mesh so that the held nodes are around the origin: mesh.moved(at=...).",
        )


def _weights(offsets: Array, least: float) -> Array:
    """Weights of sum 1, none below `least`, whose mean of the offsets (k, 3) is as small as possible, and even."""
    count, size = len(offsets), float(np.abs(offsets).max())
    even = 1e-6 * np.eye(count)  # little enough to leave the mean alone, enough to choose among many solutions
    A = np.concatenate([offsets.T / size, np.ones((1, count)), even])
    b = np.concatenate([np.zeros(3), [1.0], np.full(count, 1e-6 / count)])
    weights = np.asarray(lsq_linear(A, b, bounds=(least, 1.0), tol=1e-14).x)
    return weights / weights.sum()


def _balanced(X: Array, nodes: Array, place: Array) -> tuple[float, Array, Array] | None:
    """Distance of the weighted mean from the place [m], nodes and weights: those that pull away are left out.

    Where the rest is nearly in line, as at an edge, all stay, with small weights. None where all are in line.
    """
    offsets = X[nodes] - place
    kept = _weights(offsets, 0.0) > LEAST_WEIGHT / len(nodes)
    for choice, least in ((kept, 1e-3), (np.ones(len(nodes), dtype=bool), LEAST_WEIGHT)):
        if np.count_nonzero(choice) >= 3:
            weights = _weights(offsets[choice], least / np.count_nonzero(choice))
            if _breadth(offsets[choice], weights) > LEAST_BREADTH:
                return float(np.linalg.norm(weights @ offsets[choice])), nodes[choice], weights
    return None


def _breadth(offsets: Array, weights: Array) -> float:
    """Middle against largest eigenvalue of the weighted covariance, 0 for points in line [-]."""
    centred = offsets - weights @ offsets
    values = np.linalg.eigvalsh((weights[:, None] * centred).T @ centred)
    return float(values[1] / values[2]) if values[2] > 0 else 0.0


def _number(domain_tree: DomainTree, parent: str | int) -> int:
    if isinstance(parent, str):
        names = [d.name for d in domain_tree.domains]
        if parent not in names:
            raise InputError("no domain of that name", where="attach", value=parent, allowed=", ".join(names[:20]))
        return names.index(parent)
    if not 0 <= parent < len(domain_tree.domains):
        raise InputError(
            "no domain of that number", where="attach", value=parent, allowed=f"0 to {len(domain_tree.domains) - 1}"
        )
    return int(parent)


def _free_name(kind: DomainTemplate, stem: str) -> str:
    number = len(kind.interfaces)
    while f"{stem}_{number}" in kind.interfaces:
        number += 1
    return f"{stem}_{number}"
