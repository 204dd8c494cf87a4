"""Points against points: balls of the two radii, where one of them at least has any.

    d(t) = d_0 + t w,  0 <= t <= 1         vector between the centres during the step
    t_1 :  |d| = r_1 + r_2                 where they first meet; else where they are nearest
    n = d(t_1) / |d(t_1)|,   gap = n . d_0 - r_1 - r_2

Along n a pair that passes by keeps its distance, and one that meets is stopped however far it moves. Balls of one body
that overlap at rest do not touch each other.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.narrow.vectors import add, at, dot, norm, scale, subtract
from supple.contact.pairs import POINT_POINT

OVERLAP = 1e-6  # of the radii: less than this at rest is rounding
TINY = 1e-9  # a distance this small against the radii has no direction of its own


@compiled(inline=True)
def first_time(d, w, radii):
    """When two balls first meet, or else are nearest, in parts of the step."""
    a, b, c = dot(w, w), dot(d, w), dot(d, d) - radii * radii
    if b >= 0.0 or c <= 0.0:
        return 0.0
    square = b * b - a * c
    t = c / (-b + np.sqrt(square)) if square > 0.0 else -b / a  # (16.7)
    return min(t, 1.0)


@compiled(borrows=True)
def meet_points(shape, settings, x, end, i, j, count, pairs_out):
    """Write the contact of points i and j, if it is one and fits; returns the new count."""
    radii = shape.vertex_radius[i] + shape.vertex_radius[j]
    if radii <= 0.0:
        return count
    at_rest = norm(subtract(at(shape.rest, i), at(shape.rest, j)))
    if shape.vertex_body[i] == shape.vertex_body[j] and at_rest < (1.0 - OVERLAP) * radii:
        return count
    d = subtract(at(x, i), at(x, j))
    w = subtract(subtract(at(end, i), at(end, j)), d) if settings.moves else (0.0, 0.0, 0.0)
    e = add(d, scale(first_time(d, w, radii), w))
    distance = norm(e)
    if distance >= radii + settings.margin:
        return count
    n = scale(1.0 / distance, e) if distance > TINY * radii else (0.0, 0.0, 1.0)  # (16.7)
    if count < len(pairs_out.gap):
        pairs_out.points[count, 0], pairs_out.weights[count, 0] = i, 1.0
        pairs_out.points[count, 1], pairs_out.weights[count, 1] = j, -1.0
        for m in range(2, 4):
            pairs_out.points[count, m], pairs_out.weights[count, m] = -1, 0.0
        pairs_out.normal[count, 0], pairs_out.normal[count, 1], pairs_out.normal[count, 2] = n
        pairs_out.gap[count], pairs_out.kind[count] = dot(n, d) - radii, POINT_POINT  # (16.7)
        pairs_out.area[count] = min(shape.vertex_area[i], shape.vertex_area[j])
    return count + 1


@compiled(borrows=True)
def add_point_contacts(shape, workspace, settings, x, end, near_count, count, pairs_out):
    """Contacts of points with points near them, after `count` others; returns how many there are."""
    for row in range(near_count):
        i, t = workspace.near[row, 0], workspace.near[row, 1]
        if shape.is_points[shape.triangle_body[t]]:
            j = shape.triangles[t, 0]
            count = meet_points(shape, settings, x, end, min(i, j), max(i, j), count, pairs_out)
    return count
