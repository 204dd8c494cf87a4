"""A whole tree by brute force: positions of all nodes from the definitions, and the Lagrangian's accelerations.

    L = 1/2 x'^T m x' - V,   x(q): all nodes      =>      J^T m (J q" + J' q') = Q - dV/dq

J and J' q' are differences of positions; m: consistent nodal masses. A fitted frame is the best rotation of the
interface's deformed nodes, by a singular value decomposition. Nothing of the fast kernels is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

from supple.algebra.dense import rotations
from supple.bodies.tree import Domain, DomainInterface, DomainTemplate, DomainTree, TreeModel
from supple.geometry import HexMesh, TetMesh, box_tets
from supple.material import Material
from supple.modal import ElasticSolid

Array = np.ndarray
RUBBER = Material(2e6, 0.35, 1000)


def block_mesh(size: tuple[float, float, float], cells: tuple[int, int, int]) -> TetMesh:
    """A block of tets whose face at x = 0 is centred on the origin."""
    mesh = box_tets(size=size, cells=cells)
    low, high = mesh.nodes.min(axis=0), mesh.nodes.max(axis=0)
    shift = np.array([low[0], *(low + high)[1:] / 2])
    return TetMesh(mesh.nodes - shift, mesh.tets)


def face(mesh: TetMesh | HexMesh, x: float) -> Array:
    """Nodes of the plane at x."""
    return mesh.node_region(lambda nodes: np.abs(nodes[:, 0] - x) < 1e-9)


def mixed_kind(name: str, modes: int, *, free: bool = False, seed: int = 0) -> DomainTemplate:
    """A block with an interface on its tip and one on its top, turned in different ways."""
    rng = np.random.default_rng(seed)
    length = 0.3 + 0.1 * rng.uniform()
    mesh = block_mesh((length, 0.12, 0.1), (3, 1, 1))
    tip, top = face(mesh, length), np.flatnonzero((mesh.nodes[:, 2] > 0.04) & (mesh.nodes[:, 0] > 0.01))
    interfaces = {
        "tip": DomainInterface(tip, rng.uniform(0.5, 1.5, len(tip)), rotations.exp(0.5 * rng.normal(size=3))),
        "top": DomainInterface(top, np.ones(len(top)), rotations.exp(0.5 * rng.normal(size=3))),
    }
    held = np.zeros(0, dtype=np.int64) if free else face(mesh, 0.0)
    return DomainTemplate(name, mesh, RUBBER, modes, held, interfaces)


def mixed_domain_tree(*, free: bool, chain: bool) -> DomainTree:
    """Five domains of 3, 1, 2, 0 and 2 coordinates, in a chain or branching, with scaled copies."""
    kinds = {f"k{k}": mixed_kind(f"k{k}", r, free=free and k == 0, seed=k) for k, r in enumerate((3, 1, 2, 0, 2))}
    parents = (-1, 0, 1, 2, 3) if chain else (-1, 0, 0, 2, 3)
    interfaces = ("", "tip", "top", "tip", "top")
    scales = (1.0, 0.8, 1.3, 1.1, 0.7)
    domains = [Domain(f"k{k}", parents[k], interfaces[k], scales[k]) for k in range(5)]
    return DomainTree(kinds, domains)


def best_frame(x: Array, X: Array, weights: Array, rest: Array) -> tuple[Array, Array]:
    """Centre and rotation of interface nodes x (k, 3) that were at X, times the rotation at rest."""
    w = weights / weights.sum()
    centre, old = w @ x, w @ X
    U, _, Vt = np.linalg.svd((w[:, None] * (x - centre)).T @ (X - old) @ _pseudo_inverse(X - old, w) @ rest)
    return centre, U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt


def _pseudo_inverse(d: Array, w: Array) -> Array:
    return np.linalg.pinv((w[:, None] * d).T @ d, rcond=1e-3, hermitian=True)


def whole_positions(model: TreeModel, q: Array, frame: Array) -> list[Array]:
    """World positions of the nodes of all domains, for coordinates q (n,) and the root's frame (7,)."""
    domain_tree = model.domain_tree
    out: list[Array] = []
    frames: list[tuple[Array, Array]] = []
    for k, domain in enumerate(domain_tree.domains):
        kind = domain_tree.kinds[domain.kind]
        U = model.classes[model.domain_class[k]].U
        own = q[model.q_starts[k] : model.q_starts[k + 1]]
        local = domain.scale * (kind.mesh.nodes + (U @ own).reshape(-1, 3))
        if k == 0:
            origin, R = frame[:3], rotations.to_matrix(frame[3:])
        else:
            above = domain.parent
            interface = domain_tree.kinds[domain_tree.domains[above].kind].interfaces[domain.interface]
            X = domain_tree.kinds[domain_tree.domains[above].kind].mesh.nodes[interface.nodes]
            o, T = frames[above]
            rest = rotations.to_matrix(interface.rotation)
            deformed = (out[above][interface.nodes] - o) @ T
            centre, turn = best_frame(deformed, X, interface.weights, rest)
            origin, R = o + T @ centre, T @ turn
        frames.append((origin, R))
        out.append(origin + local @ R.T)
    return out


def whole_mass(model: TreeModel) -> Any:
    """m ⊗ I of the nodes of all domains, sparse."""
    domain_tree, parts = model.domain_tree, []
    for domain in domain_tree.domains:
        kind = domain_tree.kinds[domain.kind]
        parts.append(ElasticSolid(kind.mesh, kind.material).node_mass * (domain.scale**3 * domain.density_factor))
    return sparse.kron(sparse.block_diag(parts), sparse.eye_array(3), format="csr")


def moved_frame(frame: Array, d: Array) -> Array:
    """The frame after a move d (6,): linear in world axes, angular in its own."""
    return np.concatenate([frame[:3] + d[:3], rotations.rotation_update(frame[3:][None], d[None, 3:])[0]])


def lagrangian_accelerations(
    model: TreeModel, q: Array, v: Array, frame: Array, velocity: Array, forces: Array, world_forces: Array
) -> Array:
    """q" and, for a free root, its acceleration (6,) appended; world_forces: on all nodes, flat [N]."""
    n = len(q)
    free = 6 if model.is_free else 0
    m = whole_mass(model)

    def at(d: Array) -> Array:
        return np.concatenate(whole_positions(model, q + d[:n], moved_frame(frame, d[n:]))).ravel()

    h = 1e-3
    J = np.empty((m.shape[0], n + free))
    for k in range(n + free):
        e = np.zeros(n + 6)
        e[k] = h
        J[:, k] = (8 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / (12 * h)
    rate, t = np.concatenate([v, velocity]), 1e-3
    near, far = at(t * rate) + at(-t * rate), at(2 * t * rate) + at(-2 * t * rate)
    curved = (16 * near - far - 30 * at(0 * rate)) / (12 * t * t)
    elastic = np.zeros(n)
    for k in range(model.domain_count):
        force, s, c = model.classes[model.domain_class[k]].force, model.scale[k], model.tuning[k]
        own = slice(model.q_starts[k], model.q_starts[k + 1])
        if force is not None:
            elastic[own] = c * c * s**3 * force.evaluate(q[own])[0]
    given = np.concatenate([forces - elastic, np.zeros(free)]) + J.T @ (world_forces - m @ curved)
    return np.linalg.solve(J.T @ (m @ J), given)
