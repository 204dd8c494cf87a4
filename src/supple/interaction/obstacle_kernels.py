"""Signed distances of points from obstacles with formulas. Outputs: gap [m], (k,), and unit normals, (k, 3)."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled


@compiled
def compute_plane_distance(x, n, offset, gap_out, normal_out):
    """Plane n . x = offset."""
    for i in range(len(x)):
        gap_out[i] = x[i, 0] * n[0] + x[i, 1] * n[1] + x[i, 2] * n[2] - offset  # (16.11)
        normal_out[i, 0], normal_out[i, 1], normal_out[i, 2] = n[0], n[1], n[2]


@compiled
def compute_capsule_distance(x, start, end, radius, gap_out, normal_out):
    """Capsule between start and end (3,); a ball where they are one point. On its axis the normal is across it."""
    ux, uy, uz = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    square = ux * ux + uy * uy + uz * uz
    for i in range(len(x)):
        dx, dy, dz = x[i, 0] - start[0], x[i, 1] - start[1], x[i, 2] - start[2]
        s = min(max((dx * ux + dy * uy + dz * uz) / square, 0.0), 1.0) if square > 0.0 else 0.0  # (16.11)
        dx, dy, dz = dx - s * ux, dy - s * uy, dz - s * uz
        length = np.sqrt(dx * dx + dy * dy + dz * dz)
        gap_out[i] = length - radius  # (16.11)
        if length == 0.0:  # any direction across the axis, the most upward one
            dx, dy, dz = (-ux * uz, -uy * uz, square - uz * uz) if square > 0.0 else (0.0, 0.0, 1.0)
            length = np.sqrt(dx * dx + dy * dy + dz * dz)
            if length <= 1e-12 * square:
                dx, dy, dz, length = 1.0, 0.0, 0.0, 1.0
        normal_out[i, 0], normal_out[i, 1], normal_out[i, 2] = dx / length, dy / length, dz / length


@compiled
def compute_box_distance(x, centre, axes, half, gap_out, normal_out):
    """Box with rows of axes (3, 3) and half edges (3,). Inside, the nearest face gives the normal."""
    for i in range(len(x)):
        square, best, face = 0.0, -np.inf, 0
        for a in range(3):
            p = 0.0
            for c in range(3):
                p += axes[a, c] * (x[i, c] - centre[c])
            q = abs(p) - half[a]  # (16.12)
            if q > 0.0:
                square += q * q
            if q > best:
                best, face = q, a
        distance = np.sqrt(square)
        gap_out[i] = distance if best > 0.0 else best  # (16.12)
        for c in range(3):
            normal_out[i, c] = 0.0
        for a in range(3):
            p = 0.0
            for c in range(3):
                p += axes[a, c] * (x[i, c] - centre[c])
            weight = 0.0
            if best > 0.0:
                weight = max(abs(p) - half[a], 0.0) / distance
            elif a == face:
                weight = 1.0
            for c in range(3):
                normal_out[i, c] += np.copysign(weight, p) * axes[a, c]


@compiled
def compute_height_distance(x, heights, place, gap_out, normal_out):
    """Height field (rows, columns) with place: origin (2,) and spacing (2,), bilinear, level beyond its borders."""
    for i in range(len(x)):
        h, hx, hy = sample_heights(heights, place, x[i, 0], x[i, 1])
        nz = 1.0 / np.sqrt(1.0 + hx * hx + hy * hy)
        gap_out[i] = (x[i, 2] - h) * nz  # (16.12)
        normal_out[i, 0], normal_out[i, 1], normal_out[i, 2] = -hx * nz, -hy * nz, nz


@compiled(borrows=True)
def sample_heights(ground, place, x, y):
    """Height and slopes of the ground at (x, y); flat beyond its samples."""
    rows, columns = ground.shape
    a, b = (x - place[0]) / place[2], (y - place[1]) / place[3]
    i = min(max(int(np.floor(a)), 0), rows - 2)
    j = min(max(int(np.floor(b)), 0), columns - 2)
    u, w = a - i, b - j
    in_x, in_y = 0.0 <= u <= 1.0, 0.0 <= w <= 1.0
    u, w = min(max(u, 0.0), 1.0), min(max(w, 0.0), 1.0)
    low, high = (1 - u) * ground[i, j] + u * ground[i + 1, j], (1 - u) * ground[i, j + 1] + u * ground[i + 1, j + 1]
    slope_x = ((1 - w) * (ground[i + 1, j] - ground[i, j]) + w * (ground[i + 1, j + 1] - ground[i, j + 1])) / place[2]
    slope_y = (high - low) / place[3]
    return (1 - w) * low + w * high, slope_x if in_x else 0.0, slope_y if in_y else 0.0
