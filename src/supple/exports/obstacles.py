"""Obstacles as surfaces to be drawn: nodes (n, 3) [m] and outward triangles (k, 3).

Planes have no end; a square of a given size stands for each, around the point of it that is nearest to a place.
"""

from __future__ import annotations

import numpy as np

from supple.algebra.dense import rotations
from supple.exports.seen import Seen
from supple.record.files.obstacles import RecordedObstacle

Array = np.ndarray
Surface = tuple[Array, Array]
AROUND, ALONG = 24, 12
"""Corners of round shapes: of a circle, and from pole to pole."""
CUBE = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 7, 5], [4, 6, 7], [0, 5, 1], [0, 4, 5], [2, 3, 7], [2, 7, 6], [0, 6, 4], [0, 2, 6],
     [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def drawn_obstacles(trajectory: Seen, frame: int, place: Array, size: float) -> dict[str, Surface]:
    """All obstacles at a frame, by name. place (3,), size [m]: of the squares that stand for planes."""
    found = {}
    for obstacle, pose in zip(trajectory.obstacles, trajectory.poses(frame)):
        R = rotations.to_matrix(pose[3:])
        nodes, triangles = obstacle_surface(obstacle, (place - pose[:3]) @ R, size)
        found[obstacle.name] = pose[:3] + nodes @ R.T, triangles
    return found


def is_plane(obstacle: RecordedObstacle) -> bool:
    """Whether an obstacle has no end."""
    return obstacle.kind in ("Plane", "Floor")


def obstacle_surface(obstacle: RecordedObstacle, place: Array, size: float) -> Surface:
    """An obstacle where it is given."""
    s = obstacle.shape
    if is_plane(obstacle):
        return _square(s["normal"], float(s["offset"]), place, size)
    if obstacle.kind == "Sphere":
        return _capsule(s["centre"], s["centre"], float(s["radius"]))
    if obstacle.kind == "Capsule":
        return _capsule(s["start"], s["end"], float(s["radius"]))
    if obstacle.kind == "Box":
        signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return s["centre"] + signs * s["edges"] / 2 @ rotations.to_matrix(s["rotation"]).T, CUBE
    if obstacle.kind == "HeightField":
        return _heights(s["heights"], s["origin"], s["spacing"])
    return s["nodes"], s["triangles"]


def _square(normal: Array, offset: float, place: Array, size: float) -> Surface:
    middle = place + (offset - normal @ place) * normal
    a = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    a /= np.linalg.norm(a)
    b = np.cross(normal, a)
    corners = [middle + size / 2 * (i * a + j * b) for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return np.array(corners), np.array([[0, 1, 2], [0, 2, 3]])


def _capsule(start: Array, end: Array, radius: float) -> Surface:
    """Two half balls around the ends of a line, and what is between."""
    way = end - start
    length = float(np.linalg.norm(way))
    z = way / length if length else np.array([0.0, 0, 1])
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    turn, polar = np.linspace(0, 2 * np.pi, AROUND, endpoint=False), np.linspace(0, np.pi, ALONG + 1)[1:-1]
    ring = np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * np.cross(z, x)
    centres = [end if angle <= np.pi / 2 else start for angle in polar]
    rows = [c + radius * (np.sin(p) * ring + np.cos(p) * z) for c, p in zip(centres, polar)]
    nodes = np.concatenate([[end + radius * z], *rows, [start - radius * z]])
    k, after = np.arange(AROUND), np.roll(np.arange(AROUND), -1)
    last, below = len(nodes) - 1, 1 + AROUND * (len(rows) - 1)
    triangles = [np.stack([0 * k, 1 + k, 1 + after], 1), np.stack([last + 0 * k, below + after, below + k], 1)]
    for row in range(len(rows) - 1):
        a, b = 1 + AROUND * row, 1 + AROUND * (row + 1)
        triangles += [np.stack([a + k, b + k, b + after], 1), np.stack([a + k, b + after, a + after], 1)]
    return nodes, np.concatenate(triangles)


def _heights(heights: Array, origin: Array, spacing: Array) -> Surface:
    i, j = np.meshgrid(*(np.arange(n) for n in heights.shape), indexing="ij")
    nodes = np.stack([origin[0] + i * spacing[0], origin[1] + j * spacing[1], heights], axis=-1).reshape(-1, 3)
    number = np.arange(heights.size).reshape(heights.shape)
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    return nodes, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
