"""Loads of all links on the bricks of a slab, visited with x fastest, then y, then z.

A brick computes the links from its voxels to their neighbours along +x, +y, +z, and takes what the bricks behind it
left in small buffers: one brick along x, one row along y, one layer along z. Where slabs meet, each sees a copy of the
other's layer. An axis along which no link leaves a brick costs nothing.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.bodies.voxel.links.link import add, subtract
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
def enter_slab(bricks, slabs, slab, source, W, damped, elastic):
    """Loads on a slab's first layer from the layer below, computed from copies, into the slab's buffer."""
    for k in range(slabs.entry_start[slab], slabs.entry_start[slab + 1]):
        above = slabs.entry_above[k]
        s = load_moving(bricks.state, source, slabs.entry_tile[k], W)
        F, _, N = links_along_z(bricks, slabs.entry_below[k], source, above, W, s, damped, elastic)
        at = (slab * slabs.column_count + bricks.column[above]) * LOADS * W
        store_three(slabs.columns, at, W, F)
        store_three(slabs.columns, at + 3 * W, W, N)


@compiled(inline=True)
def sum_links(bricks, slabs, slab, b, source, W, s, before, damped, elastic):
    """Force and moment on brick b, of the state s, and what its links along x leave to the next one.

    before: what those of the brick before left. source: see `load_moving`. damped, elastic: see `brick_links`.
    """
    rows, columns = slabs.rows, slabs.columns
    first_row, first_column = slab * slabs.row_count, slab * slabs.column_count
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
    at = (first_row + bricks.row_behind[b]) * LOADS * W
    G, H = arrived_y(F, N, load_three(rows, at, W), load_three(rows, at + 3 * W, W))
    at = (first_row + bricks.row[b]) * LOADS * W
    store_three(rows, at, W, F)
    store_three(rows, at + 3 * W, W, N)
    total_F, total_M = add(total_F, subtract(F, G)), add(total_M, add(M, H))
    # along z: the layer behind did
    F, M, N = none, none, none
    if linked & 4:
        F, M, N = links_along_z(bricks, b, source, bricks.next_z[b], W, s, damped, elastic)
    at = (first_column + bricks.column_behind[b]) * LOADS * W
    G, H = arrived_z(F, N, load_three(columns, at, W), load_three(columns, at + 3 * W, W))
    at = (first_column + bricks.column[b]) * LOADS * W
    store_three(columns, at, W, F)
    store_three(columns, at + 3 * W, W, N)
    return add(total_F, subtract(F, G)), add(total_M, add(M, H)), left


@compiled(inline=True)
def copy_tiles(slabs, slab, values, size, shift):
    """Copy the layers of a slab that its neighbours will see, tiles of so many values."""
    for k in range(slabs.copy_start[slab], slabs.copy_start[slab + 1]):
        a, b = slabs.copy_from[k] * size, (slabs.copy_to[k] + shift) * size
        for i in range(size):
            values[b + i] = values[a + i]
