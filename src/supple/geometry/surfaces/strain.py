"""Strain of a surface of triangles or lines: how much longer it is along itself than at rest.

E = (F^T F - I) / 2 in the plane of a triangle; its largest principal value, by its size
|l / l0 - 1| of lines
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def strain_at_points(X: Array, x: Array, triangles: Array, lines: Array) -> Array:
    """At points at rest X and now x (n, 3) [m], (n,) [-]: the mean over the triangles of a point by their area, or over
    its lines where there are no triangles; zero at others."""
    if len(triangles):
        values, weights = surface_strain(X[triangles], x[triangles])
        return mean_at_points(triangles, values, weights, len(X))
    if len(lines):
        l0, l = (np.linalg.norm(p[lines[:, 1]] - p[lines[:, 0]], axis=1) for p in (X, x))
        values = np.abs(np.divide(l, l0, out=np.ones_like(l), where=l0 > 0) - 1)
        return mean_at_points(lines, values, np.ones(len(lines)), len(X))
    return np.zeros(len(X))


def surface_strain(X: Array, x: Array) -> tuple[Array, Array]:
    """Largest principal strain, (k,), and area at rest, (k,) [m²], of triangles with corners X, now x (k, 3, 3) [m].

    In coordinates u, v along two edges, C = G^-1 g with the metrics G and g; E has the eigenvalues (c - 1) / 2.
    """
    G, g = (_metric(corners) for corners in (X, x))
    area = np.sqrt(np.maximum(G[:, 0] * G[:, 2] - G[:, 1] ** 2, 0.0))
    det = np.where(area > 0, area, 1.0) ** 2
    trace = (G[:, 2] * g[:, 0] - 2 * G[:, 1] * g[:, 1] + G[:, 0] * g[:, 2]) / det
    product = np.maximum(g[:, 0] * g[:, 2] - g[:, 1] ** 2, 0.0) / det
    root = np.sqrt(np.maximum(trace**2 / 4 - product, 0.0))
    found = np.maximum(np.abs(trace / 2 + root - 1), np.abs(trace / 2 - root - 1)) / 2
    return np.where(area > 0, found, 0.0), area / 2


def _metric(corners: Array) -> Array:
    """Products of two edges of triangles: aa, ab, bb, (k, 3)."""
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return np.stack([(a * a).sum(axis=1), (a * b).sum(axis=1), (b * b).sum(axis=1)], axis=1)


def mean_at_points(cells: Array, values: Array, weights: Array, count: int) -> Array:
    """Weighted means of values of cells (k,) at the points of these, (count,)."""
    width = cells.shape[1]
    total, weight = (
        np.bincount(cells.ravel(), np.repeat(a, width), minlength=count) for a in (values * weights, weights)
    )
    return np.divide(total, weight, out=np.zeros(count), where=weight > 0)
