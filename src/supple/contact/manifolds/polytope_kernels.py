"""Two polytopes, and a polytope on a half-space: the points in which faces, edges and corners meet."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.manifolds.clip_kernels import (
    choose_points,
    clip_face,
    closest_on_lines,
    compute_shares,
    incident_face,
    midway,
    polygon_area,
)
from supple.contact.manifolds.points import LEAST, emit
from supple.contact.manifolds.separation_kernels import EDGES, FACE_A, box_separation, hull_separation
from supple.contact.manifolds.table import BOX
from supple.contact.narrow.vectors import add, at, dot, scale, subtract

FACES = 1 << 12  # more than any shape has
SMALL, FADING = 0.5, 0.05  # faces that share less than SMALL of the smaller one count as this part, fading below FADING


@compiled(borrows=True)
def meet_polytopes(table, poses, a, b, margin, room, count, points_out):
    """Points of two polytopes with gaps below a margin [m]; returns the new count."""
    if table.kind[a] == BOX and table.kind[b] == BOX:
        code, one, two, s, n = box_separation(table, poses, a, b)
    else:
        code, one, two, s, n = hull_separation(table, poses, a, b, margin)
    if s > margin:
        return count
    if code == EDGES:
        return meet_edges(table, poses, a, b, one, two, n, count, points_out)
    if code == FACE_A:
        return meet_face(table, poses, a, b, a, one, b, s, margin, room, count, points_out)
    return meet_face(table, poses, a, b, b, one, a, s, margin, room, count, points_out)


@compiled(borrows=True)
def meet_face(table, poses, a, b, reference, face, body, s, margin, room, count, points_out):
    """Points of a body on a face of the reference, which is one of a and b."""
    n = at(poses.normals, table.face_start[reference] + face)
    offset = poses.offsets[table.face_start[reference] + face]
    incident = incident_face(table, poses, body, n)
    corners, now = clip_face(table, poses, reference, face, body, incident, room)
    normal = scale(-1.0, n) if reference == a else n
    label = ((reference == b) * FACES + face) * FACES + incident
    if corners == 0:
        if s > 0.0:
            return count
        return meet_lowest(table, poses, a, b, body, n, offset, normal, label, count, points_out)
    x = room.x[now]
    for k in range(corners):
        room.gap[k] = dot(n, at(x, k)) - offset  # (16.11)
    compute_shares(x, corners, room.share)
    area = shared_area(table, poses, reference, face, body, incident, x, corners)
    near, kept = choose_points(x, room.gap, corners, margin, n, room), 1.0
    if near < corners:
        kept = 0.0
        for k in range(corners):
            kept += room.share[k] if room.gap[k] >= margin else 0.0
        for m in range(near):
            kept += room.share[room.chosen[m]]
    for m in range(near):
        k = room.chosen[m]
        place = subtract(at(x, k), scale(0.5 * room.gap[k], n))
        feature = label + room.feature[now, k] * FACES * FACES * 2
        emit(points_out, count, a, b, feature, normal, room.gap[k], place, area * room.share[k] / kept)
        count += 1
    return count


@compiled(borrows=True)
def shared_area(table, poses, reference, face, body, incident, x, corners):
    """The area that two faces share, in the plane of the first [m²], with least values where it is small or steep."""
    f, g = table.face_start[reference] + face, table.face_start[body] + incident
    n, m = at(poses.normals, f), at(poses.normals, g)
    area = max(polygon_area(x, corners, n), LEAST * polygon_area(x, corners, m))
    whole = min(table.areas[f], max(LEAST, -dot(n, m)) * table.areas[g])
    return max(area, SMALL * whole * min(1.0, area / (FADING * whole)))


@compiled(borrows=True)
def meet_lowest(table, poses, a, b, body, n, offset, normal, label, count, points_out):
    """The one vertex of a body that lies deepest behind a face."""
    first, low, found = table.vertex_start[body], np.inf, 0
    for v in range(first, table.vertex_start[body + 1]):
        along = dot(n, at(poses.vertices, v))
        if along < low:
            low, found = along, v - first
    gap, x = low - offset, at(poses.vertices, first + found)
    area = corner_area(table, poses, body, found, n)
    place = subtract(x, scale(0.5 * gap, n))
    emit(points_out, count, a, b, label + found * FACES * FACES * 2, normal, gap, place, area)
    return count + 1


@compiled(borrows=True)
def meet_edges(table, poses, a, b, one, two, n, count, points_out):
    """The point in which two edges cross; n: from a to b."""
    e, g = table.edge_start[a] + one, table.edge_start[b] + two
    p, q = edge_end(table, poses, a, e, 0), edge_end(table, poses, b, g, 0)
    d, w = subtract(edge_end(table, poses, a, e, 1), p), subtract(edge_end(table, poses, b, g, 1), q)
    s, t = closest_on_lines(p, d, q, w)
    x, y = add(p, scale(s, d)), add(q, scale(t, w))
    area = min(edge_area(table, poses, a, e, n), edge_area(table, poses, b, g, scale(-1.0, n)))
    feature = -1 - (one * FACES + two)
    emit(points_out, count, a, b, feature, scale(-1.0, n), dot(n, subtract(y, x)), midway(x, y), area)
    return count + 1


@compiled(inline=True)
def edge_end(table, poses, body, edge, end):
    """Position of one end of an edge."""
    return at(poses.vertices, table.vertex_start[body] + table.edges[edge, end])


@compiled(borrows=True)
def edge_area(table, poses, body, edge, n):
    """Half of what the two faces at an edge turn to n [m²]."""
    facing, whole = 0.0, 0.0
    for side in range(2):
        f = table.face_start[body] + table.edges[edge, 2 + side]
        facing += table.areas[f] * max(0.0, dot(n, at(poses.normals, f)))
        whole += table.areas[f]
    return 0.5 * max(facing, LEAST * whole)


@compiled(borrows=True)
def corner_area(table, poses, body, vertex, n):
    """What the faces around a vertex turn against n, each shared by its corners [m²]."""
    facing, whole = 0.0, 0.0
    v = table.vertex_start[body] + vertex
    for k in range(table.ring_start[v], table.ring_start[v + 1]):
        f = table.face_start[body] + table.ring[k]
        share = table.areas[f] / (table.loop_start[f + 1] - table.loop_start[f])
        facing += share * max(0.0, -dot(n, at(poses.normals, f)))
        whole += share
    return max(facing, LEAST * whole)


@compiled(borrows=True)
def meet_half_space(table, poses, a, b, margin, room, count, points_out):
    """Corners of polytope a near the half-space b; what those left out stand for is shared by those chosen."""
    n = (poses.R[b, 0, 2], poses.R[b, 1, 2], poses.R[b, 2, 2])
    offset, first = dot(n, at(poses.x, b)), table.vertex_start[a]
    corners, total = 0, 0.0
    for v in range(first, table.vertex_start[a + 1]):
        gap = dot(n, at(poses.vertices, v)) - offset  # (16.11)
        if gap < margin and corners < len(room.gap):
            for c in range(3):
                room.x[0, corners, c] = poses.vertices[v, c]
            room.feature[0, corners], room.gap[corners] = v - first, gap
            total += corner_area(table, poses, a, v - first, n)
            corners += 1
    near, kept = choose_points(room.x[0], room.gap, corners, np.inf, n, room), 0.0
    for m in range(near):
        kept += corner_area(table, poses, a, room.feature[0, room.chosen[m]], n)
    for m in range(near):
        k = room.chosen[m]
        area = corner_area(table, poses, a, room.feature[0, k], n) * total / kept
        place = subtract(at(room.x[0], k), scale(0.5 * room.gap[k], n))
        emit(points_out, count, a, b, room.feature[0, k], n, room.gap[k], place, area)
        count += 1
    return count
