"""When two shapes first meet within a step, by conservative advancement [Mir96], and their points at that time.

    t += (s + tolerance) / rate,    rate = -n . (v_a - v_b) + |w_a| arm_a + |w_b| arm_b

s is how far they are apart along the unit vector n. No point of either comes nearer along n faster than the rate, so
that they overlap by at most the tolerance when s is no longer above zero. Where the rate is not above zero, or the time
beyond the step, they do not meet. In the same way it is found how long shapes may move until they overlap by a part of
their width more than at the start: a corner that is held lets the others turn through what it touches.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.manifolds.clip_kernels import closest_on_lines
from supple.contact.manifolds.pose_kernels import place_shape
from supple.contact.manifolds.round_kernels import axis_from_hull, first_end, last_end, point_from_hull
from supple.contact.manifolds.separation_kernels import box_separation, hull_separation, lowest
from supple.contact.manifolds.table import BOX, PLANE, ROUND
from supple.contact.narrow.vectors import add, at, dot, norm, scale, subtract

FAST = 0.25  # part of the smaller width that a pair may move in a step, and is then looked at where it begins
SLACK = 1e-3  # part of the smaller width by which shapes may overlap where they are said to meet
SUNK = 0.1  # the same by which they may sink deeper in a step
MOST_ADVANCES = 200
NEVER = -1.0


@compiled(borrows=True)
def pair_separation(table, poses, a, b):
    """How far two shapes are apart at least [m], below zero where they overlap, and the direction, from b to a."""
    if table.kind[b] == PLANE:
        n = (poses.R[b, 0, 2], poses.R[b, 1, 2], poses.R[b, 2, 2])
        low = lowest(poses, table.vertex_start[a], table.vertex_start[a + 1], n)
        return low - dot(n, at(poses.x, b)) - table.radius[a], n  # (16.11)
    if table.kind[a] == ROUND and table.kind[b] == ROUND:
        p, q = first_end(table, poses, a), first_end(table, poses, b)
        d, w = subtract(last_end(table, poses, a), p), subtract(last_end(table, poses, b), q)
        s, t = closest_on_lines(p, d, q, w)
        way = subtract(add(p, scale(s, d)), add(q, scale(t, w)))
        distance, n = norm(way), (0.0, 0.0, 1.0)
        if distance > 0.0:
            n = scale(1.0 / distance, way)
        return distance - table.radius[a] - table.radius[b], n  # (16.7)
    if table.kind[a] == ROUND:
        return round_separation(table, poses, a, b)
    if table.kind[b] == ROUND:
        s, n = round_separation(table, poses, b, a)
        return s, scale(-1.0, n)
    if table.kind[a] == BOX and table.kind[b] == BOX:
        _, _, _, s, n = box_separation(table, poses, a, b)
    else:
        _, _, _, s, n = hull_separation(table, poses, a, b, 0.0)
    return s, scale(-1.0, n)


@compiled(borrows=True)
def round_separation(table, poses, a, b):
    """The same of a ball or capsule a and a polytope b."""
    p, q = first_end(table, poses, a), last_end(table, poses, a)
    if norm(subtract(q, p)) == 0.0:
        distance, n = point_from_hull(table, poses, b, p)
    else:
        _, _, distance, n = axis_from_hull(table, poses, b, p, q)
    return distance - table.radius[a], n


@compiled(inline=True)
def smaller_width(table, a, b):
    """The smaller of the least widths of two shapes [m]."""
    return min(table.width[a], table.width[b])


@compiled(borrows=True)
def impact_time(table, poses, frames, v, reach, a, b, h):
    """When shapes a and b first meet within h [s]: 0 where they touch already, NEVER where they do not meet; leaves
    their poses at that time. reach (n,) [m]: way by turning alone within h."""
    u = (v[a, 0] - v[b, 0], v[a, 1] - v[b, 1], v[a, 2] - v[b, 2])
    tolerance, turning, t = SLACK * smaller_width(table, a, b), (reach[a] + reach[b]) / h, 0.0
    for _ in range(MOST_ADVANCES):
        s, n = pair_separation(table, poses, a, b)
        if s <= (tolerance if t == 0.0 else 0.0):
            return t
        rate = turning - dot(n, u)  # (16.14)
        if rate * (h - t) <= s:
            return NEVER
        t = min(t + (s + tolerance) / rate, h)  # (16.14)
        place_shape(table, frames, v, t, a, poses)
        place_shape(table, frames, v, t, b, poses)
    return t


@compiled(borrows=True)
def safe_time(table, poses, frames, v, reach, a, b, h):
    """How long of h [s] shapes a and b may move until they have sunk into each other; puts their poses back."""
    u = (v[a, 0] - v[b, 0], v[a, 1] - v[b, 1], v[a, 2] - v[b, 2])
    deep, turning, t = SUNK * smaller_width(table, a, b), (reach[a] + reach[b]) / h, 0.0
    s, n = pair_separation(table, poses, a, b)
    limit = min(s, 0.0) - deep
    for _ in range(MOST_ADVANCES):
        rate = turning - dot(n, u)  # (16.14)
        if rate * (h - t) <= s - limit:
            t = h
            break
        t += (s - limit) / rate
        place_shape(table, frames, v, t, a, poses)
        place_shape(table, frames, v, t, b, poses)
        s, n = pair_separation(table, poses, a, b)
        if s - limit < 0.1 * deep:
            break
    place_shape(table, frames, v, 0.0, a, poses)
    place_shape(table, frames, v, 0.0, b, poses)
    return t


@compiled
def compute_safe_times(table, poses, frames, pairs, count, v, reach, h, times_out):
    """times_out (n,) [s]: how long of h [s] shapes may move at velocities v (n, 6). Those on the way of one that stops
    early stop with it: they may not be where it is passed."""
    times_out[:] = h
    stops = False
    for k in range(count):
        a, b = pairs[k, 0], pairs[k, 1]
        square = 0.0
        for c in range(3):
            square += (v[a, c] - v[b, c]) ** 2
        if h * np.sqrt(square) + reach[a] + reach[b] > FAST * smaller_width(table, a, b):
            t = safe_time(table, poses, frames, v, reach, a, b, h)
            times_out[a], times_out[b] = min(times_out[a], t), min(times_out[b], t)
            stops = stops or t < h
    while stops:
        stops = False
        for k in range(count):
            a, b = pairs[k, 0], pairs[k, 1]
            if times_out[a] != times_out[b] and v[a].any() and v[b].any():
                times_out[a] = times_out[b] = min(times_out[a], times_out[b])
                stops = True


@compiled(inline=True)
def is_fast(table, a, b, way):
    """Whether two shapes that move by so much [m] in a step have to be looked at where they meet."""
    return table.kind[b] != PLANE and way > FAST * smaller_width(table, a, b)


@compiled(borrows=True)
def bring_back(table, poses, frames, v, a, b, t, first, last, points_out):
    """Points first..last of shapes a and b, found where they meet after t [s], as seen from the start: cores
    are where they begin, gaps what they are along the normal of the meeting. Puts the poses back to the start."""
    for k in range(first, last):
        points_out.time[k], points_out.speed[k] = t, point_speed(points_out, k, poses, v)
        for side in range(2):
            body, sign = points_out.pair[k, side], 1.0 - 2.0 * side
            R, core = poses.R[body], points_out.core[k, side]
            points_out.gap[k] -= sign * dot(at(points_out.normal, k), (core[0], core[1], core[2]))
            x, y, z = core[0] - poses.x[body, 0], core[1] - poses.x[body, 1], core[2] - poses.x[body, 2]
            for c in range(3):
                core[c] = R[0, c] * x + R[1, c] * y + R[2, c] * z
    place_shape(table, frames, v, 0.0, a, poses)
    place_shape(table, frames, v, 0.0, b, poses)
    for k in range(first, last):
        for side in range(2):
            body, sign = points_out.pair[k, side], 1.0 - 2.0 * side
            R, core = poses.R[body], points_out.core[k, side]
            x, y, z = core[0], core[1], core[2]
            for c in range(3):
                core[c] = poses.x[body, c] + R[c, 0] * x + R[c, 1] * y + R[c, 2] * z
            points_out.gap[k] += sign * dot(at(points_out.normal, k), (core[0], core[1], core[2]))


@compiled(borrows=True)
def point_speed(points, k, poses, v):
    """How fast the gap of point k grows at velocities v (n, 6) [m/s]."""
    speed = 0.0
    for side in range(2):
        body, sign = points.pair[k, side], 1.0 - 2.0 * side
        R = poses.R[body]
        r0, r1, r2 = (
            points.place[k, 0] - poses.x[body, 0],
            points.place[k, 1] - poses.x[body, 1],
            points.place[k, 2] - poses.x[body, 2],
        )
        w0 = R[0, 0] * v[body, 3] + R[0, 1] * v[body, 4] + R[0, 2] * v[body, 5]
        w1 = R[1, 0] * v[body, 3] + R[1, 1] * v[body, 4] + R[1, 2] * v[body, 5]
        w2 = R[2, 0] * v[body, 3] + R[2, 1] * v[body, 4] + R[2, 2] * v[body, 5]
        speed += sign * points.normal[k, 0] * (v[body, 0] + w1 * r2 - w2 * r1)  # (16.8)
        speed += sign * points.normal[k, 1] * (v[body, 1] + w2 * r0 - w0 * r2)  # (16.8)
        speed += sign * points.normal[k, 2] * (v[body, 2] + w0 * r1 - w1 * r0)  # (16.8)
    return speed


@compiled
def longest_way(arm, v):
    """What two shapes may approach each other at most in a second [m/s], at velocities v (n, 6) and with arms (n,) [m]
    of their farthest vertices."""
    moving, turning = 0.0, 0.0
    for k in range(len(v)):
        moving = max(moving, np.sqrt(v[k, 0] * v[k, 0] + v[k, 1] * v[k, 1] + v[k, 2] * v[k, 2]))
        turning = max(turning, arm[k] * np.sqrt(v[k, 3] * v[k, 3] + v[k, 4] * v[k, 4] + v[k, 5] * v[k, 5]))
    return 2.0 * moving + 2.0 * turning
