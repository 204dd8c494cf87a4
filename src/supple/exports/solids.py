"""Solids as they are drawn: springs as thin tubes, particles as small balls, surfaces in few colours."""

from __future__ import annotations

from functools import cache

import numpy as np

from supple.exports.canvas import Solid

Array = np.ndarray
SIDES = 6
"""Of a tube."""


def distinct(colours: Array) -> tuple[Array, Array]:
    """Colours (n, 3), each once, and the number among them of each row, (n,)."""
    key = np.rint(255 * colours).astype(np.int64) @ [65536, 256, 1]
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return colours[first], number.ravel()


def balls(points: Array, colours: Array, radius: float) -> Solid:
    """Balls around points (n, 3); colours (n, 3) or (1, 3); radius [m]."""
    nodes, triangles = unit_ball()
    n, size = len(points), len(nodes)
    x = (points[:, None].astype(float) + radius * nodes).reshape(-1, 3)
    t = (triangles + size * np.arange(n)[:, None, None]).reshape(-1, 3)
    rows = np.repeat(np.arange(n) if len(colours) == n else np.zeros(n, dtype=int), len(triangles))
    return Solid(x, t, colours, np.repeat(rows[:, None], 3, axis=1))


def tubes(points: Array, lines: Array, colours: Array, radius: float) -> Solid:
    """Tubes along lines (l, 2) of points; colours of the points (n, 3) or of all (1, 3); radius [m]."""
    a, b = (points[lines[:, k]].astype(float) for k in (0, 1))
    along = b - a
    length = np.linalg.norm(along, axis=1, keepdims=True)
    along = along / np.where(length > 0, length, 1.0)
    across = np.cross(along, np.eye(3)[np.abs(along).argmin(axis=1)])
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    over, angle = np.cross(along, across), 2 * np.pi * np.arange(SIDES) / SIDES
    rim = radius * (np.cos(angle)[:, None] * across[:, None] + np.sin(angle)[:, None] * over[:, None])
    x = np.concatenate([a[:, None] + rim, b[:, None] + rim], axis=1).reshape(-1, 3)
    k, after = np.arange(SIDES), np.roll(np.arange(SIDES), -1)
    sides = np.concatenate([np.stack([k, after, k + SIDES], 1), np.stack([after, after + SIDES, k + SIDES], 1)])
    t = (sides + 2 * SIDES * np.arange(len(lines))[:, None, None]).reshape(-1, 3)
    ends = lines if len(colours) > 1 else np.zeros_like(lines)
    return Solid(x, t, colours, np.repeat(ends, SIDES, axis=1).reshape(-1)[t])


@cache
def unit_ball() -> tuple[Array, Array]:
    """Nodes (42, 3) and triangles (80, 3) of a ball of radius 1: an icosahedron with its triangles cut in four."""
    g = (1 + 5**0.5) / 2
    corners = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g)]
    nodes = np.array([*corners, (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]) / np.hypot(1, g)
    faces = "0b5 051 017 07a 0ab 159 5b4 ba2 a76 718 394 342 326 368 389 495 24b 62a 867 981"
    triangles = np.array([[int(c, 16) for c in face] for face in faces.split()])
    a, b, c = np.moveaxis(nodes[triangles], 1, 0)
    ab, bc, ca = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (a + b, b + c, c + a))
    quarters = np.concatenate([np.stack(q, 1) for q in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    found, number = np.unique(quarters.reshape(-1, 3).round(9), axis=0, return_inverse=True)
    return found, number.reshape(-1, 3)
