"""Finer triangles for contact: pressure is carried at vertices, so large triangles are cut."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
COARSE = 0.26
"""Largest edge of a rigid body's surface, over the body's size."""


def subdivided(nodes: Array, triangles: Array) -> tuple[Array, Array]:
    """Every triangle cut into four at its middles, until the longest edge is COARSE of the size (n, 3) of the nodes."""
    longest = COARSE * float(np.ptp(nodes, axis=0).max())
    while True:
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        if np.linalg.norm(nodes[edges[:, 0]] - nodes[edges[:, 1]], axis=1).max() <= longest:
            return nodes, triangles
        ends, number = np.unique(edges, axis=0, return_inverse=True)
        ab, bc, ca = (len(nodes) + number.reshape(-1, 3)).T
        a, b, c = triangles.T
        nodes = np.concatenate([nodes, nodes[ends].mean(axis=1)])
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = np.concatenate([np.stack(part, axis=1) for part in parts])
