"""Separating axes of two polytopes: the direction along which they overlap least, or are farthest apart.

    s(n) = min over B of n . x  -  max over A of n . x              the best n: a face's normal, or across two edges

A face wins against edges, and the first body's face against the second's, where both say nearly the same: what flush
faces touch with then does not change from step to step. Pairs of edges of hulls are those whose arcs cross on the
sphere of normals [Gre13]; of boxes all nine [GLM96]. Directions are from A to B.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.narrow.vectors import at, cross, dot, scale, subtract

FACE_A, FACE_B, EDGES = 0, 1, 2
PARALLEL = 0.999  # cosine of the angle within which two directions say nearly the same
ALIKE = 1e-2  # part of the size by which one is then preferred
EQUAL = 1e-6  # the same of directions that differ
SKEW = 1e-8  # square of the sine of the angle between edges that are not parallel


@compiled(inline=True)
def best_of(first, n_first, second, n_second, size):
    """Whether the second direction is to be taken: it separates by more than the first by what counts."""
    lead = ALIKE if dot(n_first, n_second) > PARALLEL else EQUAL
    return second > first + lead * size


@compiled(borrows=True)
def box_separation(table, poses, a, b):
    """Of two boxes: FACE_A, FACE_B or EDGES, the number of the face or edge of each, s [m] and n."""
    fa, fb = table.face_start[a], table.face_start[b]
    t = subtract(at(poses.x, b), at(poses.x, a))
    size = min(table.half[a, 0], table.half[a, 1], table.half[a, 2])
    size = min(size, min(table.half[b, 0], table.half[b, 1], table.half[b, 2]))
    s_a, i_a, n_a = -np.inf, 0, (1.0, 0.0, 0.0)
    s_b, i_b, n_b = -np.inf, 0, (1.0, 0.0, 0.0)
    for i in range(3):
        axis = at(poses.normals, fa + 2 * i)
        along = dot(t, axis)
        reach = table.half[a, i]
        for j in range(3):
            reach += table.half[b, j] * abs(dot(axis, at(poses.normals, fb + 2 * j)))
        if abs(along) - reach > s_a:  # (16.13)
            s_a, i_a, n_a = abs(along) - reach, 2 * i + (along < 0.0), scale(1.0 if along >= 0.0 else -1.0, axis)
        axis = at(poses.normals, fb + 2 * i)
        along = dot(t, axis)
        reach = table.half[b, i]
        for j in range(3):
            reach += table.half[a, j] * abs(dot(axis, at(poses.normals, fa + 2 * j)))
        if abs(along) - reach > s_b:  # (16.13)
            s_b, i_b, n_b = abs(along) - reach, 2 * i + (along >= 0.0), scale(1.0 if along >= 0.0 else -1.0, axis)
    s_e, e_a, e_b, n_e = -np.inf, 0, 0, (1.0, 0.0, 0.0)
    for i in range(3):
        for j in range(3):
            axis = cross(at(poses.normals, fa + 2 * i), at(poses.normals, fb + 2 * j))
            square = dot(axis, axis)
            if square < SKEW:
                continue
            axis = scale(1.0 / np.sqrt(square), axis)
            along = dot(t, axis)
            reach = 0.0
            for k in range(3):
                reach += table.half[a, k] * abs(dot(axis, at(poses.normals, fa + 2 * k)))
                reach += table.half[b, k] * abs(dot(axis, at(poses.normals, fb + 2 * k)))
            if abs(along) - reach > s_e:  # (16.13)
                s_e, e_a, e_b, n_e = abs(along) - reach, i, j, scale(1.0 if along >= 0.0 else -1.0, axis)
    code, one, two, s, n = FACE_A, i_a, -1, s_a, n_a
    if best_of(s_a, n_a, s_b, n_b, size):
        code, one, two, s, n = FACE_B, i_b, -1, s_b, n_b
    if best_of(s, n, s_e, n_e, size):
        code, s, n = EDGES, s_e, n_e
        one = support_edge(table, poses, a, e_a, n)
        two = support_edge(table, poses, b, e_b, scale(-1.0, n))
    return code, one, two, s, n


@compiled(borrows=True)
def support_edge(table, poses, body, axis, n):
    """The edge of a box along one of its axes that lies farthest along n."""
    first, v0 = table.edge_start[body], table.vertex_start[body]
    along = at(poses.normals, table.face_start[body] + 2 * axis)
    best, found = -np.inf, 0
    for e in range(first, table.edge_start[body + 1]):
        p, q = at(poses.vertices, v0 + table.edges[e, 0]), at(poses.vertices, v0 + table.edges[e, 1])
        d = subtract(q, p)
        if abs(dot(d, along)) < 0.5 * np.sqrt(dot(d, d)):
            continue
        reach = dot(n, p) + dot(n, q)
        if reach > best:
            best, found = reach, e - first
    return found


@compiled(borrows=True)
def lowest(poses, first, last, n):
    """min n . x over vertices."""
    low = np.inf
    for v in range(first, last):
        low = min(low, dot(n, at(poses.vertices, v)))
    return low


@compiled(borrows=True)
def hull_separation(table, poses, a, b, margin):
    """The same of two polytopes; where a face is farther than the margin [m], the search ends there."""
    va, va1, vb, vb1 = (
        table.vertex_start[a],
        table.vertex_start[a + 1],
        table.vertex_start[b],
        table.vertex_start[b + 1],
    )
    fa, fb = table.face_start[a], table.face_start[b]
    s_a, i_a, n_a = -np.inf, 0, (1.0, 0.0, 0.0)
    for f in range(fa, table.face_start[a + 1]):
        n = at(poses.normals, f)
        s = lowest(poses, vb, vb1, n) - poses.offsets[f]  # (16.13)
        if s > s_a:
            s_a, i_a, n_a = s, f - fa, n
    if s_a > margin:
        return FACE_A, i_a, -1, s_a, n_a
    s_b, i_b, n_b = -np.inf, 0, (1.0, 0.0, 0.0)
    for f in range(fb, table.face_start[b + 1]):
        n = at(poses.normals, f)
        s = lowest(poses, va, va1, n) - poses.offsets[f]  # (16.13)
        if s > s_b:
            s_b, i_b, n_b = s, f - fb, scale(-1.0, n)
    if s_b > margin:
        return FACE_B, i_b, -1, s_b, n_b
    s_e, e_a, e_b, n_e = -np.inf, 0, 0, (1.0, 0.0, 0.0)
    for e in range(table.edge_start[a], table.edge_start[a + 1]):
        p = at(poses.vertices, va + table.edges[e, 0])
        d = subtract(at(poses.vertices, va + table.edges[e, 1]), p)
        n1, n2 = at(poses.normals, fa + table.edges[e, 2]), at(poses.normals, fa + table.edges[e, 3])
        for g in range(table.edge_start[b], table.edge_start[b + 1]):
            m1 = scale(-1.0, at(poses.normals, fb + table.edges[g, 2]))
            m2 = scale(-1.0, at(poses.normals, fb + table.edges[g, 3]))
            if not arcs_cross(n1, n2, m1, m2):
                continue
            q = at(poses.vertices, vb + table.edges[g, 0])
            w = subtract(at(poses.vertices, vb + table.edges[g, 1]), q)
            axis = cross(d, w)
            square = dot(axis, axis)
            if square < SKEW * dot(d, d) * dot(w, w):
                continue
            axis = scale((1.0 if dot(axis, n1) + dot(axis, n2) >= 0.0 else -1.0) / np.sqrt(square), axis)
            s = dot(axis, subtract(q, p))  # (16.13)
            if s > s_e:
                s_e, e_a, e_b, n_e = s, e - table.edge_start[a], g - table.edge_start[b], axis
    size = min(span(poses, va, va1), span(poses, vb, vb1))
    code, one, two, s, n = FACE_A, i_a, -1, s_a, n_a
    if best_of(s_a, n_a, s_b, n_b, size):
        code, one, two, s, n = FACE_B, i_b, -1, s_b, n_b
    if best_of(s, n, s_e, n_e, size):
        code, one, two, s, n = EDGES, e_a, e_b, s_e, n_e
    return code, one, two, s, n


@compiled(borrows=True)
def span(poses, first, last):
    """A length of a polytope: half the way from its first vertex to its farthest."""
    most = 0.0
    for v in range(first + 1, last):
        d = subtract(at(poses.vertices, v), at(poses.vertices, first))
        most = max(most, dot(d, d))
    return 0.5 * np.sqrt(most)


@compiled(inline=True)
def arcs_cross(a, b, c, d):
    """Whether the arcs ab and cd of the unit sphere cross [Gre13]."""
    ab, cd = cross(a, b), cross(c, d)
    cba, dba = -dot(c, ab), -dot(d, ab)
    adc, bdc = -dot(a, cd), -dot(b, cd)
    return cba * dba < 0.0 and adc * bdc < 0.0 and cba * bdc > 0.0
