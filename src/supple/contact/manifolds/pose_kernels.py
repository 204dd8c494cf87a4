"""Where shapes are in the world: their frames turned to matrices, vertices, faces, and boxes around them."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.manifolds.table import PLANE


@compiled
def compute_poses(table, frames, v, h, margin, poses_out, reach_out):
    """Fill poses from frames (n, 7): position and quaternion (w, x, y, z); boxes are widened by half the margin [m] and
    by what velocities v (n, 6) [m/s; rad/s in body axes] carry within h [s]; reach_out (n,) [m]: way by turning alone.
    """
    for k in range(len(frames)):
        square = place_shape(table, frames, v, 0.0, k, poses_out)
        r = table.radius[k]
        turning = np.sqrt(v[k, 3] * v[k, 3] + v[k, 4] * v[k, 4] + v[k, 5] * v[k, 5])
        reach_out[k] = h * turning * np.sqrt(square)
        for c in range(3):
            if table.kind[k] == PLANE:
                poses_out.box[k, c], poses_out.box[k, 3 + c] = -np.inf, np.inf
                continue
            wide = r + 0.5 * margin + reach_out[k]
            poses_out.box[k, c] += min(0.0, h * v[k, c]) - wide
            poses_out.box[k, 3 + c] += max(0.0, h * v[k, c]) + wide


@compiled(borrows=True)
def place_shape(table, frames, v, t, k, poses):
    """Pose of shape k where velocities v (n, 6) bring it from its frame after t [s]; returns the square of the largest
    arm of its vertices. Its box is that of the vertices alone."""
    w, x, y, z = frames[k, 3], frames[k, 4], frames[k, 5], frames[k, 6]
    a, b, d = t * v[k, 3], t * v[k, 4], t * v[k, 5]
    angle = np.sqrt(a * a + b * b + d * d)
    if angle > 0.0:
        part = 0.5 - angle * angle / 48.0 if angle < 1e-4 else np.sin(0.5 * angle) / angle
        p, q, r, s = np.cos(0.5 * angle), part * a, part * b, part * d  # (1.6)
        w, x, y, z = (
            w * p - x * q - y * r - z * s,  # (1.2)
            w * q + x * p + y * s - z * r,
            w * r - x * s + y * p + z * q,
            w * s + x * r - y * q + z * p,
        )
    R = poses.R[k]
    R[0, 0], R[0, 1], R[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)  # (1.5)
    R[1, 0], R[1, 1], R[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)  # (1.5)
    R[2, 0], R[2, 1], R[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)  # (1.5)
    for c in range(3):
        poses.x[k, c] = frames[k, c] + t * v[k, c]
    square = place_vertices(table, poses, k)
    place_faces(table, poses, k)
    return square


@compiled(borrows=True)
def place_vertices(table, poses, k):
    """World positions of the vertices of shape k and the box around them; returns the square of their largest arm."""
    R, x, largest = poses.R[k], poses.x[k], 0.0
    for c in range(3):
        poses.box[k, c], poses.box[k, 3 + c] = np.inf, -np.inf
    for i in range(table.vertex_start[k], table.vertex_start[k + 1]):
        a, b, d = table.vertices[i, 0], table.vertices[i, 1], table.vertices[i, 2]
        largest = max(largest, a * a + b * b + d * d)
        for c in range(3):
            p = x[c] + R[c, 0] * a + R[c, 1] * b + R[c, 2] * d
            poses.vertices[i, c] = p
            poses.box[k, c] = min(poses.box[k, c], p)
            poses.box[k, 3 + c] = max(poses.box[k, 3 + c], p)
    return largest


@compiled(borrows=True)
def place_faces(table, poses, k):
    """World normals and offsets of the faces of shape k."""
    R = poses.R[k]
    for f in range(table.face_start[k], table.face_start[k + 1]):
        a, b, d = table.normals[f, 0], table.normals[f, 1], table.normals[f, 2]
        v = table.vertex_start[k] + table.loop[table.loop_start[f]]
        offset = 0.0
        for c in range(3):
            poses.normals[f, c] = R[c, 0] * a + R[c, 1] * b + R[c, 2] * d
            offset += poses.normals[f, c] * poses.vertices[v, c]
        poses.offsets[f] = offset
