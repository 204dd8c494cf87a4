"""Nearest points of a vertex and a triangle, of two edges, and the time at which a vertex meets a moving triangle, or
two moving edges meet.

triangle   region of the plane by the signs of six dot products; weights outside the feature are exactly zero
edges      min |p1 + s d1 - p2 - t d2|, inside both edges or not at all: what touches at an end touches with a vertex
meeting    (p - a) . ((b - a) x (c - a)) = 0 with all four moving straight: a cubic in time [Provot97]; of edges
           (p1 - p2) . (d1 x d2) = 0
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.narrow.vectors import add, blend, cross, dot, subtract, toward

PARALLEL = 1e-8  # squared sine of the angle below which two edges are parallel
OUTSIDE = -1e-9  # a meeting this little outside a triangle is inside: no gap between neighbours


@compiled(inline=True)
def triangle_weights(p, a, b, c):
    """Weights of the corners a, b, c at the point of the triangle nearest to p."""
    ab, ac, ap = subtract(b, a), subtract(c, a), subtract(p, a)
    bp, cp = subtract(p, b), subtract(p, c)
    d1, d2 = dot(ab, ap), dot(ac, ap)
    d3, d4 = dot(ab, bp), dot(ac, bp)
    d5, d6 = dot(ab, cp), dot(ac, cp)
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2  # (16.3)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = d1 / (d1 - d3)
        return 1.0 - v, v, 0.0
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6)
        return 1.0 - w, 0.0, w
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - w, w
    total = va + vb + vc
    return va / total, vb / total, vc / total


@compiled(inline=True)
def edge_parameters(p1, q1, p2, q2):
    """s and t of the nearest points p1 + s (q1 - p1) and p2 + t (q2 - p2); -1 unless both lie inside their edges."""
    d1, d2, r = subtract(q1, p1), subtract(q2, p2), subtract(p1, p2)
    a, e, b, c, f = dot(d1, d1), dot(d2, d2), dot(d1, d2), dot(d1, r), dot(d2, r)
    determinant = a * e - b * b
    if determinant <= PARALLEL * a * e:
        return -1.0, -1.0
    s, t = (b * f - c * e) / determinant, (a * f - b * c) / determinant  # (16.4)
    if s <= 0.0 or s >= 1.0 or t <= 0.0 or t >= 1.0:
        return -1.0, -1.0
    return s, t


@compiled(inline=True)
def cubic(c0, c1, c2, c3, t):
    """c0 + c1 t + c2 t² + c3 t³."""
    return c0 + t * (c1 + t * (c2 + t * c3))


@compiled
def root_between(c0, c1, c2, c3, low, high):
    """The zero of a cubic that changes its sign once between low and high: Newton's steps, halves where they leave."""
    falling = cubic(c0, c1, c2, c3, low) > 0.0
    t = 0.5 * (low + high)
    for _ in range(60):
        f = cubic(c0, c1, c2, c3, t)
        if (f > 0.0) == falling:
            low = t
        else:
            high = t
        slope = c1 + t * (2.0 * c2 + t * 3.0 * c3)
        better = t - f / slope if slope != 0.0 else low
        if not low < better < high:
            better = 0.5 * (low + high)
        if abs(better - t) <= 1e-15:
            break
        t = better
    return t


@compiled(inline=True)
def volume_cubic(u, e, g, du, de, dg):
    """Coefficients in time of u . (e x g), three vectors that change by du, de, dg in the step."""
    m0, m2 = cross(e, g), cross(de, dg)
    m1 = add(cross(e, dg), cross(de, g))
    k0, k1 = dot(u, m0), dot(u, m1) + dot(du, m0)  # (16.5), [Provot97]
    k2, k3 = dot(u, m2) + dot(du, m1), dot(du, m2)  # (16.5), [Provot97]
    return k0, k1, k2, k3


@compiled(inline=True)
def keeps_sign(k0, k1, k2, k3):
    """Whether a cubic has surely no zero in 0 ... 1."""
    h1, h2, h3 = k0 + k1 / 3.0, k0 + (2.0 * k1 + k2) / 3.0, k0 + k1 + k2 + k3  # Bezier's values: a hull
    return (k0 > 0.0 and h1 > 0.0 and h2 > 0.0 and h3 > 0.0) or (k0 < 0.0 and h1 < 0.0 and h2 < 0.0 and h3 < 0.0)


@compiled(inline=True)
def turning_times(k1, k2, k3):
    """Where a cubic turns, within 0 ... 1: in between it is monotone."""
    t0, t1 = 1.0, 1.0
    square = k2 * k2 - 3.0 * k1 * k3
    if square > 0.0:
        q = -(k2 + np.copysign(np.sqrt(square), k2))
        t0 = q / (3.0 * k3) if k3 != 0.0 else 1.0
        t1 = k1 / q if q != 0.0 else 1.0
        if t0 > t1:
            t0, t1 = t1, t0
        t0 = t0 if 0.0 < t0 < 1.0 else (0.0 if t0 <= 0.0 else 1.0)
        t1 = t1 if 0.0 < t1 < 1.0 else (0.0 if t1 <= 0.0 else 1.0)
    return t0, t1


@compiled
def edge_meeting(p1, q1, p2, q2, p1e, q1e, p2e, q2e):
    """When two edges from p1 q1 and p2 q2 to p1e q1e and p2e q2e first cross, in parts of the step, or 2; and their
    parameters there."""
    u, e, g = subtract(p1, p2), subtract(q1, p1), subtract(q2, p2)
    du, de, dg = subtract(subtract(p1e, p2e), u), subtract(subtract(q1e, p1e), e), subtract(subtract(q2e, p2e), g)
    k0, k1, k2, k3 = volume_cubic(u, e, g, du, de, dg)
    if keeps_sign(k0, k1, k2, k3):
        return 2.0, -1.0, -1.0
    t0, t1 = turning_times(k1, k2, k3)
    for part in range(3):
        low = 0.0 if part == 0 else (t0 if part == 1 else t1)
        high = t0 if part == 0 else (t1 if part == 1 else 1.0)
        if high <= low:
            continue
        before, after = cubic(k0, k1, k2, k3, low), cubic(k0, k1, k2, k3, high)
        if before == 0.0 or before * after > 0.0:
            continue
        time = root_between(k0, k1, k2, k3, low, high)
        s, t = edge_parameters(
            toward(p1, p1e, time), toward(q1, q1e, time), toward(p2, p2e, time), toward(q2, q2e, time)
        )
        if s > 0.0:
            return time, s, t
    return 2.0, -1.0, -1.0


@compiled
def meeting(p, a, b, c, p1, a1, b1, c1):
    """When a vertex from p to p1 first meets a triangle that moves from a, b, c to a1, b1, c1, in parts of the step.

    Returns the time in 0 ... 1, or 2; the side it comes from, +1 in front of the triangle or -1; and the weights of the
    corners there.
    """
    none = (2.0, 0.0, 0.0, 0.0, 0.0)
    u, e, g = subtract(p, a), subtract(b, a), subtract(c, a)
    du, de, dg = subtract(subtract(p1, a1), u), subtract(subtract(b1, a1), e), subtract(subtract(c1, a1), g)
    k0, k1, k2, k3 = volume_cubic(u, e, g, du, de, dg)
    if keeps_sign(k0, k1, k2, k3):
        return none
    t0, t1 = turning_times(k1, k2, k3)
    for part in range(3):
        low = 0.0 if part == 0 else (t0 if part == 1 else t1)
        high = t0 if part == 0 else (t1 if part == 1 else 1.0)
        if high <= low:
            continue
        before, after = cubic(k0, k1, k2, k3, low), cubic(k0, k1, k2, k3, high)
        if before == 0.0 or before * after > 0.0:
            continue
        t = root_between(k0, k1, k2, k3, low, high)
        pt, at, bt, ct = toward(p, p1, t), toward(a, a1, t), toward(b, b1, t), toward(c, c1, t)
        n = cross(subtract(bt, at), subtract(ct, at))
        square_area = dot(n, n)
        if square_area == 0.0:
            continue
        wb = dot(cross(subtract(pt, at), subtract(ct, at)), n) / square_area  # (16.6)
        wc = dot(cross(subtract(bt, at), subtract(pt, at)), n) / square_area  # (16.6)
        wa = 1.0 - wb - wc
        if wa < OUTSIDE or wb < OUTSIDE or wc < OUTSIDE:
            continue
        wa, wb, wc = max(wa, 0.0), max(wb, 0.0), max(wc, 0.0)
        total = wa + wb + wc
        return t, 1.0 if before > 0.0 else -1.0, wa / total, wb / total, wc / total
    return none


@compiled(inline=True)
def nearest_vector(p, a, b, c):
    """Weights of the nearest point of a triangle, and the vector from it to p."""
    w = triangle_weights(p, a, b, c)
    return w, subtract(p, blend(w, a, b, c))
