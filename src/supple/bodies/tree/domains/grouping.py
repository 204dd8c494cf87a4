"""Which domains of a level share the SIMD lanes of a group, so that lanes are full and little is padded.

Copies of one class fill groups of their own while at least half a group of them is left. The others of a level are
sorted by interfaces and coordinates and cut into groups where the sum of the groups' costs is least, by dynamic
programming; a group costs what its largest member in each does.

Domains that change their forces in a later pass share no group with those that take them anew (`changes_forces`): how
a domain moves does not depend on its company.

Threads share the groups without interfaces in pieces of about equal cost, and each of the others alone.
"""

from __future__ import annotations

import numpy as np

from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.model import TreeModel
from supple.modal.forces.force_change_kernels import FEW
from supple.modal.integrals import MassIntegrals

Array = np.ndarray
THIN = 0.2
"""Thickness over length below which a domain is thin: leaves, petals and panels have 0.05 to 0.11, twigs 0.04 to 0.13,
parts of a dragon's body 0.2 to 0.6."""
PIECES = 32
"""Of the groups without interfaces, at most."""
PAYS = 2e5
"""Cost of a tree from which threads pay: about 0.1 ms a pass."""


def group_cost(r: int, interfaces: int) -> float:
    """Operations of a step on a group with r coordinates and so many interfaces, roughly."""
    return r**3 / 4 + 25 * r**2 + 150 * r + 500 + interfaces * (3.5 * r**2 + 220 * r + 1200)


def changes_forces(model: TreeModel) -> Array:
    """Whether a later pass changes the forces of each domain, (domains,), or takes them anew; rigid ones have none.

    To change them is less exact, and pays from `FEW` coordinates on. Where most domains have fewer, as an oak with its
    leaves, it would save a hundredth of a step, and all forces are taken anew.
    """
    r = model.mode_counts
    most = np.count_nonzero(r >= FEW) >= np.count_nonzero((r > 0) & (r < FEW))
    return np.asarray(((r == 0) | (r >= FEW)) & most)


def thin_domains(model: TreeModel) -> Array:
    """Whether each domain is thin, as a leaf or a twig, and takes its forces anew in every pass, (domains,)."""
    thin = np.array([c.count > 0 and thickness(c.integrals) < THIN for c in model.classes])
    return np.asarray(thin[model.domain_class] & ~changes_forces(model))


def thickness(integrals: MassIntegrals) -> float:
    """Of a domain, over its length: root mean squares of places along the least and the largest principal axis."""
    P = integrals.P0 - np.outer(integrals.S0, integrals.S0) / integrals.mass
    least, _, largest = np.linalg.eigvalsh(P)
    return float(np.sqrt(max(least, 0.0) / largest)) if largest > 0.0 else 1.0


def make_groups(model: TreeModel) -> tuple[list[Array], Array]:
    """Domains of each group, at most LANES, level by level; and where levels begin, (levels + 1,)."""
    bears = np.zeros(model.domain_count, dtype=bool)
    bears[model.parent[1:]] = True
    interfaces = np.where(bears, np.array([len(c.interfaces) for c in model.classes])[model.domain_class], 0)
    changes = changes_forces(model)
    groups: list[Array] = []
    start = [0]
    for depth in range(int(model.levels.max()) + 1):
        here = np.flatnonzero(model.levels == depth)
        keys = 4 * model.domain_class[here] + 2 * changes[here] + bears[here]
        left: list[int] = []
        for key in np.unique(keys):
            copies = here[keys == key]
            whole = len(copies) - (len(copies) % LANES if len(copies) % LANES < LANES // 2 else 0)
            groups += [copies[k : min(k + LANES, whole)] for k in range(0, whole, LANES)]
            left += list(copies[whole:])
        groups += _cut(np.array(left, dtype=np.int64), model.mode_counts, interfaces, model.domain_class, changes)
        start.append(len(groups))
    return groups, np.array(start)


def make_pieces(r: Array, interfaces: Array) -> tuple[Array, Array, bool]:
    """Groups in the order in which pieces take them, first place of each piece, and whether threads pay.

    r, interfaces (groups,): coordinates and interfaces of each group. Groups with interfaces come first, each a piece
    of its own.
    """
    bearers, others = np.flatnonzero(interfaces > 0), np.flatnonzero(interfaces == 0)
    cost = np.array([group_cost(int(a), int(b)) for a, b in zip(r, interfaces)])
    before = np.concatenate([[0.0], np.cumsum(cost[others])])
    pieces = min(PIECES, len(others))
    cuts = np.unique(np.searchsorted(before, before[-1] * np.arange(pieces + 1) / pieces)) if pieces else np.zeros(1)
    starts = np.concatenate([np.arange(len(bearers)), len(bearers) + cuts]).astype(np.int64)
    return np.concatenate([bearers, others]), starts, bool(cost.sum() >= PAYS)


def _cut(domains: Array, r: Array, interfaces: Array, kinds: Array, changes: Array) -> list[Array]:
    """Groups of least cost of sorted domains."""
    order = domains[np.lexsort((domains, kinds[domains], -r[domains], -interfaces[domains], changes[domains]))]
    cost, begin = [0.0], [0]
    for stop in range(1, len(order) + 1):
        options = []
        for start in range(max(0, stop - LANES), stop):
            members = order[start:stop]
            if len(set(changes[members[r[members] > 0]].tolist())) > 1:
                continue
            options.append((cost[start] + group_cost(int(r[members].max()), int(interfaces[members].max())), start))
        best = min(options)
        cost.append(best[0])
        begin.append(best[1])
    out, stop = [], len(order)
    while stop:
        out.append(order[begin[stop] : stop])
        stop = begin[stop]
    return out[::-1]
