"""Outward normals of faces, edges and vertices whose sign tells inside from outside, and the areas that face a contact.

A point is outside a closed surface if the vector to it from the nearest point has a positive product with the normal
there: of the face, the sum of unit normals at an edge, the sum weighted by angles at a vertex [BA05].
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.narrow.vectors import add, at, cross, dot, norm, scale, subtract, unit


@compiled(inline=True)
def face_normal(shape, x, t):
    """Unit normal of triangle t."""
    a = at(x, shape.triangles[t, 0])
    return unit(cross(subtract(at(x, shape.triangles[t, 1]), a), subtract(at(x, shape.triangles[t, 2]), a)))


@compiled(borrows=True)
def edge_normal(shape, x, e):
    """Sum of the unit normals at edge e."""
    n = (0.0, 0.0, 0.0)
    for k in range(shape.edge_first[e], shape.edge_first[e + 1]):
        n = add(n, face_normal(shape, x, shape.edge_triangles[k]))  # (16.2), [BA05]
    return n


@compiled(borrows=True)
def angle_normal(shape, x, v):
    """Sum of the unit normals around vertex v, weighted by angles."""
    n = (0.0, 0.0, 0.0)
    p = at(x, v)
    for k in range(shape.vertex_first[v], shape.vertex_first[v + 1]):
        t = shape.vertex_triangles[k]
        i, j, l = shape.triangles[t, 0], shape.triangles[t, 1], shape.triangles[t, 2]
        if j == v:
            i, j, l = j, l, i
        elif l == v:
            i, j, l = l, i, j
        e, g = subtract(at(x, j), p), subtract(at(x, l), p)
        c = cross(e, g)
        sine = norm(c)
        if sine > 0.0:
            n = add(n, scale(np.arctan2(sine, dot(e, g)) / sine, c))  # (16.2), [BA05]
    return n


@compiled(inline=True)
def vertex_normal(shape, workspace, stamp, x, v):
    """The same, computed once a search."""
    if workspace.normal_stamp[v] != stamp:
        n = angle_normal(shape, x, v)
        workspace.normal[v, 0], workspace.normal[v, 1], workspace.normal[v, 2] = n
        workspace.normal_stamp[v] = stamp
    return at(workspace.normal, v)


@compiled(inline=True)
def feature_normal(shape, workspace, stamp, x, t, w):
    """Normal, not unit, of the face, edge or corner of triangle t that carries the weights w."""
    used = (w[0] > 0.0) + (w[1] > 0.0) + (w[2] > 0.0)
    if used == 3:
        return face_normal(shape, x, t)
    if used == 2:
        k = 0 if w[0] <= 0.0 else (1 if w[1] <= 0.0 else 2)
        return edge_normal(shape, x, shape.triangle_edges[t, k])
    k = 0 if w[0] > 0.0 else (1 if w[1] > 0.0 else 2)
    return vertex_normal(shape, workspace, stamp, x, shape.triangles[t, k])


@compiled(borrows=True)
def facing_area(shape, x, v, n):
    """The share of vertex v in the triangles that look against n, as seen along n [m²]; sheets look both ways."""
    area = 0.0
    closed = shape.closed[shape.vertex_body[v]]
    for k in range(shape.vertex_first[v], shape.vertex_first[v + 1]):
        t = shape.vertex_triangles[k]
        c = -dot(face_normal(shape, x, t), n)
        area += shape.triangle_area[t] / 3.0 * (max(c, 0.0) if closed else abs(c))  # (16.1)
    return area


@compiled(borrows=True)
def in_cone(shape, x, e, n, slack):
    """Whether n points away from edge e over all of its faces: no face at the edge leans into n by more than slack."""
    i, j = shape.edges[e, 0], shape.edges[e, 1]
    p, d = at(x, i), subtract(at(x, j), at(x, i))
    length2 = dot(d, d)
    for k in range(shape.edge_first[e], shape.edge_first[e + 1]):
        t = shape.edge_triangles[k]
        third = shape.triangles[t, 0] + shape.triangles[t, 1] + shape.triangles[t, 2] - i - j
        u = subtract(at(x, third), p)
        inward = subtract(u, scale(dot(u, d) / length2, d))
        if dot(inward, n) > slack * norm(inward):
            return False
    return True
