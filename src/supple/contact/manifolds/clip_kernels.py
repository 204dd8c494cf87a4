"""Faces that meet: the incident face clipped to the reference face [SH74], and at most eight points of what is left.

A point has a feature by which it is known again: a vertex of the incident face, or which of its edges crosses which
side of the reference face. It stands for a share of the area that goes with the lengths of the sides beside it, which
changes little by little where a corner is cut off. Of more than eight points those farthest along eight directions that
are fixed to the shape are kept, and the deepest. Four chosen by depth and area would change from step to step, and
bodies that lie on them would never come to rest.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.narrow.vectors import add, at, cross, dot, norm, scale, subtract, toward, unit

MAX_POINTS = 9
CUT = 1 << 10  # labels of edges that lie in a side of the reference face
SLACK = 1e-6  # part of the length of a side by which a corner may lie beyond it and stay what it is: flush sides
MORE = 1e-6  # part of the extent by which a point has to be farther than one before it: equals are chosen alike always


class Polygon(NamedTuple):
    """Room for two polygons: x (2, m, 3) [m]; feature, edge (2, m): of each corner and of the edge after it; gap (m,)
    [m] and share (m,) of the corners of one; chosen (9,)."""

    x: np.ndarray
    feature: np.ndarray
    edge: np.ndarray
    gap: np.ndarray
    share: np.ndarray
    chosen: np.ndarray


def make_polygon(size: int) -> Polygon:
    """Room for polygons of so many corners."""
    return Polygon(
        np.full((2, size, 3), np.nan),
        np.full((2, size), -1, np.int64),
        np.full((2, size), -1, np.int64),
        np.full(size, np.nan),
        np.full(size, np.nan),
        np.full(MAX_POINTS, -1, np.int64),
    )


@compiled(borrows=True)
def incident_face(table, poses, body, n):
    """The face of a body whose normal is most against n."""
    first, least, found = table.face_start[body], np.inf, 0
    for f in range(first, table.face_start[body + 1]):
        along = dot(at(poses.normals, f), n)
        if along < least:
            least, found = along, f - first
    return found


@compiled(borrows=True)
def clip_face(table, poses, reference, face, body, incident, room_out):
    """The incident face of a body within the sides of a reference face: how many corners are left, in room 0 or 1."""
    f, g = table.face_start[reference] + face, table.face_start[body] + incident
    n, first = at(poses.normals, f), table.vertex_start[reference]
    count, now = table.loop_start[g + 1] - table.loop_start[g], 0
    for k in range(count):
        v = table.loop[table.loop_start[g] + k]
        for c in range(3):
            room_out.x[0, k, c] = poses.vertices[table.vertex_start[body] + v, c]
        room_out.feature[0, k], room_out.edge[0, k] = v, k
    sides = table.loop_start[f + 1] - table.loop_start[f]
    for side in range(sides):
        p = at(poses.vertices, first + table.loop[table.loop_start[f] + side])
        q = at(poses.vertices, first + table.loop[table.loop_start[f] + (side + 1) % sides])
        out = unit(cross(subtract(q, p), n))
        count = clip_side(room_out, now, count, add(p, scale(SLACK * norm(subtract(q, p)), out)), out, side)
        now = 1 - now
        if count == 0:
            break
    return count, now


@compiled(borrows=True)
def clip_side(room, now, count, p, out, side):
    """Corners of polygon `now` with out . (x - p) <= 0, written to the other one; returns their number."""
    after, filled = 1 - now, 0
    for k in range(count):
        m = k + 1 if k + 1 < count else 0
        x, y = at(room.x[now], k), at(room.x[now], m)
        here, there = dot(out, subtract(x, p)), dot(out, subtract(y, p))
        if here <= 0.0:
            put(room, after, filled, x, room.feature[now, k], room.edge[now, k])
            filled += 1
            if there > 0.0 and here < 0.0:
                cut = (1 + room.edge[now, k]) * 2 * CUT + side
                put(room, after, filled, toward(x, y, here / (here - there)), cut, CUT + side)
                filled += 1
            elif there > 0.0:
                room.edge[after, filled - 1] = CUT + side
        elif there < 0.0:
            cut = (1 + room.edge[now, k]) * 2 * CUT + side
            put(room, after, filled, toward(x, y, here / (here - there)), cut, room.edge[now, k])
            filled += 1
    return filled


@compiled(inline=True)
def put(room, which, k, x, feature, edge):
    """Write a corner."""
    room.x[which, k, 0], room.x[which, k, 1], room.x[which, k, 2] = x
    room.feature[which, k], room.edge[which, k] = feature, edge


@compiled(borrows=True)
def polygon_area(x, count, n):
    """Area of a polygon's shadow along n [m²]."""
    total = 0.0
    for k in range(1, count - 1):
        total += dot(n, cross(subtract(at(x, k), at(x, 0)), subtract(at(x, k + 1), at(x, 0))))
    return 0.5 * abs(total)


@compiled(borrows=True)
def compute_shares(x, count, share_out):
    """share_out (count,): lengths of the sides beside each corner of a polygon, over twice those of all."""
    around = 0.0
    for k in range(count):
        around += norm(subtract(at(x, k), at(x, k - 1 if k > 0 else count - 1)))
    for k in range(count):
        before = norm(subtract(at(x, k), at(x, k - 1 if k > 0 else count - 1)))
        after = norm(subtract(at(x, k), at(x, k + 1 if k + 1 < count else 0)))
        share_out[k] = (before + after) / (2.0 * around) if around > 0.0 else 1.0 / count


@compiled(borrows=True)
def choose_points(x, gap, count, limit, n, room_out):
    """Of points with a gap below the limit at most nine; returns how many."""
    near, deepest = 0, -1
    for k in range(count):
        if gap[k] < limit:
            if near < MAX_POINTS:
                room_out.chosen[near] = k
            near += 1
            if deepest < 0 or gap[k] < gap[deepest]:
                deepest = k
    if near < MAX_POINTS:
        return near
    along = subtract(at(x, 1), at(x, 0))
    one = unit(subtract(along, scale(dot(along, n), n)))
    two, extent = cross(n, one), norm(subtract(at(x, count // 2), at(x, 0)))
    near = 0
    for turn in range(8):
        direction = add(scale(np.cos(0.25 * np.pi * turn), one), scale(np.sin(0.25 * np.pi * turn), two))
        best, found = -np.inf, -1
        for k in range(count):
            reach = dot(direction, subtract(at(x, k), at(x, 0)))
            if gap[k] < limit and reach > best + MORE * extent:
                best, found = reach, k
        near = add_chosen(room_out, near, found)
    return add_chosen(room_out, near, deepest)


@compiled(inline=True)
def add_chosen(room, near, k):
    """Choose point k, unless it is chosen; returns how many are."""
    for m in range(near):
        if room.chosen[m] == k:
            return near
    room.chosen[near] = k
    return near + 1


@compiled(borrows=True)
def closest_on_lines(p, d, q, w):
    """Points of the segments p + s d and q + t w that are nearest to each other, both within them; s, t."""
    dd, ww, dw, r = dot(d, d), dot(w, w), dot(d, w), subtract(p, q)
    dr, wr = dot(d, r), dot(w, r)
    det = dd * ww - dw * dw
    s = 0.5
    if dd <= 0.0:
        s = 0.0
    elif det > 1e-12 * dd * ww:
        s = min(max((dw * wr - ww * dr) / det, 0.0), 1.0)  # (16.4)
    t = min(max((dw * s + wr) / ww, 0.0), 1.0) if ww > 0.0 else 0.0  # (16.4)
    s = min(max((dw * t - dr) / dd, 0.0), 1.0) if dd > 0.0 else 0.0
    return s, t


@compiled(inline=True)
def midway(a, b):
    """(a + b) / 2."""
    return scale(0.5, add(a, b))


@compiled(inline=True)
def length(a, b):
    """|a - b|."""
    return norm(subtract(a, b))
