"""Links across the borders between slabs: computed once, before a brick on either side moves, for both slabs.

The borders under a slab are in two chunks. The slab below computes the larger one at the start of its sweep, the slab
above the smaller one, which it needs at once; whoever claims a chunk first computes it, the other waits for it alone. A
brick moves only after the chunks that it belongs to are done, so that all links see the state before the sweep. A chunk
is claimed, and done, by the number of the sweep, see `sweep_number`.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.compiling.prefetching import prefetch, prefetch_to_write
from supple.algebra.compiling.thread_team import atomic_read, atomic_swap, pause
from supple.algebra.lanes.lane_type import lane_count
from supple.bodies.voxel.sweep.brick_data import AT_BORDER, LINE, LOADS, RATES, STATE
from supple.bodies.voxel.sweep.brick_links import VELOCITY, links_along_z, load_moving, store_three

AHEAD = 4  # borders whose data are asked for early


@compiled(inline=True)
def source_after(bricks, damping, stage):
    """Where the velocities after so many stages lie, for `load_moving`."""
    if stage == 0:
        return bricks.state, STATE, VELOCITY
    return damping.rates, RATES, 0


@compiled(inline=True)
def sweep_number(damping, n, stage):
    """The number of a stage of step n, or of its sweep after all stages, from 1 on."""
    return n * (len(damping.before) + 1) + stage + 1


@compiled(inline=True)
def forget_crossed(slabs):
    """No chunk is done: before the first sweep of a call."""
    for k in range(len(slabs.crossed)):
        slabs.crossed[k] = 0


@compiled(inline=True)
def ask_across(bricks, slabs, k, source, W):
    """Ask for what other threads have read or written of border k."""
    rates, fields, first = source
    for tile in (slabs.below[k], slabs.above[k]):
        for field in range(VELOCITY):
            prefetch(bricks.state, (tile * STATE + field) * W)
        for field in range(RATES):
            prefetch(rates, (tile * fields + first + field) * W)
    for field in range(LOADS):
        prefetch_to_write(slabs.columns, ((slabs.first_border + k) * LOADS + field) * W)
    for field in range(3):
        prefetch_to_write(slabs.moments, (3 * k + field) * W)


@compiled(borrows=True)
def cross_chunk(bricks, slabs, damping, chunk, stage):
    """Loads of the links across the borders of one chunk, in a stage or in the sweep."""
    keep_whole()
    W, source = lane_count(bricks.state), source_after(bricks, damping, stage)
    first, stop = slabs.chunk_start[chunk], slabs.chunk_start[chunk + 1]
    for k in range(first, min(first + AHEAD, stop)):
        ask_across(bricks, slabs, k, source, W)
    for k in range(first, stop):
        ask_across(bricks, slabs, min(k + AHEAD, stop - 1), source, W)
        b, above = slabs.below[k], slabs.above[k]
        s = load_moving(bricks.state, source, b, W)
        if stage < len(damping.before):
            F, M, N = links_along_z(bricks, b, source, above, W, s, damping.before[stage], False)
        else:
            F, M, N = links_along_z(bricks, b, source, above, W, s, damping.within, True)
        at = (slabs.first_border + k) * LOADS * W
        store_three(slabs.columns, at, W, F)
        store_three(slabs.columns, at + 3 * W, W, N)
        store_three(slabs.moments, 3 * k * W, W, M)


@compiled(inline=True)
def claim_chunk(bricks, slabs, damping, chunk, stage, number):
    """Compute a chunk unless another thread has begun to."""
    at = chunk * LINE
    if atomic_read(slabs.crossed, at) != number and atomic_swap(slabs.crossed, at, number) != number:
        cross_chunk(bricks, slabs, damping, chunk, stage)
        atomic_swap(slabs.crossed, at + 1, number)


@compiled(borrows=True)
def begin_slab(bricks, slabs, damping, slab, stage, number):
    """The borders above a slab; the first chunk, which the slab above needs at once, comes last."""
    first, stop = slabs.slab_chunks[slab + 1], slabs.slab_chunks[slab + 2]
    for chunk in range(first + 1, stop):
        claim_chunk(bricks, slabs, damping, chunk, stage, number)
    if stop > first:
        claim_chunk(bricks, slabs, damping, first, stage, number)


@compiled(inline=True)
def await_chunk(bricks, slabs, damping, chunk, stage, number):
    """Have a chunk done."""
    if atomic_read(slabs.crossed, chunk * LINE + 1) != number:
        claim_chunk(bricks, slabs, damping, chunk, stage, number)
        while atomic_read(slabs.crossed, chunk * LINE + 1) != number:
            pause()


@compiled(inline=True)
def await_borders(bricks, slabs, damping, b, stage, number):
    """Have the chunks done that a brick belongs to."""
    if bricks.linked[b] & AT_BORDER:
        crossing, behind = bricks.crossing[b], bricks.column_behind[b] - slabs.first_border
        if crossing >= 0:
            await_chunk(bricks, slabs, damping, slabs.chunk[crossing], stage, number)
        if 0 <= behind < len(slabs.chunk):
            await_chunk(bricks, slabs, damping, slabs.chunk[behind], stage, number)


@compiled(inline=True)
def take_back(bricks, slabs, b, W):
    """Ask for what another thread has read or written of a brick at a border, long before it is needed."""
    if bricks.linked[b] & AT_BORDER:
        for k in range(STATE):
            prefetch_to_write(bricks.state, (b * STATE + k) * W)
