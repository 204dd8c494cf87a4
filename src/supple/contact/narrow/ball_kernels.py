"""Balls that touch a body at more than one place: a groove, a corner, a bowl of flat triangles.

A ball touches wherever its distance from the surface is least among the places around: inside a face; on an edge, where
the way to the centre leans over none of its faces; on a corner, where it leans over none of its edges. The nearest of
these is the contact of a vertex and a triangle as of any vertex. Here are the others, where the centre is outside.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.contact.narrow.closest_kernels import nearest_vector
from supple.contact.narrow.normal_kernels import feature_normal, in_cone
from supple.contact.narrow.vectors import at, dot, norm, scale, subtract
from supple.contact.narrow.vertex_kernels import KEY, MET, NEAR, NEXT, USED, weighted_vector, write_vertex
from supple.contact.pairs import BALL_TRIANGLE

SNAP = 1e-9  # a weight below this is none: the place is on an edge, which one triangle owns
SAME = 1e-6  # of the radii: places nearer to each other are one


@compiled(inline=True)
def snapped(w):
    """Weights without those that rounding leaves."""
    w = (w[0] if w[0] > SNAP else 0.0, w[1] if w[1] > SNAP else 0.0, w[2] if w[2] > SNAP else 0.0)
    return scale(1.0 / (w[0] + w[1] + w[2]), w)


@compiled(borrows=True)
def is_least(shape, x, t, w, n):
    """Whether the place with weights w of triangle t, which owns it, is nearer than all around it to where n leads."""
    used = (w[0] > 0.0) + (w[1] > 0.0) + (w[2] > 0.0)
    if used == 3:
        return True
    if used == 2:
        k = 0 if w[0] == 0.0 else (1 if w[1] == 0.0 else 2)
        return bool(shape.edge_mask[t] >> k & 1) and in_cone(shape, x, shape.triangle_edges[t, k], n, SNAP)
    k = 0 if w[0] > 0.0 else (1 if w[1] > 0.0 else 2)
    v = shape.triangles[t, k]
    if not shape.vertex_mask[t] >> k & 1:
        return False
    for m in range(shape.vertex_first[v], shape.vertex_first[v + 1]):
        for c in range(3):
            e = subtract(at(x, shape.triangles[shape.vertex_triangles[m], c]), at(x, v))
            if dot(e, n) > SNAP * norm(e):
                return False
    return True


@compiled(borrows=True)
def touches_elsewhere(shape, workspace, stamp, x, v, body, d, radii):
    """Whether ball v touches a body, from outside and not by its motion, and nowhere at d from its centre."""
    row, touches = workspace.head[v] if workspace.stamp[v] == stamp else -1, False
    while row >= 0:
        if workspace.whole[row, KEY] >> 1 == body and workspace.whole[row, USED]:
            if workspace.whole[row, MET] >= 0:
                return False
            t = workspace.whole[row, NEAR]
            i, j, k = shape.triangles[t, 0], shape.triangles[t, 1], shape.triangles[t, 2]
            w, e = nearest_vector(at(x, v), at(x, i), at(x, j), at(x, k))
            if norm(subtract(d, e)) <= SAME * radii:
                return False
            if shape.closed[body] and dot(e, feature_normal(shape, workspace, stamp, x, t, w)) < 0.0:
                return False
            touches = True
        row = workspace.whole[row, NEXT]
    return touches


@compiled(borrows=True)
def meet_ball(shape, workspace, settings, x, end, v, t, count, pairs_out):
    """Write the contact of ball v with triangle t beside its nearest one, if it is one and fits; returns the new count.

    The ball's cross-section is its vertex_area.
    """
    body, stamp = shape.triangle_body[t], settings.stamp
    i, j, k = shape.triangles[t, 0], shape.triangles[t, 1], shape.triangles[t, 2]
    w, _ = nearest_vector(at(x, v), at(x, i), at(x, j), at(x, k))
    w = snapped(w)
    d = weighted_vector(shape, x, v, t, w)
    distance, radii = norm(d), shape.vertex_radius[v] + shape.radius[body]
    if distance <= SAME * radii:
        return count
    n, change = scale(1.0 / distance, d), 0.0  # (16.7)
    if settings.moves:
        change = dot(n, weighted_vector(shape, end, v, t, w)) - distance
    if distance - radii + min(change, 0.0) >= settings.margin or not is_least(shape, x, t, w, n):
        return count
    if shape.closed[body] and dot(d, feature_normal(shape, workspace, stamp, x, t, w)) < 0.0:
        return count
    if not touches_elsewhere(shape, workspace, stamp, x, v, body, d, radii):
        return count
    if count < len(pairs_out.gap):
        write_vertex(shape, v, t, w, n, distance - radii, shape.vertex_area[v], count, pairs_out)  # (16.7)
        pairs_out.kind[count] = BALL_TRIANGLE
    return count + 1


@compiled(borrows=True)
def add_ball_contacts(shape, workspace, settings, x, end, near_count, count, pairs_out):
    """Further contacts of balls with triangles near them, after `count` others; returns how many."""
    for row in range(near_count):
        v, t = workspace.near[row, 0], workspace.near[row, 1]
        is_ball = shape.is_points[shape.vertex_body[v]] and shape.vertex_radius[v] > 0.0
        if is_ball and not shape.is_points[shape.triangle_body[t]]:
            count = meet_ball(shape, workspace, settings, x, end, v, t, count, pairs_out)
    return count
