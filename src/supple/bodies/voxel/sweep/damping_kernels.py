"""Stages of damping before the forces of a step: v <- v - part dt M^-1 C v, sweeps over velocities alone. See `stages`.

The first stage reads the velocities of the state, the others those that the one before left in `Damping.rates`, in
place: what lies ahead of a brick is still old.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.aligned_stack import align_stack
from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import lane_count, load
from supple.bodies.voxel.links.link import add, dot, scale
from supple.bodies.voxel.sweep.border_kernels import (
    await_sent,
    border_under,
    end_shown,
    show_rates,
    source_after,
    sweep_number,
)
from supple.bodies.voxel.sweep.brick_data import CONSTANTS, GUIDE, RATES
from supple.bodies.voxel.sweep.brick_links import load_moving, load_three, store_three
from supple.bodies.voxel.sweep.brick_sums import sum_links


@compiled(inline=True)
def guided(bricks, g, W, v, w):
    """Velocities v, w in the directions that guide tile g leaves free, and its own in the others."""
    at = g * GUIDE * W
    x, y, z = (
        load_three(bricks.guides, at, W),
        load_three(bricks.guides, at + 3 * W, W),
        load_three(bricks.guides, at + 6 * W, W),
    )
    free = load(bricks.guides, at + 9 * W)
    v = add((dot(x, v), dot(y, v), dot(z, v)), load_three(bricks.guides, at + 10 * W, W))
    return v, add(scale(free, w), load_three(bricks.guides, at + 13 * W, W))


@compiled(borrows=True)
def damp_slab(bricks, slabs, damping, slab, n, stage):
    """One stage of a slab, before step n."""
    align_stack()
    W = lane_count(bricks.state)
    source = source_after(bricks, damping, stage)
    part, number = damping.before[stage], sweep_number(damping, n, stage)
    zero = load(bricks.state, 0) * 0.0
    none = ((zero, zero, zero), (zero, zero, zero))
    left = none
    for b in range(slabs.start[slab], slabs.start[slab + 1]):
        under = border_under(bricks, slabs, b)
        if under >= 0:
            await_sent(slabs, under, number)
        s = load_moving(bricks.state, source, b, W)
        if bricks.follows[b] == 0:
            left = none
        F, M, left = sum_links(bricks, slabs, b, under, source, W, s, left, part, False)
        at = (b * CONSTANTS + 12) * W
        v = add(s[2], scale(load(bricks.constants, at), F))  # (14.28)
        w = add(s[3], scale(load(bricks.constants, at + W), M))  # (14.28)
        if bricks.guide.size > 0 and bricks.guide[b] >= 0:
            v, w = guided(bricks, bricks.guide[b], W, v, w)
        store_three(damping.rates, b * RATES * W, W, v)
        store_three(damping.rates, (b * RATES + 3) * W, W, w)
        if under >= 0:
            show_rates(slabs, under, v, w)
            end_shown(slabs, under, number)
