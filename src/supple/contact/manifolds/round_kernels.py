"""Balls and capsules: against each other, a polytope and a half-space, by closed forms.

ball      gap = distance of its centre - radius
capsule   the same of its axis; where it lies along a face, of both ends of what lies over the face
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.manifolds.clip_kernels import closest_on_lines
from supple.contact.manifolds.points import emit, set_core
from supple.contact.narrow.vectors import add, at, cross, dot, norm, scale, subtract, toward, unit

TINY = 1e-12  # a distance this small against the radius has no direction of its own
ALONG = 0.02  # sine of the angle within which two axes, or an axis and a face, lie along each other


@compiled(inline=True)
def first_end(table, poses, body):
    """One end of a core: the centre of a ball."""
    return at(poses.vertices, table.vertex_start[body])


@compiled(inline=True)
def last_end(table, poses, body):
    """The other end: the same point of a ball."""
    return at(poses.vertices, table.vertex_start[body + 1] - 1)


@compiled(inline=True)
def shadow_area(table, body, length):
    """What a ball, or so long a part of a capsule, hides of what is below it [m²]."""
    r = table.radius[body]
    return np.pi * r * r + 2.0 * r * length


@compiled(borrows=True)
def round_on_half_space(table, poses, a, b, margin, count, points_out):
    """Points of a ball or capsule a near the half-space b."""
    n, r = (poses.R[b, 0, 2], poses.R[b, 1, 2], poses.R[b, 2, 2]), table.radius[a]
    offset = dot(n, at(poses.x, b))
    first, last = table.vertex_start[a], table.vertex_start[a + 1]
    length = norm(subtract(at(poses.vertices, last - 1), at(poses.vertices, first)))
    for v in range(first, last):
        c = at(poses.vertices, v)
        gap = dot(n, c) - offset - r  # (16.11)
        if gap < margin:
            place = subtract(c, scale(r + 0.5 * gap, n))
            emit(points_out, count, a, b, v - first, n, gap, place, shadow_area(table, a, length) / (last - first))
            set_core(points_out, count, 0, c)
            count += 1
    return count


@compiled(borrows=True)
def round_on_round(table, poses, a, b, margin, count, points_out):
    """One point of two balls or capsules, two where axes lie along each other."""
    p, q = first_end(table, poses, a), first_end(table, poses, b)
    d, w = subtract(last_end(table, poses, a), p), subtract(last_end(table, poses, b), q)
    r, dd, ww = table.radius[a] + table.radius[b], dot(d, d), dot(w, w)
    area = min(shadow_area(table, a, 0.0), shadow_area(table, b, 0.0))
    if dd > 0.0 and ww > 0.0:
        across = cross(d, w)
        if dot(across, across) < ALONG * ALONG * dd * ww:
            s0, s1 = dot(subtract(q, p), d) / dd, dot(subtract(add(q, w), p), d) / dd
            low, high = max(0.0, min(s0, s1)), min(1.0, max(s0, s1))
            if high > low:
                share = (high - low) * np.sqrt(dd) * min(table.radius[a], table.radius[b])
                for k in range(2):
                    x = add(p, scale(low if k == 0 else high, d))
                    t = min(max(dot(subtract(x, q), w) / ww, 0.0), 1.0)
                    y = add(q, scale(t, w))
                    count = put_round(a, b, k, x, y, table.radius[a], r, 0.5 * area + share, margin, count, points_out)
                return count
    s, t = closest_on_lines(p, d, q, w)
    x, y = add(p, scale(s, d)), add(q, scale(t, w))
    return put_round(a, b, 0, x, y, table.radius[a], r, area, margin, count, points_out)


@compiled(inline=True)
def put_round(a, b, feature, x, y, r_a, r, area, margin, count, points_out):
    """The point between cores x and y with radii r together, if it is near; returns the new count."""
    d = subtract(x, y)
    distance = norm(d)
    gap = distance - r  # (16.7)
    if gap >= margin:
        return count
    n = scale(1.0 / distance, d) if distance > TINY * r else (0.0, 0.0, 1.0)  # (16.7)
    emit(points_out, count, a, b, feature, n, gap, subtract(x, scale(r_a + 0.5 * gap, n)), area)
    set_core(points_out, count, 0, x)
    set_core(points_out, count, 1, y)
    return count + 1


@compiled(borrows=True)
def point_from_hull(table, poses, body, c):
    """Distance of a point c from a polytope [m], negative inside, and the outward normal there."""
    f0, f1, v0 = table.face_start[body], table.face_start[body + 1], table.vertex_start[body]
    inside, n_in = -np.inf, (0.0, 0.0, 1.0)
    best, n = np.inf, (0.0, 0.0, 1.0)
    for f in range(f0, f1):
        normal = at(poses.normals, f)
        away = dot(normal, c) - poses.offsets[f]
        if away > inside:
            inside, n_in = away, normal
        if 0.0 < away < best and is_over(table, poses, v0, f, c):
            best, n = away, normal
    if inside <= 0.0:
        return inside, n_in
    for e in range(table.edge_start[body], table.edge_start[body + 1]):
        p, q = at(poses.vertices, v0 + table.edges[e, 0]), at(poses.vertices, v0 + table.edges[e, 1])
        d = subtract(q, p)
        t = min(max(dot(subtract(c, p), d) / dot(d, d), 0.0), 1.0)
        way = subtract(c, toward(p, q, t))
        square = dot(way, way)
        if square < best * best:
            best, n = np.sqrt(square), unit(way)
    return best, n


@compiled(borrows=True)
def is_over(table, poses, v0, face, c):
    """Whether a point lies over a face: within all of its sides."""
    n, start, end = at(poses.normals, face), table.loop_start[face], table.loop_start[face + 1]
    for k in range(start, end):
        p = at(poses.vertices, v0 + table.loop[k])
        q = at(poses.vertices, v0 + table.loop[k + 1 if k + 1 < end else start])
        if dot(cross(subtract(q, p), n), subtract(c, p)) > 0.0:
            return False
    return True


@compiled(borrows=True)
def round_on_hull(table, poses, a, b, margin, sign, count, points_out):
    """Points of a ball or capsule a on polytope b; sign -1: the polytope is the first of the pair."""
    p, q, r = first_end(table, poses, a), last_end(table, poses, a), table.radius[a]
    d = subtract(q, p)
    length = norm(d)
    if length == 0.0:
        distance, n = point_from_hull(table, poses, b, p)
        area = shadow_area(table, a, 0.0)
        return put_on_hull(a, b, 0, p, n, distance, r, area, margin, sign, count, points_out)
    face, s, distance, n = axis_from_hull(table, poses, b, p, q)
    if distance - r >= margin:
        return count
    if face >= 0 and abs(dot(n, d)) < ALONG * length:
        low, high = over_face(table, poses, b, face, p, d)
        if high > low:
            area, flat = 0.5 * shadow_area(table, a, (high - low) * length), at(poses.normals, face)
            nearer = 0 if dot(flat, d) > 0.0 else 1
            for k in range(2):
                x = add(p, scale(low if k == 0 else high, d))
                away, normal = dot(flat, x) - poses.offsets[face], flat
                if k == nearer and away > distance + TINY * r:  # the nearest point lies beside the face
                    x, away, normal = add(p, scale(s, d)), distance, n
                count = put_on_hull(a, b, k, x, normal, away, r, area, margin, sign, count, points_out)
            return count
    x, area = add(p, scale(s, d)), shadow_area(table, a, 0.0)
    return put_on_hull(a, b, 0, x, n, distance, r, area, margin, sign, count, points_out)


@compiled(inline=True)
def put_on_hull(a, b, feature, x, n, distance, r, area, margin, sign, count, points_out):
    """The point of a core x at a distance from a polytope along n, if it is near; returns the new count."""
    gap = distance - r  # (16.7)
    if gap >= margin:
        return count
    place = subtract(x, scale(r + 0.5 * gap, n))
    if sign > 0.0:
        emit(points_out, count, a, b, feature, n, gap, place, area)
        set_core(points_out, count, 0, x)
    else:
        emit(points_out, count, b, a, feature, scale(-1.0, n), gap, place, area)
        set_core(points_out, count, 1, x)
    return count + 1


@compiled(borrows=True)
def axis_from_hull(table, poses, body, p, q):
    """Of a segment pq and a polytope: the face that is nearest or -1, where on the segment, distance [m] and normal."""
    f0, v0, d = table.face_start[body], table.vertex_start[body], subtract(q, p)
    s_f, face, n_f = -np.inf, -1, (0.0, 0.0, 1.0)
    for f in range(f0, table.face_start[body + 1]):
        n = at(poses.normals, f)
        away = min(dot(n, p), dot(n, q)) - poses.offsets[f]
        if away > s_f:
            s_f, face, n_f = away, f, n
    s_e, n_e, best, s, n = -np.inf, n_f, np.inf, 0.0, n_f
    for e in range(table.edge_start[body], table.edge_start[body + 1]):
        y = at(poses.vertices, v0 + table.edges[e, 0])
        w = subtract(at(poses.vertices, v0 + table.edges[e, 1]), y)
        t, u = closest_on_lines(p, d, y, w)
        way = subtract(add(p, scale(t, d)), add(y, scale(u, w)))
        if dot(way, way) < best * best:
            best, s, n = norm(way), t, unit(way)
        axis = cross(d, w)
        if dot(axis, axis) > 1e-8 * dot(d, d) * dot(w, w):
            axis = unit(axis)
            for turn in (1.0, -1.0):
                out = scale(turn, axis)
                away = dot(out, subtract(p, y))
                if away > s_e and is_outmost(table, poses, body, out, dot(out, y)):
                    s_e, n_e = away, out
    if max(s_f, s_e) <= 0.0:  # the segment cuts the polytope
        if s_f >= s_e:
            return face, 0.0 if dot(n_f, d) > 0.0 else 1.0, s_f, n_f
        return -1, segment_middle(table, poses, body, p, d), s_e, n_e
    for k in range(2):
        away, out = point_from_hull(table, poses, body, p if k == 0 else q)
        if 0.0 < away <= best:
            best, s, n = away, float(k), out
    return face if dot(n, n_f) > 1.0 - ALONG * ALONG else -1, s, best, n


@compiled(borrows=True)
def is_outmost(table, poses, body, n, reach):
    """Whether no vertex of a body lies farther along n than `reach`."""
    for v in range(table.vertex_start[body], table.vertex_start[body + 1]):
        if dot(n, at(poses.vertices, v)) > reach + 1e-9 * (1.0 + abs(reach)):
            return False
    return True


@compiled(borrows=True)
def segment_middle(table, poses, body, p, d):
    """The middle of the part of a segment that lies within a polytope."""
    low, high = 0.0, 1.0
    for f in range(table.face_start[body], table.face_start[body + 1]):
        n = at(poses.normals, f)
        low, high = clipped(low, high, dot(n, p) - poses.offsets[f], dot(n, d))
    return 0.5 * (low + high)


@compiled(borrows=True)
def over_face(table, poses, body, face, p, d):
    """The part of a segment p + s d that lies over a face: from low to high."""
    n, v0, low, high = at(poses.normals, face), table.vertex_start[body], 0.0, 1.0
    start, end = table.loop_start[face], table.loop_start[face + 1]
    for k in range(start, end):
        x = at(poses.vertices, v0 + table.loop[k])
        y = at(poses.vertices, v0 + table.loop[k + 1 if k + 1 < end else start])
        out = cross(subtract(y, x), n)
        low, high = clipped(low, high, dot(out, subtract(p, x)), dot(out, d))
    return low, high


@compiled(inline=True)
def clipped(low, high, away, rate):
    """What of low..high has away + s rate <= 0."""
    if rate > 0.0:
        high = min(high, -away / rate)
    elif rate < 0.0:
        low = max(low, -away / rate)
    elif away > 0.0:
        high = low - 1.0
    return low, high
