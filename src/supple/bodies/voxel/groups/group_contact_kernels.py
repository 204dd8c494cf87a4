"""Obstacles that rigid bodies of voxels meet: the push on each cell as the sweep has it, friction that holds the whole.

The sweep stops a voxel by its own mass; of a body that would leave what the other cells bring with them, and the body
would creep. So cells of bodies meet obstacles here. Of the state at the start of a small step come

    N       impulse on a cell along the normal n, as on a voxel without friction
    u_0     velocity of the surface less that of the cell along it: what a friction without end gives

and friction is an impulse J of each cell that brings its velocity, as part of the body, to that of the surface, where
|J| <= mu_s |N|; else |J| = mu_k |N|. Cells take turns, ROUNDS times or until those that stick are at rest [JAJ98]. A
cell was at rest before where |u_0| is below RESTING mu_s |N| / m. Where a cell meets several obstacles at once, n is
that of the sum of their pushes.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross
from supple.algebra.lanes.lane_type import lane_count
from supple.bodies.voxel.groups.group_kernels import four, spin_of
from supple.bodies.voxel.links.link import add, dot, scale, subtract
from supple.bodies.voxel.sweep.brick_data import STATE
from supple.bodies.voxel.sweep.brick_links import load_state, store_three, three
from supple.bodies.voxel.touching.moving_kernels import DRIFT, MOVING, OWN, meet_moving
from supple.bodies.voxel.touching.surface_contact_kernels import row, set_row
from supple.bodies.voxel.touching.surroundings import RESTING, meet_boxes, meet_ground, meet_planes, meet_spheres

Array = np.ndarray
ROUNDS = 50
STILL = 1e-3
"""Of the velocity at which a cell counts as at rest: what the rounds leave."""
FOUND = 9
"""Fields of what is found in lanes: push, and u_0 now and in the step before."""


class Tiles(NamedTuple):
    """What functions of bricks ask of cells on the surface: contact: CONTACT fields; scratch: of the ground."""

    contact: Array
    scratch: Array


@compiled(inline=True)
def meet_still(tiles, b, W, step, s, v):
    """Velocities after contact with the obstacles that do not move."""
    v = meet_spheres(tiles, b, W, step, s, meet_planes(tiles, b, W, step, s, v))
    if step.boxes.size > 0:
        v = meet_boxes(tiles, b, W, step, s, v)
    if step.ground.size > 0:
        v = meet_ground(tiles, tiles, 0, b, W, step, s, v)
    return v


@compiled(inline=True)
def keep_found(v, smooth, sticky, before, W, found_out):
    """Push, and u_0, from velocities before contact and after, without friction, with one without end, and with that
    in the step before."""
    store_three(found_out, 0, W, subtract(smooth, v))
    store_three(found_out, 3 * W, W, subtract(sticky, smooth))
    store_three(found_out, 6 * W, W, subtract(before, smooth))


@compiled(borrows=True)
def find_still(run, step, b):
    """What obstacles that do not move do to a tile."""
    W = lane_count(run.tiles)
    s = load_state(run.tiles, b, W)
    smooth = meet_still(Tiles(run.smooth, run.scratch), b, W, step, s, s[2])
    sticky = meet_still(Tiles(run.sticky, run.scratch), b, W, step, s, s[2])
    keep_found(s[2], smooth, sticky, sticky, W, run.found)


@compiled(borrows=True)
def find_moving(run, step, b):
    """What the obstacle in `one_moving` does to a tile."""
    W, moving, kind = lane_count(run.tiles), run.one_moving, run.one_kind
    s = load_state(run.tiles, b, W)
    moving[1, OWN], moving[1, OWN + 1] = 0.0, 0.0
    smooth = meet_moving(moving, kind, Tiles(run.smooth, run.scratch), b, W, step, 0, s, s[2])
    moving[1, OWN], moving[1, OWN + 1] = -1.0, -1.0
    sticky = meet_moving(moving, kind, Tiles(run.sticky, run.scratch), b, W, step, 0, s, s[2])
    for k in range(DRIFT, OWN):
        moving[1, k] = moving[0, k]
    before = meet_moving(moving, kind, Tiles(run.sticky, run.scratch), b, W, step, 0, s, s[2])
    keep_found(s[2], smooth, sticky, before, W, run.found)


@compiled(borrows=True)
def add_found(run, b, static, kinetic):
    """Add what was found to the cells of a tile; static, kinetic: friction of the obstacle, negative: of the cells."""
    W = lane_count(run.tiles)
    for s in range(b * W, min((b + 1) * W, len(run.outer))):
        l, m = s - b * W, run.mass[run.outer[s]]
        N = scale(m, three(run.found, l, W))
        size = np.sqrt(dot(N, N))
        if size > 0.0:
            set_row(add(row(run.normal, s, 0), N), s, run.normal)
            set_row(add(row(run.flow, s, 0), three(run.found, l + 3 * W, W)), s, run.flow)
            set_row(add(row(run.rest, s, 0), three(run.found, l + 6 * W, W)), s, run.rest)
            run.hold[s] += (static if static >= 0.0 else run.friction[s, 0]) * size
            run.slide[s] += (kinetic if kinetic >= 0.0 else run.friction[s, 1]) * size


@compiled
def find_each_moving(moving, kinds, run, step, n, b):
    """What obstacles that move do to a tile, one after another."""
    if moving is None:
        return
    for p in range(kinds[0] + kinds[1] + kinds[2]):
        for k in range(MOVING):
            run.one_moving[0, k], run.one_moving[1, k] = moving[n, p * MOVING + k], moving[n + 1, p * MOVING + k]
        static, kinetic = run.one_moving[1, OWN], run.one_moving[1, OWN + 1]
        for k in range(3):
            run.one_kind[k] = 0
        run.one_kind[0 if p < kinds[0] else (1 if p < kinds[0] + kinds[1] else 2)] = 1
        find_moving(run, step, b)
        add_found(run, b, static, kinetic)


@compiled(borrows=True)
def find_pushes(state, run, step, n):
    """Pushes of the obstacles at the start of step n, and what their friction may do."""
    W = lane_count(state)
    for s in range(len(run.outer)):
        at, to = run.place[run.outer[s]], (s // W) * STATE * W + s % W
        for k in range(STATE):
            run.tiles[to + k * W] = state[at + k * W]
    for array in (run.normal, run.flow, run.rest):
        array[:, :] = 0.0
    run.hold[:] = 0.0
    run.slide[:] = 0.0
    for b in range((len(run.outer) + W - 1) // W):
        find_still(run, step, b)
        add_found(run, b, -1.0, -1.0)
        find_each_moving(step.moving, step.moving_kinds, run, step, n, b)
    for s in range(len(run.outer)):
        if run.hold[s] > 0.0:
            i, rest = run.outer[s], row(run.rest, s, 0)
            v, n_ = three(state, run.place[i] + 7 * W, W), facing(run, s)
            set_row(add(subtract(v, scale(dot(n_, v), n_)), row(run.flow, s, 0)), s, run.flow)
            if np.sqrt(dot(rest, rest)) * run.mass[i] > RESTING * run.hold[s]:
                run.hold[s] = run.slide[s]


@compiled(inline=True)
def facing(run, s):
    """The normal of the pushes on a cell of the surface."""
    N = row(run.normal, s, 0)
    return scale(1.0 / np.sqrt(dot(N, N)), N)


@compiled(borrows=True)
def give(run, s, J):
    """Let an impulse of an obstacle act on the body of a cell of the surface."""
    i, g = run.outer[s], run.outer_group[s]
    set_row(add(row(run.speed, g, 0), scale(1.0 / run.whole[g], J)), g, run.speed)
    set_row(add(row(run.spin, g, 0), cross(row(run.lever, i, 0), J)), g, run.spin)
    set_row(add(row(run.passed, s, 0), J), s, run.passed)


@compiled(borrows=True)
def rub(run, s):
    """Friction on a cell of the surface in its turn; returns by how much it changes its velocity, over that at which it
    counts as at rest."""
    i, g, n = run.outer[s], run.outer_group[s], facing(run, s)
    r, frame = row(run.lever, i, 0), four(run.before, g)
    w = spin_of(run, g, frame, row(run.spin, g, 0))
    v = add(row(run.speed, g, 0), cross(w, r))
    u = subtract(subtract(v, scale(dot(n, v), n)), row(run.flow, s, 0))  # (14.33)
    size = np.sqrt(dot(u, u))
    if size == 0.0:
        return 0.0
    arm = cross(r, scale(1.0 / size, u))
    yields = 1.0 / run.whole[g] + dot(arm, spin_of(run, g, frame, arm))  # (14.33)
    before = subtract(row(run.passed, s, 0), row(run.normal, s, 0))
    J = subtract(before, scale(1.0 / yields, u))  # (14.33)
    largest = np.sqrt(dot(J, J))
    if largest > run.hold[s]:
        run.hold[s] = run.slide[s]
        J = scale(run.slide[s] / largest, J)
    change = subtract(J, before)
    give(run, s, change)
    return np.sqrt(dot(change, change)) * yields * run.mass[i] / (RESTING * max(run.hold[s], 1e-300))


@compiled(borrows=True)
def meet_obstacles(run):
    """Add to V and L what the obstacles do in the step."""
    run.passed[:, :] = 0.0
    for s in range(len(run.outer)):
        give(run, s, row(run.normal, s, 0))
    for _ in range(ROUNDS):
        most = 0.0
        for s in range(len(run.outer)):
            if run.hold[s] > 0.0:
                most = max(most, rub(run, s))
        if most <= STILL:
            break
