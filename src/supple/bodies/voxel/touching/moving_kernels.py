"""How bricks of voxels meet obstacles that move; see `moving`. In axes that move along, the law is that of `meet`.

All functions are of values in SIMD lanes.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import maximum, minimum, select_ge, sqrt
from supple.bodies.voxel.links.link import add, dot, scale, subtract
from supple.bodies.voxel.touching.surroundings import box_distance, contact_of, meet

SHAPE, DRIFT, OWN, MOVING = 0, 15, 27, 29
"""Where a moving obstacle has its shape, b and A of its material's velocity, mu_s and mu_d; how many numbers it has."""
BESIDE = -1.0
"""In place of a friction: that of the voxels."""


@compiled(inline=True)
def drift(moving, n, at, x):
    """Velocity of an obstacle's material at x in step n of the table."""
    d = at + DRIFT
    return (
        moving[n, d] + moving[n, d + 3] * x[0] + moving[n, d + 4] * x[1] + moving[n, d + 5] * x[2],
        moving[n, d + 1] + moving[n, d + 6] * x[0] + moving[n, d + 7] * x[1] + moving[n, d + 8] * x[2],
        moving[n, d + 2] + moving[n, d + 9] * x[0] + moving[n, d + 10] * x[1] + moving[n, d + 11] * x[2],
    )


@compiled(inline=True)
def meet_along(constants, moving, n, at, dt, s, v, normal, distance):
    """Velocities after contact with an obstacle in step n; row n + 1 of the table, row n is of the step before."""
    x, q, old, w, size = s
    stiffness, damping, static, kinetic = constants
    own = moving[n + 1, at + OWN], moving[n + 1, at + OWN + 1]
    static, kinetic = select_ge(own[0], 0.0 * static, own[0], static), select_ge(own[1], 0.0 * static, own[1], kinetic)
    u = drift(moving, n + 1, at, x)
    beside = (x, q, subtract(old, drift(moving, n, at, x)), w, size)
    return add(u, meet((stiffness, damping, static, kinetic), dt, beside, subtract(v, u), normal, distance))


@compiled(inline=True)
def capsule_distance(moving, n, at, x):
    """Normals and distances of a capsule; a ball where its way is none."""
    way = (moving[n, at + 3], moving[n, at + 4], moving[n, at + 5])
    r = (x[0] - moving[n, at], x[1] - moving[n, at + 1], x[2] - moving[n, at + 2])
    per = 1.0 / max(dot(way, way), 1e-300)
    part = minimum(maximum(per * dot(way, r), 0.0), 1.0)  # (16.11)
    r = (r[0] - part * way[0], r[1] - part * way[1], r[2] - part * way[2])
    length = sqrt(dot(r, r))
    return scale(1.0 / maximum(length, 1e-30), r), length - moving[n, at + 6]  # (16.11)


@compiled(inline=True)
def meet_moving(moving, kinds, bricks, b, W, step, n, s, v):
    """Velocities after contact with all that moves; v: the candidates without it, s: the state at the step's start."""
    if moving is None:
        return v
    constants, x = contact_of(bricks, b, W), s[0]
    planes, round_ones, boxes = kinds[0], kinds[1], kinds[2]
    for p in range(planes):
        at = p * MOVING
        normal = (
            moving[n + 1, at] + 0.0 * x[0],
            moving[n + 1, at + 1] + 0.0 * x[0],
            moving[n + 1, at + 2] + 0.0 * x[0],
        )
        distance = dot(normal, x) - moving[n + 1, at + 3]  # (16.11)
        v = meet_along(constants, moving, n, at, step.dt, s, v, normal, distance)
    for p in range(planes, planes + round_ones):
        at = p * MOVING
        normal, distance = capsule_distance(moving, n + 1, at, x)
        v = meet_along(constants, moving, n, at, step.dt, s, v, normal, distance)
    for p in range(planes + round_ones, planes + round_ones + boxes):
        at = p * MOVING
        normal, distance = box_distance(moving[n + 1], at, x)
        v = meet_along(constants, moving, n, at, step.dt, s, v, normal, distance)
    return v
