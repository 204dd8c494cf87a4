"""Breaking a tree in two while it runs: a domain with all below it becomes a tree of its own that flies freely.

    frame, velocity of the new root  =  those of the interface it hung on;      all q, q' stay as they are

So every point goes on with its position and velocity, and energy and momentum of the parts add up to those of the
whole. The basis of the new root holds its old interface, which is valid kinematics for a frame that flies: its q then
couples with the frame's acceleration from the start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.tree.domains.domain_tree import DomainTree
from supple.bodies.tree.dynamics import TreeDynamics, TreeState
from supple.bodies.tree.kinematics import TreeKinematics
from supple.bodies.tree.model import TreeModel
from supple.errors import InputError

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class TreePart:
    """A part of a tree. domains (d,): their numbers in the whole; coordinates (n,): where its q lay there."""

    model: TreeModel
    domains: Array
    coordinates: Array


@dataclass(frozen=True, eq=False)
class BrokenTree:
    """What a break leaves: the rest, and the branch as a tree with a free root; states without accelerations."""

    rest: TreeDynamics
    rest_state: TreeState
    branch: TreeDynamics
    branch_state: TreeState


def subtree(model: TreeModel, domain: int) -> Array:
    """Numbers of a domain and of all below it, ascending."""
    inside = np.zeros(model.domain_count, dtype=bool)
    inside[domain] = True
    for k in range(domain + 1, model.domain_count):
        inside[k] = inside[model.parent[k]]
    return np.flatnonzero(inside)


def domain_number(model: TreeModel, domain: int | str) -> int:
    """The number of a domain given by number or name."""
    domains = model.domain_tree.domains
    if isinstance(domain, str):
        found = [k for k, d in enumerate(domains) if d.name == domain]
        if len(found) != 1:
            raise InputError(f"{len(found)} domains have that name", where="tree", value=domain, allowed="one")
        return found[0]
    if not 0 <= domain < len(domains):
        raise InputError("no domain of that number", where="tree", value=domain, allowed=f"0..{len(domains) - 1}")
    return int(domain)


def split(model: TreeModel, domain: int | str) -> tuple[TreePart, TreePart]:
    """The rest of a model, and the branch that begins with `domain`."""
    number = domain_number(model, domain)
    if number == 0:
        raise InputError("the root hangs on nothing it could break off from", where="detach", value=domain)
    branch = subtree(model, number)
    rest = np.setdiff1d(np.arange(model.domain_count), branch)
    return _part(model, rest, model.is_free), _part(model, branch, True)


def _part(model: TreeModel, numbers: Array, free: bool) -> TreePart:
    """Domains that hang together, the first of them the root."""
    whole, new = model.domain_tree, np.full(model.domain_count, -1)
    new[numbers] = np.arange(len(numbers))
    domains = [replace(whole.domains[k], parent=int(new[model.parent[k]])) for k in numbers]
    domains[0] = replace(domains[0], parent=-1, interface="")
    welds = whole.welds[new[whole.welds[:, 1]] >= 0]
    welds = np.stack([welds[:, 0], new[welds[:, 1]], welds[:, 2]], axis=1)
    used, classes = np.unique(model.domain_class[numbers], return_inverse=True)
    kinds = {name: whole.kinds[name] for name in dict.fromkeys(d.kind for d in domains)}
    parent = new[model.parent[numbers]]
    parent_interface = model.parent_interface[numbers].copy()
    parent[0] = parent_interface[0] = -1
    made = TreeModel(
        DomainTree(
            kinds, domains, welds, free, [(int(new[k]), interface) for k, interface in whole.joined if new[k] >= 0]
        ),
        tuple(model.classes[k] for k in used),
        classes,
        parent,
        parent_interface,
        model.scale[numbers],
        model.tuning[numbers],
        model.density[numbers],
        is_free=free,
    )
    owner = np.repeat(np.arange(model.domain_count), model.mode_counts)
    return TreePart(made, numbers, np.flatnonzero(new[owner] >= 0))


def detach(tree: TreeDynamics, state: TreeState, domain: int | str) -> BrokenTree:
    """Break a domain, with all below it, off its parent.

    >>> from supple.validation.tree.coupling import beam_domain_tree
    >>> tree = TreeDynamics(TreeModel.of(beam_domain_tree(4, 6)))
    >>> parts = detach(tree, tree.state(), 3)
    >>> parts.rest.model.domain_count, parts.branch.model.is_free, float(parts.branch_state.frame[0].round(6))
    (3, True, 1.2)
    """
    rest, branch = split(tree.model, domain)
    motion = TreeKinematics(tree.model).motion(state.q, state.v, state.frame, state.velocity)
    first = branch.domains[0]
    flying = _state_of(state, branch)
    flying.frame[:3], flying.frame[3:] = motion.o[first], rotations.from_matrix(motion.R[first])
    flying.velocity[:3], flying.velocity[3:] = motion.u[first], motion.w[first]
    return BrokenTree(_tree_of(tree, rest), _state_of(state, rest), _tree_of(tree, branch), flying)


def _tree_of(tree: TreeDynamics, part: TreePart) -> TreeDynamics:
    damping = {name: np.asarray(getattr(tree, name))[part.domains] for name in ("mass_damping", "stiffness_damping")}
    return replace(tree, model=part.model, **damping)


def _state_of(state: TreeState, part: TreePart) -> TreeState:
    out = state.copy()
    out.q, out.v = state.q[part.coordinates], state.v[part.coordinates]
    out.a, out.acceleration = np.zeros(len(part.coordinates)), np.zeros(6)
    return out
