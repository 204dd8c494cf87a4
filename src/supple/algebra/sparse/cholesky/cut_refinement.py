"""`refine_cut`: a set of vertices that cuts a graph in two is made smaller by moves of single vertices [FM82].

A vertex of the cut moves to one side, and its neighbours on the other side join the cut. The move that leaves the
smallest cut is taken, even where the cut grows; no vertex moves twice in a pass, and a pass ends where its smallest cut
was. [FM82] moves cells between the two sides of an edge cut; the rule is the same.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled

CUT = 2
"""The side of vertices in the cut; the others are 0 and 1."""
NARROWEST = 0.25
"""Of a part: what either side of a cut must hold, if it can be had."""
PASSES, PATIENCE = 6, 60
"""Most passes, and moves without gain after which one ends."""


@compiled
def count_sides(starts, neighbours, part, number, vertices, side, near_out):
    """near_out[v]: neighbours of v on sides 0 and 1, within part `number`."""
    for v in vertices:
        near_out[v, 0] = near_out[v, 1] = 0
        for e in range(starts[v], starts[v + 1]):
            u = neighbours[e]
            if part[u] == number and side[u] < CUT:
                near_out[v, side[u]] += 1


@compiled
def change_side(starts, neighbours, part, number, v, to, side_out, near_out, sizes_out):
    """Put v on side `to`, and keep the counts true."""
    came = side_out[v]
    side_out[v] = to
    sizes_out[came] -= 1
    sizes_out[to] += 1
    for e in range(starts[v], starts[v + 1]):
        u = neighbours[e]
        if part[u] == number:
            if came < CUT:
                near_out[u, came] -= 1
            if to < CUT:
                near_out[u, to] += 1


@compiled
def choose_move(cut, cut_size, moved, near, sizes, total):
    """Place in `cut` of the vertex to move, and the side it goes to: the smallest cut after it. -1 where there is none.

    The neighbours on the other side join the cut.
    """
    best, to, least = -1, 0, np.inf
    narrow = min(NARROWEST * total, min(sizes[0], sizes[1]))
    for k in range(cut_size):
        v = cut[k]
        for a in range(2 if not moved[v] else 0):
            lost = near[v, 1 - a]
            gained, rest = sizes[a] + 1, sizes[1 - a] - lost
            if rest < narrow:
                continue
            cost = lost + abs(gained - rest) / (total + 1.0)
            if cost < least:
                best, to, least = k, a, cost
    return best, to


@compiled
def refine_cut(starts, neighbours, part, number, vertices, side, near, moved, cut, log):
    """Make the cut of part `number`, with these vertices, smaller: side is changed. The rest is workspace.

    near (n, 2), moved (n,), cut (n,), log (more than vertices, 2).
    """
    sizes, total = np.zeros(3, dtype=np.int64), vertices.size
    count_sides(starts, neighbours, part, number, vertices, side, near)
    for v in vertices:
        sizes[side[v]] += 1
    for _ in range(PASSES):
        cut_size = 0
        for v in vertices:
            moved[v] = False
            if side[v] == CUT:
                cut[cut_size] = v
                cut_size += 1
        smallest, balance, logged, kept, since = sizes[CUT], abs(sizes[0] - sizes[1]), 0, 0, 0
        while since < PATIENCE and logged + total < log.shape[0]:
            k, to = choose_move(cut, cut_size, moved, near, sizes, total)
            if k < 0:
                break
            v = cut[k]
            cut_size -= 1
            cut[k] = cut[cut_size]
            moved[v] = True
            log[logged, 0], log[logged, 1] = v, CUT
            logged += 1
            change_side(starts, neighbours, part, number, v, to, side, near, sizes)
            for e in range(starts[v], starts[v + 1]):
                u = neighbours[e]
                if part[u] == number and side[u] == 1 - to:
                    log[logged, 0], log[logged, 1] = u, 1 - to
                    logged += 1
                    change_side(starts, neighbours, part, number, u, CUT, side, near, sizes)
                    cut[cut_size] = u
                    cut_size += 1
            since += 1
            uneven = abs(sizes[0] - sizes[1])
            if sizes[CUT] < smallest or (sizes[CUT] == smallest and uneven < balance):
                since = 0 if sizes[CUT] < smallest else since
                smallest, balance, kept = sizes[CUT], uneven, logged
        for k in range(logged - 1, kept - 1, -1):
            change_side(starts, neighbours, part, number, log[k, 0], log[k, 1], side, near, sizes)
        if kept == 0:
            break
