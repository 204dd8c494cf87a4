"""`nested_dissection`: an order of unknowns in which a sparse symmetric matrix fills little when it is factored.

The graph is cut into two halves by a small set of vertices, which come last, and so are the halves, again and again
[Geo73]. A cut is a level of the distance from a vertex at the rim of the part [GL78]: near the middle, and small.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling import compiled

Array = np.ndarray
LEAF = 180
"""Parts of so many unknowns are not cut."""
NARROWEST = 0.25
"""Of a part: what either side of a cut must hold, if it can be had."""


class Dissection(NamedTuple):
    """order (n,): unknowns, those first that are eliminated first. start (parts + 1,): where the parts begin in it.

    parent (parts,): the part, a later one, that separates a part from the rest; -1 for the last of a component.
    """

    order: Array
    start: Array
    parent: Array


def nested_dissection(starts: Array, neighbours: Array) -> Dissection:
    """The order of a symmetric graph, as of a csr matrix: neighbours of v are neighbours[starts[v] : starts[v + 1]].

    >>> line = np.clip(np.add.outer(np.arange(1000), [-1, 1]), 0, 999)
    >>> found = nested_dissection(np.arange(0, 2001, 2), line.ravel())
    >>> len(found.order), len(found.start) > 5
    (1000, True)
    """
    n = len(starts) - 1
    order, end, parent = (np.empty(n + 1, dtype=np.int64) for _ in range(3))
    count = dissect(starts.astype(np.int64), neighbours.astype(np.int64), LEAF, order[:n], end, parent)
    above = parent[:count][::-1]  # the parts were found last first
    return Dissection(order[:n], n - end[: count + 1][::-1], np.where(above < 0, -1, count - 1 - above))


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
def split_part(todo, a, b, part, level, cut, number, room):
    """Sort todo[a:b] into new parts number, up to level `cut`, and number + 1, without those placed; their ends."""
    near, kept = a, 0
    for k in range(a, b):
        v = todo[k]
        if part[v] == -1:
            continue
        if level[v] <= cut:
            part[v] = number
            todo[near] = v
            near += 1
        else:
            part[v] = number + 1
            room[kept] = v
            kept += 1
    for k in range(kept):
        todo[near + k] = room[k]
    return near, near + kept


@compiled
def dissect(starts, neighbours, leaf, order_out, end_out, parent_out):
    """Fill the order from its end, part by part; end_out: how much is filled before each. Returns their number."""
    n = len(starts) - 1
    part, level = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)  # part -1: placed
    queue, counts = np.empty(n, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    todo = np.arange(n)  # those of a part side by side
    first, last, above = [np.int64(0)], [np.int64(n)], [np.int64(-1)]
    stack = [np.int64(0)]
    placed, parts = 0, 0
    end_out[0] = 0
    while len(stack):
        number = stack.pop()
        a, b = first[number], last[number]
        size, cut, separator = b - a, -1, above[number]
        if size == 0:
            continue
        reached = find_levels(starts, neighbours, part, number, todo[a], queue, level)
        if reached < size:  # not connected: what was reached, and the rest
            cut = 0
            for k in range(a, b):
                level[todo[k]] = 1
            for k in range(reached):
                level[queue[k]] = 0
        else:
            if size > leaf:
                for _ in range(2):
                    find_levels(starts, neighbours, part, number, queue[size - 1], queue, level)
                cut = choose_level(queue, level, size, counts)
            for k in range(size):
                v, belongs = queue[k], cut < 0
                if level[v] == cut:  # only those that touch the far side are needed
                    for e in range(starts[v], starts[v + 1]):
                        u = neighbours[e]
                        belongs = belongs or (part[u] == number and level[u] == cut + 1)
                if belongs:
                    part[v] = -1
                    placed += 1
                    order_out[n - placed] = v
            parent_out[parts] = separator
            separator = parts
            parts += 1
            end_out[parts] = placed
        if cut >= 0:
            near, far = split_part(todo, a, b, part, level, cut, len(first), queue)
            for bounds in ((a, near), (near, far)):
                stack.append(np.int64(len(first)))
                first.append(np.int64(bounds[0]))
                last.append(np.int64(bounds[1]))
                above.append(np.int64(separator))
    return parts
