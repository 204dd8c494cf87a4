"""How far the points of all interfaces are from where rigid ones would have them, points side by side in lanes."""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, load, maximum, store

Array = np.ndarray


class InterfacePoints(NamedTuple):
    """Points of f interfaces at scale 1, in blocks of LANES, filled up with copies; the last axis is the point.

    start (f + 1,): blocks of each. Flat: D (blocks, 3, LANES) [m], from the interface's origin, in the parent's axes; y
    (blocks, 3, LANES) [m], the same in the child's; V, from value[f] on: (blocks, r, 3, LANES), by the coordinates.
    """

    start: Array
    value: Array
    D: Array
    y: Array
    V: Array


@compiled
def largest_deviation(chain, T, points, domains, q):
    """The largest distance [m] between a point s (D + V q) and T s y on the interfaces of some domains, of coordinates
    q (n,); T (d, 9): how these turn in their parents."""
    largest = np.zeros(LANES)
    found = load(largest, 0)
    for k in domains:
        i, f = chain.parent[k], chain.fit[k]
        at, r, s = chain.start[i], chain.start[i + 1] - chain.start[i], chain.scale[i]
        for block in range(points.start[f], points.start[f + 1]):
            here, V = 3 * LANES * block, points.value[f] + (block - points.start[f]) * 3 * r * LANES
            a, b, c = load(points.D, here), load(points.D, here + LANES), load(points.D, here + 2 * LANES)
            for l in range(r):
                a += q[at + l] * load(points.V, V)  # (13.12)
                b += q[at + l] * load(points.V, V + LANES)
                c += q[at + l] * load(points.V, V + 2 * LANES)
                V += 3 * LANES
            x, y, z = load(points.y, here), load(points.y, here + LANES), load(points.y, here + 2 * LANES)
            a -= T[k, 0] * x + T[k, 1] * y + T[k, 2] * z
            b -= T[k, 3] * x + T[k, 4] * y + T[k, 5] * z
            c -= T[k, 6] * x + T[k, 7] * y + T[k, 8] * z
            found = maximum(found, s * s * (a * a + b * b + c * c))
    store(largest, 0, found)
    return np.sqrt(largest.max())
