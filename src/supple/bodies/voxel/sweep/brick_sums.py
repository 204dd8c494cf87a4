"""Loads of all links on the bricks of a slab, visited with x fastest, then y, then z.

A brick computes the links from its voxels to their neighbours along +x, +y, +z, and takes what the bricks behind it
left in small buffers: one brick along x, one row along y, one layer along z. Loads of the links from one slab to the
next have been computed before, see `border_kernels`. An axis along which no link leaves a brick costs nothing.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.bodies.voxel.links.link import add, subtract
from supple.bodies.voxel.sweep.border_kernels import load_sent
from supple.bodies.voxel.sweep.brick_data import LOADS
from supple.bodies.voxel.sweep.brick_links import (
    ahead_x,
    arrived_x,
    arrived_y,
    arrived_z,
    brick_links,
    links_along_y,
    links_along_z,
    load_moving,
    load_three,
    store_three,
)


@compiled(inline=True)
def sum_links(bricks, slabs, b, under, source, W, s, before, damped, elastic):
    """Force and moment on brick b, of the state s, and what its links along x leave to the next one.

    under: the border under it, or -1. before: what those of the brick before left. source: see `load_moving`. damped,
    elastic: see `brick_links`.
    """
    rows, columns = slabs.rows, slabs.columns
    linked, zero = bricks.linked[b], 0.0 * s[4]
    none = (zero, zero, zero)
    # along x: what arrives from behind is still at hand
    F, M, N = none, none, none
    if linked & 1:
        t = ahead_x(s, load_moving(bricks.state, source, bricks.next_x[b], W))
        F, M, N = brick_links(bricks, b, 0, W, s, t, damped, elastic)
    G, H = arrived_x(F, N, before[0], before[1])
    left = (F, N)
    total_F, total_M = subtract(F, G), add(M, H)
    # along y: the row behind left its loads in the buffer
    F, M, N = none, none, none
    if linked & 2:
        F, M, N = links_along_y(bricks, b, source, W, s, damped, elastic)
    at = bricks.row_behind[b] * LOADS * W
    G, H = arrived_y(F, N, load_three(rows, at, W), load_three(rows, at + 3 * W, W))
    at = bricks.row[b] * LOADS * W
    store_three(rows, at, W, F)
    store_three(rows, at + 3 * W, W, N)
    total_F, total_M = add(total_F, subtract(F, G)), add(total_M, add(M, H))
    # along z: the layer behind did
    F, M, N = none, none, none
    crossing = bricks.crossing[b]
    if crossing >= 0:
        at = (slabs.first_border + crossing) * LOADS * W
        F, N = load_three(columns, at, W), load_three(columns, at + 3 * W, W)
        M = load_three(slabs.moments, 3 * crossing * W, W)
    elif linked & 4:
        F, M, N = links_along_z(bricks, b, source, bricks.next_z[b], W, s, damped, elastic)
    if under >= 0:
        G, H = load_sent(slabs, under)
    else:
        at = bricks.column_behind[b] * LOADS * W
        G, H = load_three(columns, at, W), load_three(columns, at + 3 * W, W)
    G, H = arrived_z(F, N, G, H)
    at = bricks.column[b] * LOADS * W
    store_three(columns, at, W, F)
    store_three(columns, at + 3 * W, W, N)
    return add(total_F, subtract(F, G)), add(total_M, add(M, H)), left
