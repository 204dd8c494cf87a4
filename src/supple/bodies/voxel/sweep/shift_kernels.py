"""Links whose rest length shifts: plastic yielding, failure, and the coupling of strains across axes.

All act along a link and leave its formula as it is: the rest length changes by `shift`, and a failed link has no
strength. With the strain e = (d - rest) / l of a link at the start of a step,

    yielding   x = |e - p|,  s = min(x, c(x + a))           c: stress over E along the curve of the material
               p += sign(e - p) (x - s),  a += x - s        p: plastic strain,  a: accumulated
    failure    e > limit: no strength from now on
    shift      l (p - gain (e - p) - beta_1 - beta_2)       see `transverse` for gain and beta

c(x + a) is isotropic hardening: x + a does not change while a link yields, so the stress is read off the curve there.
Passes over the bricks before each step compute all this, so that the sweep only reads.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.aligned_stack import align_stack
from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import any_greater, copysign, lane_count, load, maximum, select_ge, store
from supple.bodies.voxel.links.link import link_frame, subtract
from supple.bodies.voxel.sweep.brick_data import CONSTANTS, SHIFTS
from supple.bodies.voxel.sweep.brick_lanes import arrive_x, arrive_y, arrive_z, neighbour_x, neighbour_y, neighbour_z
from supple.bodies.voxel.sweep.brick_links import (
    ahead_x,
    ahead_y,
    ahead_z,
    load_state,
    load_three,
    turned_yzx,
    turned_zxy,
)

Array = np.ndarray
YIELDED = 6  # plastic strain and accumulated plastic strain of the links along x, y, z
COUPLING = 7  # gains of the links along x, y, z; factors k of the axes x, y, z; 1 / (E l)


class Laws(NamedTuple):
    """Laws of links and the coupling of strains, in tiles as in `Bricks`; without any, all arrays are empty.

    curve: for each axis the strain of failure and knots, each a strain and the change of slope over E. yielded: YIELDED
    fields. coupling: COUPLING fields, or empty; tension (a1 e) and beta then have 3 fields and end in a tile of zeros.
    ahead, behind (3, count): the bricks ahead and behind along x, y, z, or that tile. failures (slabs,): bricks with
    links that failed in a step.
    """

    knots: int
    curve: Array
    yielded: Array
    coupling: Array
    tension: Array
    beta: Array
    ahead: Array
    behind: Array
    failures: Array


@compiled(inline=True)
def axial_strain(s, t, edge):
    """Strain of the links from s to t along the first axis."""
    _, R = link_frame(s[1], t[1])
    d = subtract(t[0], s[0])
    return (R[0] * d[0] + R[3] * d[1] + R[6] * d[2] - 0.5 * (s[4] + t[4])) * (1.0 / edge)  # (14.7)


@compiled(inline=True)
def apply_law(bricks, laws, b, axis, W, strain):
    """Update what the links of a brick along an axis remember; returns whether one failed."""
    at = (b * YIELDED + 2 * axis) * W
    plastic, accumulated = load(laws.yielded, at), load(laws.yielded, at + W)
    x = strain - plastic
    size = maximum(x, -x)
    place = size + accumulated
    stress = place
    law = (b * 3 + axis) * (1 + 2 * laws.knots) * W
    for k in range(laws.knots):
        beyond = maximum(place - load(laws.curve, law + (1 + 2 * k) * W), 0.0)
        stress = stress + load(laws.curve, law + (2 + 2 * k) * W) * beyond  # (14.21)
    to = (b * SHIFTS + 2 * axis) * W
    before = load(bricks.shifts, to + W)
    strength = select_ge(load(laws.curve, law), strain, before, 0.0 * before)  # (14.22)
    grown = strength * maximum(size - stress, 0.0)  # (14.21)
    plastic = plastic + copysign(grown, x)  # (14.21)
    edge, elastic = bricks.edge[b], strength * (strain - plastic)
    store(laws.yielded, at, plastic)
    store(laws.yielded, at + W, accumulated + grown)  # (14.21)
    store(bricks.shifts, to + W, strength)
    if laws.coupling.size > 0:
        gain = load(laws.coupling, (b * COUPLING + axis) * W)
        store(bricks.shifts, to, edge * (plastic - gain * elastic))  # (14.23)
        store(laws.tension, (b * 3 + axis) * W, load(bricks.constants, (b * CONSTANTS + 4 * axis) * W) * elastic)
    else:
        store(bricks.shifts, to, edge * plastic)  # (14.23)
    return any_greater(before, strength)


@compiled(borrows=True)
def measure_slab(bricks, slabs, laws, slab):
    """Strains and laws of the links of a slab at the start of a step."""
    align_stack()
    W = lane_count(bricks.state)
    failures = 0
    for b in range(slabs.start[slab], slabs.start[slab + 1]):
        s, edge = load_state(bricks.state, b, W), bricks.edge[b]
        t = ahead_x(s, load_state(bricks.state, bricks.next_x[b], W))
        failed = apply_law(bricks, laws, b, 0, W, axial_strain(s, t, edge))
        t = ahead_y(s, load_state(bricks.state, bricks.next_y[b], W))
        failed |= apply_law(bricks, laws, b, 1, W, axial_strain(turned_yzx(s), t, edge))
        tile = bricks.next_z[b] if bricks.crossing[b] < 0 else slabs.above[bricks.crossing[b]]
        t = ahead_z(s, load_state(bricks.state, tile, W))
        failed |= apply_law(bricks, laws, b, 2, W, axial_strain(turned_zxy(s), t, edge))
        if failed:
            failures += 1
    laws.failures[slab] = failures


@compiled(borrows=True)
def couple_slab(bricks, slabs, laws, slab):
    """beta_x = k_z S_y + k_y S_z and so on, S the sums of both links along an axis, of the voxels of a slab."""
    align_stack()
    W = lane_count(bricks.state)
    tension, behind = laws.tension, laws.behind
    for b in range(slabs.start[slab], slabs.start[slab + 1]):
        own = load_three(tension, b * 3 * W, W)
        x = own[0] + arrive_x(own[0], load(tension, behind[0, b] * 3 * W))
        y = own[1] + arrive_y(own[1], load(tension, (behind[1, b] * 3 + 1) * W))
        z = own[2] + arrive_z(own[2], load(tension, (behind[2, b] * 3 + 2) * W))
        at = b * COUPLING * W
        k = load_three(laws.coupling, at + 3 * W, W)
        softness = load(laws.coupling, at + 6 * W)
        store(laws.beta, b * 3 * W, softness * (k[2] * y + k[1] * z))  # (14.24)
        store(laws.beta, (b * 3 + 1) * W, softness * (k[0] * z + k[2] * x))  # (14.24)
        store(laws.beta, (b * 3 + 2) * W, softness * (k[1] * x + k[0] * y))  # (14.24)


@compiled(borrows=True)
def shift_slab(bricks, slabs, laws, slab):
    """shift -= l (beta_1 + beta_2) of the links of a slab."""
    align_stack()
    W = lane_count(bricks.state)
    beta, ahead, shifts = laws.beta, laws.ahead, bricks.shifts
    for b in range(slabs.start[slab], slabs.start[slab + 1]):
        own, edge, at = load_three(beta, b * 3 * W, W), bricks.edge[b], b * SHIFTS * W
        x = own[0] + neighbour_x(own[0], load(beta, ahead[0, b] * 3 * W))
        y = own[1] + neighbour_y(own[1], load(beta, (ahead[1, b] * 3 + 1) * W))
        z = own[2] + neighbour_z(own[2], load(beta, (ahead[2, b] * 3 + 2) * W))
        store(shifts, at, load(shifts, at) - edge * x)  # (14.23)
        store(shifts, at + 2 * W, load(shifts, at + 2 * W) - edge * y)  # (14.23)
        store(shifts, at + 4 * W, load(shifts, at + 4 * W) - edge * z)  # (14.23)
