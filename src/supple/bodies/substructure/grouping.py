"""Which domains of a level share the SIMD lanes of a group, so that lanes are full and little is padded.

Copies of one class fill groups of their own while at least half a group of them is left. The others of a level are
sorted by ports and coordinates and cut into groups where the sum of the groups' costs is least, by dynamic programming;
a group costs what its largest member in each does.

For threads the groups of a level lie in pieces of about equal cost, the costly pieces by turns at the front and at the
back, so that threads that take neighbouring pieces get equal shares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.algebra.lanes import LANES
from supple.bodies.substructure.model import SubstructureModel

Array = np.ndarray
PIECES = 8
"""Of a level that threads share, at most."""
PAYS = 2e5
"""Cost of a level from which threads pay: about 0.1 ms a pass."""


class Levels(NamedTuple):
    """start (levels + 1): first group of each; piece (levels + 1): first piece; pays (levels): whether threads do.

    piece_start (pieces + 1): first group of each piece.
    """

    start: Array
    piece: Array
    pays: Array
    piece_start: Array


def group_cost(r: int, ports: int) -> float:
    """Operations of a step on a group with r coordinates and so many ports, roughly."""
    return r**3 / 4 + 25 * r**2 + 150 * r + 500 + ports * (3.5 * r**2 + 220 * r + 1200)


def make_groups(model: SubstructureModel) -> tuple[list[Array], Levels]:
    """Domains of each group, at most LANES, level by level; and where levels and pieces begin."""
    bears = np.zeros(model.domain_count, dtype=bool)
    bears[model.parent[1:]] = True
    ports = np.where(bears, np.array([len(c.ports) for c in model.classes])[model.domain_class], 0)
    groups: list[Array] = []
    start, piece, pays, piece_start = [0], [0], [], [0]
    for depth in range(int(model.levels.max()) + 1):
        here = np.flatnonzero(model.levels == depth)
        keys = 2 * model.domain_class[here] + bears[here]
        found: list[Array] = []
        left: list[int] = []
        for key in np.unique(keys):
            copies = here[keys == key]
            whole = len(copies) - (len(copies) % LANES if len(copies) % LANES < LANES // 2 else 0)
            found += [copies[k : min(k + LANES, whole)] for k in range(0, whole, LANES)]
            left += list(copies[whole:])
        found += _cut(np.array(left, dtype=np.int64), model.mode_counts, ports, model.domain_class)
        cost = [group_cost(int(model.mode_counts[g].max()), int(ports[g].max())) for g in found]
        for members in _pieces(cost):
            groups += [found[k] for k in members]
            piece_start.append(len(groups))
        start.append(len(groups))
        piece.append(len(piece_start) - 1)
        pays.append(sum(cost) >= PAYS and len(found) > 1)
    return groups, Levels(np.array(start), np.array(piece), np.array(pays), np.array(piece_start))


def _pieces(cost: list[float]) -> list[list[int]]:
    """Groups of each piece: the next costliest goes to the cheapest piece."""
    if sum(cost) < PAYS:
        return [list(range(len(cost)))]
    pieces: list[list[int]] = [[] for _ in range(min(PIECES, len(cost)))]
    filled = [0.0] * len(pieces)
    for k in sorted(range(len(cost)), key=lambda k: (-cost[k], k)):
        at = filled.index(min(filled))
        pieces[at].append(k)
        filled[at] += cost[k]
    return [sorted(p) for p in turns(filled, pieces)]


def turns(cost: list[float], parts: list[Any]) -> list[Any]:
    """Parts in an order whose halves cost about the same: the costliest by turns at the front and at the back."""
    order = [parts[k] for k in sorted(range(len(parts)), key=lambda k: (-cost[k], k))]
    return order[::2] + order[1::2][::-1]


def _cut(domains: Array, r: Array, ports: Array, kinds: Array) -> list[Array]:
    """Groups of least cost of sorted domains."""
    order = domains[np.lexsort((domains, kinds[domains], -r[domains], -ports[domains]))]
    cost, begin = [0.0], [0]
    for stop in range(1, len(order) + 1):
        options = []
        for start in range(max(0, stop - LANES), stop):
            members = order[start:stop]
            options.append((cost[start] + group_cost(int(r[members].max()), int(ports[members].max())), start))
        best = min(options)
        cost.append(best[0])
        begin.append(best[1])
    out, stop = [], len(order)
    while stop:
        out.append(order[begin[stop] : stop])
        stop = begin[stop]
    return out[::-1]
