"""Changes of a running tree that keep its shape: other frequencies, other masses, another kind in a domain's place.

    frequencies times c    f_int times c²                    masses times d    all mass integrals times d

None of these needs a precomputation: factors act on what a class holds already, and a class that is there already, or
comes from the cache, takes the place of another. Coordinates of a replaced domain start from zero, or from the
displacements of the old one projected onto the new basis, by least squares over the new nodes' masses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.bodies.tree.detach import domain_number
from supple.bodies.tree.domains.domain_tree import DomainTemplate, DomainTree
from supple.bodies.tree.dynamics import TreeDynamics, TreeState
from supple.bodies.tree.kinematics import TreeKinematics
from supple.bodies.tree.model import ReducedTemplate, reduce_kind, tell_losses
from supple.errors import InputError, check_number
from supple.geometry import embed
from supple.modal import ElasticSolid, Interface, InterfaceFit

Array = np.ndarray


def retuned(
    tree: TreeDynamics,
    *,
    frequency_factor: ArrayLike | None = None,
    density_factor: ArrayLike | None = None,
) -> TreeDynamics:
    """The tree with other factors, one number or one a domain; None: as they are. States of the old tree fit it.

    >>> from supple.bodies.tree import LinearizedTree, TreeModel
    >>> from supple.validation.tree.coupling import beam_domain_tree
    >>> tree = TreeDynamics(TreeModel.of(beam_domain_tree(2, 6)))
    >>> slow = retuned(tree, frequency_factor=0.5)
    >>> (LinearizedTree.of(slow).frequencies(1) / LinearizedTree.of(tree).frequencies(1)).round(6).tolist()
    [0.5]
    """
    model = tree.model
    tuning = _factors(model.tuning, frequency_factor, "frequency_factor")
    density = _factors(model.density, density_factor, "density_factor")
    whole = model.domain_tree
    domains = [
        replace(d, frequency_factor=float(c), density_factor=float(m))
        for d, c, m in zip(whole.domains, tuning, density)
    ]
    changed = replace(model, domain_tree=replace(whole, domains=domains), tuning=tuning, density=density)
    out = replace(tree, model=changed)
    lane, old = tree.arrays.lane_domain, tree.arrays  # everything else in the arrays stays
    dense = np.where(lane >= 0, density[lane], 1.0)
    out.__dict__["arrays"] = old._replace(
        tuning=np.where(lane >= 0, tuning[lane] ** 2, 1.0),
        density=dense,
        total_mass=old.total_mass * (dense / old.density),
    )
    return out


def _factors(old: Array, given: ArrayLike | None, name: str) -> Array:
    if given is None:
        return old.copy()
    array = np.asarray(given, dtype=float)
    if array.shape not in ((), old.shape) or not (np.isfinite(array).all() and (array > 0).all()):
        raise InputError(f"{name} is not one positive number, or one a domain", value=array, allowed=f"({len(old)},)")
    return np.array(np.broadcast_to(array, old.shape))


def replaced(
    tree: TreeDynamics, state: TreeState, domain: int | str, kind: str | DomainTemplate, *, project: bool = True
) -> tuple[TreeDynamics, TreeState]:
    """The tree with another kind in the place of a domain, and its state, without accelerations.

    kind: a name the tree knows, or a kind, which is reduced or taken from the cache; it needs an interface of the same
    name for each child. project: start from the old displacements as the new basis can show them; else from zero.

    >>> from supple.bodies.tree import TreeModel
    >>> from supple.validation.tree.coupling import beam_domain_tree
    >>> tree = TreeDynamics(TreeModel.of(beam_domain_tree(3, 6)))
    >>> stiff = replace(tree.model.domain_tree.kinds["part"], name="rigid", modes=0)
    >>> other, state = replaced(tree, tree.state(), 1, stiff)
    >>> other.model.coordinate_count
    12
    """
    model, number = tree.model, domain_number(tree.model, domain)
    kinds = dict(model.domain_tree.kinds)
    if isinstance(kind, DomainTemplate):
        if kinds.get(kind.name, kind) is not kind:
            raise InputError("another kind of the tree has that name", where="replaced", value=kind.name)
        kinds[kind.name] = kind
        name = kind.name
    else:
        name = kind
    if name not in kinds:
        raise InputError("no kind of that name", where="replaced", value=name, allowed=", ".join(kinds))
    if number and not len(kinds[name].held):
        raise InputError("a domain needs nodes to hang by", where="replaced", value=name, fix="Give the kind `held`.")
    children = [k for k in range(model.domain_count) if model.parent[k] == number]
    domains = list(model.domain_tree.domains)
    domains[number] = replace(domains[number], kind=name)
    welds = model.domain_tree.welds  # the new mesh has other nodes
    welds = welds if name == model.domain_tree.domains[number].kind else welds[welds[:, 1] != number]
    joined = [pair for pair in model.domain_tree.joined if pair[0] != number]
    domain_tree = DomainTree(kinds, domains, welds, model.is_free, joined)
    classes, index = list(model.classes), {c.name: k for k, c in enumerate(model.classes)}
    needed = tuple(dict.fromkeys(domains[k].interface for k in children))
    old = classes[model.domain_class[number]]
    if name in index:
        classes[index[name]] = _with_interfaces(classes[index[name]], kinds[name], needed)
    else:
        index[name] = len(classes)
        new = reduce_kind(kinds[name], (), (), False, old.stretches, None, True)
        tell_losses([new])
        classes.append(_with_interfaces(new, kinds[name], needed))
    new = classes[index[name]]
    domain_class, parent_interface = model.domain_class.copy(), model.parent_interface.copy()
    domain_class[number] = index[name]
    for k in children:
        parent_interface[k] = new.interfaces.index(domains[k].interface)
    made = replace(
        model,
        domain_tree=domain_tree,
        classes=tuple(classes),
        domain_class=domain_class,
        parent_interface=parent_interface,
    )
    first, last = model.q_starts[number], model.q_starts[number + 1]
    show = _projection(old, new, kinds[model.domain_tree.domains[number].kind], kinds[name]) if project else None
    out = state.copy()
    for label in ("q", "v"):
        values = getattr(state, label)
        own = np.zeros(new.count) if show is None else show @ values[first:last]
        setattr(out, label, np.concatenate([values[:first], own, values[last:]]))
    out.a, out.acceleration = np.zeros(made.coordinate_count), np.zeros(6)
    return replace(tree, model=made), out


def recast(tree: TreeDynamics, state: TreeState, values: dict[str, Any], where: str) -> tuple[TreeDynamics, TreeState]:
    """The tree with another kind of a domain, by plain values: domain, with kind or modes. A tree that flies keeps its
    momentum."""
    if others := [name for name in values if name not in ("domain", "kind", "modes")]:
        raise InputError("this cannot be changed", where=where, value=others[0], allowed="domain with kind or modes")
    if ("kind" in values) == ("modes" in values):
        raise InputError("a domain changes its kind or its modes", where=where, fix="Give one of them.")
    given = values["domain"]
    number = domain_number(tree.model, given if isinstance(given, str) else int(given))
    kinds, now = tree.model.domain_tree.kinds, tree.model.domain_tree.domains[number].kind
    kind: Any = values.get("kind")
    if kind is None:
        count = check_number(values["modes"], name="modes", where=where, least=0)
        if count != int(count):
            raise InputError("modes is not a whole number", where=where, value=count, allowed=">= 0")
        name = f"{int(count)} modes of {_root(now)}"
        kind = kinds.get(name) or replace(kinds[now], name=name, modes=int(count))
    other = kind if isinstance(kind, DomainTemplate) else kinds.get(kind)
    if other is not None and not np.array_equal(other.mesh.nodes, kinds[now].mesh.nodes):
        raise InputError(
            "a domain of another mesh has other points", where=where, value=other.name,
            fix="Change it between two runs: supple.bodies.tree.changes.replaced.",
        )  # fmt: skip
    out, after = replaced(tree, state, number, kind)
    if tree.model.is_free:
        _keep_momentum(tree, state, out, after)
    return out, after


def _root(name: str) -> str:
    """The name of the kind that one with other modes was made of."""
    return name.split(" modes of ")[-1]


def _keep_momentum(tree: TreeDynamics, state: TreeState, other: TreeDynamics, after: TreeState) -> None:
    """Give the root of a tree that flies the motion with which momentum is what it was."""

    def momentum(of: TreeDynamics, at: TreeState, velocity: Array) -> Array:
        return TreeKinematics(of.model).motion(at.q, at.v, at.frame, velocity).measures().momentum

    now = momentum(other, after, after.velocity)
    columns = [momentum(other, after, after.velocity + e) - now for e in np.eye(6)]
    after.velocity = after.velocity + np.linalg.solve(np.array(columns).T, momentum(tree, state, state.velocity) - now)


def _with_interfaces(given: ReducedTemplate, kind: DomainTemplate, needed: tuple[str, ...]) -> ReducedTemplate:
    """The class with fits for more interfaces, after those it has."""
    missing = [name for name in needed if name not in given.interfaces]
    unknown = [name for name in missing if name not in kind.interfaces]
    if unknown:
        raise InputError(
            "the kind has no interface for a child", where=f"kind '{kind.name}'", value=unknown[0],
            allowed=", ".join(kind.interfaces) or "none",
        )  # fmt: skip
    fits = tuple(interface_fit(given, kind, name) for name in missing)
    return replace(given, interfaces=(*given.interfaces, *missing), fits=(*given.fits, *fits)) if missing else given


def interface_fit(given: ReducedTemplate, kind: DomainTemplate, name: str) -> InterfaceFit:
    """The fit of an interface in the class's basis, whether children hang there or not."""
    if name in given.interfaces:
        return given.fits[given.interfaces.index(name)]
    if name not in kind.interfaces:
        raise InputError(
            "no interface of that name",
            where=f"kind '{kind.name}'",
            value=name,
            allowed=", ".join(kind.interfaces) or "none",
        )
    interface = kind.interfaces[name]
    face = Interface(
        given.nodes, interface.nodes, weights=interface.weights, rest_rotation=rotations.to_matrix(interface.rotation)
    )
    return face.fit(given.U)


def _projection(
    old: ReducedTemplate, new: ReducedTemplate, old_kind: DomainTemplate, new_kind: DomainTemplate
) -> Array:
    """The matrix (r_new, r_old) from old coordinates to new ones."""
    if not old.count or not new.count:
        return np.zeros((new.count, old.count))
    modes: Any = old.U.reshape(len(old.nodes), 3, old.count)
    if old.nodes.shape != new.nodes.shape or not np.array_equal(old.nodes, new.nodes):
        found = embed(new.nodes, old_kind.mesh)
        modes = np.einsum("pk,pkil->pil", found.weights, modes[found.nodes])
    m = np.repeat(ElasticSolid(new_kind.mesh, new_kind.material).lumped_mass, 3)[:, None]
    return np.linalg.solve(new.U.T @ (m * new.U), new.U.T @ (m * modes.reshape(-1, old.count)))
