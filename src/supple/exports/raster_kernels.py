"""Kernels that fill triangles into pixels, the nearest one in each.

    brightness = ambient + diffuse max(0, n . l) + frontal n . e       n: normal, l: to the light, e: to the eye

A point's normal is the mean over its triangles, by the sines of their angles there, where these are much alike: round
bodies look round, edges stay sharp. Both sides of a triangle are seen; its normal is turned to the eye.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled

Array = np.ndarray
AMBIENT, DIFFUSE, FRONTAL = 0.48, 0.56, 0.1
FLATTEST = 0.94
"""Length of the mean of the unit normals around a point beyond which it is taken for one of a smooth surface."""


class Drawn(NamedTuple):
    """points (n, 3) [m], normals (n, 4): see `add_normals`, triangles (k, 3); colours (m, 3) red, green, blue, 0 to 1,
    and corner_colour (k, 3): the row of `colours` at each corner."""

    points: Array
    normals: Array
    triangles: Array
    colours: Array
    corner_colour: Array


class Projection(NamedTuple):
    """rows (4, 4): column and row [pixels], nearness to the eye and height above the ground [m] of a point (x, 1); eye,
    light (3,): directions to them; lowest [m]: what is lower above the ground is not seen."""

    rows: Array
    eye: Array
    light: Array
    lowest: float


@compiled
def add_normals(points, triangles, normals_out):
    """Add the normals of triangles to their points, as long as the sines of their angles there, and these sines."""
    for k in range(len(triangles)):
        for corner in range(3):
            a, b, c = triangles[k, corner], triangles[k, (corner + 1) % 3], triangles[k, (corner + 2) % 3]
            ux, uy, uz = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
            vx, vy, vz = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1], points[c, 2] - points[a, 2]
            product = np.sqrt((ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz))
            if product > 0.0:
                nx, ny, nz = (uy * vz - uz * vy) / product, (uz * vx - ux * vz) / product, (ux * vy - uy * vx) / product
                normals_out[a, 0] += nx
                normals_out[a, 1] += ny
                normals_out[a, 2] += nz
                normals_out[a, 3] += np.sqrt(nx * nx + ny * ny + nz * nz)


@compiled
def paint(drawn, projection, depth_out, pixels_out):
    """Fill the triangles. depth_out (h, w): nearness of what is seen, -inf where nothing is; pixels_out (h, w, 3)."""
    height, width = depth_out.shape
    at, tint, triangles = projected(drawn.points, projection.rows), np.empty((3, 3)), drawn.triangles
    for k in range(len(triangles)):
        a, b, c = at[triangles[k, 0]], at[triangles[k, 1]], at[triangles[k, 2]]
        left = max(0, int(np.ceil(min(a[0], b[0], c[0]) - 0.5)))
        right = min(width - 1, int(np.floor(max(a[0], b[0], c[0]) - 0.5)))
        top = max(0, int(np.ceil(min(a[1], b[1], c[1]) - 0.5)))
        bottom = min(height - 1, int(np.floor(max(a[1], b[1], c[1]) - 0.5)))
        area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        if left > right or top > bottom or area == 0.0:
            continue
        is_shaded, ax, ay = False, a[0] - 0.5, a[1] - 0.5
        bx, by, cx, cy = (b[0] - a[0]) / area, (b[1] - a[1]) / area, (c[0] - a[0]) / area, (c[1] - a[1]) / area
        for row in range(top, bottom + 1):
            for column in range(left, right + 1):
                x, y = column - ax, row - ay
                w1, w2 = x * cy - cx * y, bx * y - x * by
                w0 = 1.0 - w1 - w2
                if w0 < 0.0 or w1 < 0.0 or w2 < 0.0:
                    continue
                depth, above = w0 * a[2] + w1 * b[2] + w2 * c[2], w0 * a[3] + w1 * b[3] + w2 * c[3]
                if depth <= depth_out[row, column] or above < projection.lowest:
                    continue
                if not is_shaded:
                    shade(drawn, k, projection, tint)
                    is_shaded = True
                depth_out[row, column] = depth
                for i in range(3):
                    pixels_out[row, column, i] = w0 * tint[0, i] + w1 * tint[1, i] + w2 * tint[2, i]


@compiled
def projected(points, rows):
    """Column, row, nearness and height of points, (n, 4)."""
    at = np.empty((len(points), 4))
    for p in range(len(points)):
        for i in range(4):
            at[p, i] = rows[i, 0] * points[p, 0] + rows[i, 1] * points[p, 1] + rows[i, 2] * points[p, 2] + rows[i, 3]
    return at


@compiled
def shade(drawn, k, projection, tint_out):
    """Colours of the corners of a triangle in the light, (3, 3)."""
    normal = face_normal(drawn.points, drawn.triangles[k], projection.eye)
    for a in range(3):
        brightness = lit(drawn.normals[drawn.triangles[k, a]], normal, projection)
        for i in range(3):
            tint_out[a, i] = min(1.0, brightness * drawn.colours[drawn.corner_colour[k, a], i])


@compiled
def face_normal(p, triangle, eye):
    """The unit normal of a triangle, on the side of the eye."""
    a, b, c = triangle
    ux, uy, uz = p[b, 0] - p[a, 0], p[b, 1] - p[a, 1], p[b, 2] - p[a, 2]
    vx, vy, vz = p[c, 0] - p[a, 0], p[c, 1] - p[a, 1], p[c, 2] - p[a, 2]
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    scale = 1.0 / max(np.sqrt(x * x + y * y + z * z), 1e-300)
    if x * eye[0] + y * eye[1] + z * eye[2] < 0.0:
        scale = -scale
    return scale * x, scale * y, scale * z


@compiled
def lit(smooth, flat, projection):
    """How bright a corner is, by the mean normal of its point where that is smooth, on the triangle's side."""
    x, y, z = flat
    length = np.sqrt(smooth[0] * smooth[0] + smooth[1] * smooth[1] + smooth[2] * smooth[2])
    if length > FLATTEST * smooth[3]:
        scale = np.sign(smooth[0] * x + smooth[1] * y + smooth[2] * z) / length
        x, y, z = scale * smooth[0], scale * smooth[1], scale * smooth[2]
    light, eye = projection.light, projection.eye
    diffuse, frontal = x * light[0] + y * light[1] + z * light[2], x * eye[0] + y * eye[1] + z * eye[2]
    return AMBIENT + DIFFUSE * max(0.0, diffuse) + FRONTAL * max(0.0, frontal)
