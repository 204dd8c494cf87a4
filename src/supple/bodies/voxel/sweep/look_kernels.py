"""Whether any link of a lattice may be strained or bent beyond limits, found in the sweep's own bricks.

    strain  |R_m e_x · (x2 - x1) / rest - 1|,     angle between linked voxels  4 arctan |tau|,        see `link`

Links that carry nothing and those that have failed count for nothing. What is found here errs on the side of looking,
by more than round-off: who is told so asks `largest_strain_and_bend`, which decides. It takes links one by one, from
frames, and so eight times as long.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.aligned_stack import align_stack
from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import any_greater, fabs, lane_count, load, maximum, roundoff, select_ge
from supple.bodies.voxel.links.link import dot, link_turn, subtract
from supple.bodies.voxel.sweep.brick_data import CONSTANTS, SHIFTS
from supple.bodies.voxel.sweep.brick_links import ahead_x, ahead_y, ahead_z, load_state, turned_yzx, turned_zxy

ROUNDING = 1e3  # times round-off, by which numbers found in bricks and from frames surely differ less
STRAIGHT = 3.2  # [rad] two voxels are never turned against each other by more than pi


@compiled(inline=True)
def seen_links(bricks, b, axis, W, s, t, strain, turn):
    """The largest strain and tau² so far, with those of the links from s to t along an axis, seen as the first."""
    tau, along = link_turn(s[1], t[1])
    stretch = fabs(dot(along, subtract(t[0], s[0])) * (1.0 / bricks.edge[b]) - 1.0)  # (14.7)
    bent, none = dot(tau, tau), 0.0 * strain
    carries = load(bricks.constants, (b * CONSTANTS + 4 * axis) * W)
    if bricks.shifts.size > 0:
        carries = carries * load(bricks.shifts, (b * SHIFTS + 2 * axis + 1) * W)
    strain = maximum(strain, select_ge(0.0 * carries, carries, none, stretch))
    return strain, maximum(turn, select_ge(0.0 * carries, carries, none, bent))


@compiled(borrows=True)
def may_exceed(bricks, slabs, strain, bend):
    """Whether a link may be strained by more than `strain`, or its voxels turned against each other by more than `bend`
    [rad]."""
    align_stack()
    W = lane_count(bricks.state)
    none = load(bricks.state, 0) * 0.0
    strained, turned = none, none
    for b in range(len(bricks.edge)):
        linked, s = bricks.linked[b], load_state(bricks.state, b, W)
        if linked & 1:
            t = ahead_x(s, load_state(bricks.state, bricks.next_x[b], W))
            strained, turned = seen_links(bricks, b, 0, W, s, t, strained, turned)
        if linked & 2:
            t = ahead_y(s, load_state(bricks.state, bricks.next_y[b], W))
            strained, turned = seen_links(bricks, b, 1, W, turned_yzx(s), t, strained, turned)
        if linked & 4:
            tile = bricks.next_z[b] if bricks.crossing[b] < 0 else slabs.above[bricks.crossing[b]]
            t = ahead_z(s, load_state(bricks.state, tile, W))
            strained, turned = seen_links(bricks, b, 2, W, turned_zxy(s), t, strained, turned)
    error = ROUNDING * roundoff(none)
    if any_greater(strained, strain * (1.0 - error) - error):
        return True
    if bend > STRAIGHT:
        return False
    most = maximum(np.tan(0.25 * bend) - error, none)
    return any_greater(turned, most * most)
