"""`nested_dissection`: an order of unknowns in which a sparse symmetric matrix fills little when it is factored.

The graph is cut into two halves by a small set of vertices, which come last, and so are the halves, again and again
[Geo73]. A cut begins as a level of the distance from a vertex at the rim of the part [GL78], near the middle and small,
and `cut_refinement` makes it smaller.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.sparse.cholesky.cut_refinement import CUT, NARROWEST, refine_cut

Array = np.ndarray
LEAF = 12
"""Parts of so many vertices are not cut."""


def nested_dissection(starts: Array, neighbours: Array) -> Array:
    """The order (n,) of a symmetric graph, as of a csr matrix: neighbours[starts[v] : starts[v + 1]] are those of v.

    Vertices come first that are eliminated first.

    >>> line = np.clip(np.add.outer(np.arange(1000), [-1, 1]), 0, 999)
    >>> len(nested_dissection(np.arange(0, 2001, 2), line.ravel()))
    1000
    """
    order = np.empty(len(starts) - 1, dtype=np.int64)
    dissect(starts.astype(np.int64), neighbours.astype(np.int64), LEAF, order)
    return order


@compiled
def find_levels(starts, neighbours, part, number, first, queue_out, level_out):
    """Distances from `first` within vertices of part `number`; returns how many were reached, in queue_out."""
    queue_out[0], level_out[first], head, tail = first, 0, 0, 1
    part[first] = -number - 2  # reached
    while head < tail:
        v = queue_out[head]
        head += 1
        for k in range(starts[v], starts[v + 1]):
            u = neighbours[k]
            if part[u] == number:
                part[u] = -number - 2
                level_out[u] = level_out[v] + 1
                queue_out[tail] = u
                tail += 1
    for k in range(tail):
        part[queue_out[k]] = number
    return tail


@compiled
def choose_level(queue, level, count, counts):
    """The level to cut at: few vertices, both sides large. -1 where there is none between others."""
    top = level[queue[count - 1]]
    for l in range(top + 1):
        counts[l] = 0
    for k in range(count):
        counts[level[queue[k]]] += 1
    best, least, below = -1, np.inf, counts[0]
    for l in range(1, top):
        above = count - below - counts[l]
        side = min(below, above) / count
        cost = counts[l] * (1.0 if side >= NARROWEST else NARROWEST / side)
        if cost < least:
            best, least = l, cost
        below += counts[l]
    return best


@compiled
def split_part(todo, a, b, part, side, number, workspace):
    """Sort todo[a:b] into new parts number, side 0, and number + 1, side 1, without those placed; their ends."""
    near, kept = a, 0
    for k in range(a, b):
        v = todo[k]
        if part[v] == -1:
            continue
        if side[v] == 0:
            part[v] = number
            todo[near] = v
            near += 1
        else:
            part[v] = number + 1
            workspace[kept] = v
            kept += 1
    for k in range(kept):
        todo[near + k] = workspace[k]
    return near, near + kept


@compiled
def dissect(starts, neighbours, leaf, order_out):
    """Fill the order from its end, part by part."""
    n = len(starts) - 1
    part, level, side = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)  # part -1: placed
    queue, counts = np.empty(n, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    near, moved, cut, log = (
        np.empty((n, 2), np.int64),
        np.empty(n, np.bool_),
        np.empty(n, np.int64),
        np.empty((4 * n + 16, 2), np.int64),
    )
    todo = np.arange(n)  # those of a part side by side
    first, last = [np.int64(0)], [np.int64(n)]
    stack = [np.int64(0)]
    placed = 0
    while len(stack):
        number = stack.pop()
        a, b = first[number], last[number]
        size, middle = b - a, -1
        if size == 0:
            continue
        reached = find_levels(starts, neighbours, part, number, todo[a], queue, level)
        if reached < size:  # not connected: what was reached, and the rest
            for k in range(a, b):
                side[todo[k]] = 1
            for k in range(reached):
                side[queue[k]] = 0
        else:
            if size > leaf:
                for _ in range(2):
                    find_levels(starts, neighbours, part, number, queue[size - 1], queue, level)
                middle = choose_level(queue, level, size, counts)
            for k in range(size):
                v = queue[k]
                side[v] = CUT if level[v] == middle or middle < 0 else np.int64(level[v] > middle)
            if middle >= 0:
                refine_cut(starts, neighbours, part, number, todo[a:b], side, near, moved, cut, log)
            for k in range(size):
                v = queue[k]
                if side[v] == CUT:
                    part[v] = -1
                    placed += 1
                    order_out[n - placed] = v
            if middle < 0:
                continue
        near_end, far_end = split_part(todo, a, b, part, side, len(first), queue)
        for bounds in ((a, near_end), (near_end, far_end)):
            stack.append(np.int64(len(first)))
            first.append(np.int64(bounds[0]))
            last.append(np.int64(bounds[1]))
