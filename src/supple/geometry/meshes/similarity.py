"""Similarities: a uniform scale, a rotation and a shift, and the best one between two sets of points.

    y = s R x + t,   R = U diag(1, 1, det U V^T) V^T,   U D V^T = sum (y - ȳ)(x - x̄)^T,   s = tr(D') / sum |x - x̄|²

is the least-squares fit [Horn87], with D' = D with the sign of its last entry as in R.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from supple.geometry.meshes.region import FloatArray, IntArray

SLACK = 3.0
"""Times the tolerance: lengths that differ by less may be the same while pairs of points are looked for."""
MAX_TRIALS = 300


@dataclass(frozen=True, eq=False)
class Similarity:
    """y = scale * rotation @ x + shift. scale [-]; rotation (3, 3), proper; shift [m], (3,)."""

    scale: float
    rotation: FloatArray
    shift: FloatArray

    def apply(self, points: FloatArray) -> FloatArray:
        """Images of points (n, 3) [m]."""
        return self.scale * points @ self.rotation.T + self.shift

    def apply_inverse(self, points: FloatArray) -> FloatArray:
        """Originals of points (n, 3) [m]."""
        return (points - self.shift) @ self.rotation / self.scale


def fit_similarity(x: FloatArray, y: FloatArray) -> Similarity:
    """The similarity that maps points x (n, 3) best onto y (n, 3); see the module.

    >>> square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    >>> round(fit_similarity(square, 3 * square[[1, 2, 3, 0]]).scale, 12)
    3.0
    """
    x0, y0 = x.mean(axis=0), y.mean(axis=0)
    U, D, V = np.linalg.svd((y - y0).T @ (x - x0))
    sign = np.array([1.0, 1.0, np.sign(np.linalg.det(U) * np.linalg.det(V))])
    R = (U * sign) @ V
    scale = float((D * sign).sum() / ((x - x0) ** 2).sum())
    return Similarity(scale, R, y0 - scale * R @ x0)


def match_points(x: FloatArray, y: FloatArray, tolerance: float) -> tuple[Similarity, IntArray] | None:
    """The similarity that maps points x (n, 3) onto y (n, 3) in another order, and the y of each x, (n,).

    tolerance: largest distance, as a fraction of the size of y (root mean square distance from its mean). None where
    there is no such similarity. Two points of x, as rare as possible by their distance from the mean, are tried on all
    pairs of points of y at the same distances: with the mean each pair gives a rotation.
    """
    if len(x) != len(y):
        return None
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    size_a, size_b = (float(np.sqrt((p**2).sum(axis=1).mean())) for p in (a, b))
    if size_a == 0 or size_b == 0:
        return None
    a, b = a / size_a, b / size_b
    far_a, far_b = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
    loose = SLACK * tolerance
    if np.abs(np.sort(far_a) - np.sort(far_b)).max() > loose:
        return None
    first, second = _anchors(a, far_a, loose)
    if first < 0:
        return None
    tree, trials = cKDTree(b), 0
    for i in np.flatnonzero(np.abs(far_b - far_a[first]) < loose):
        gap = np.linalg.norm(b - b[i], axis=1)
        alike = (np.abs(far_b - far_a[second]) < loose) & (np.abs(gap - np.linalg.norm(a[first] - a[second])) < loose)
        for j in np.flatnonzero(alike):
            trials += 1
            if trials > MAX_TRIALS:
                return None
            if np.linalg.norm(np.cross(b[i], b[j])) < 1e-3:
                continue
            R = _frame(b[i], b[j]) @ _frame(a[first], a[second]).T
            found = _settle(x, y, a @ R.T, tree, tolerance * size_b)
            if found is not None:
                return found
    return None


def _anchors(a: FloatArray, far: FloatArray, loose: float) -> tuple[int, int]:
    """Two points out of line with the mean whose distances from it are rare; -1 where all are in line."""
    order = np.sort(far)
    alike = np.searchsorted(order, far + loose) - np.searchsorted(order, far - loose)
    usable = far > 0.1
    if not usable.any():
        return -1, -1
    first = int(np.lexsort((-far, np.where(usable, alike, len(far) + 1)))[0])
    across = np.linalg.norm(np.cross(a, a[first] / far[first]), axis=1)
    usable = across > 0.3 * across.max() if across.max() > 0.01 else np.zeros(len(far), dtype=bool)
    if not usable.any():
        return -1, -1
    return first, int(np.lexsort((-across, np.where(usable, alike, len(far) + 1)))[0])


def _frame(u: FloatArray, v: FloatArray) -> FloatArray:
    """Right-handed axes (3, 3), as columns, of two vectors out of line."""
    e = u / np.linalg.norm(u)
    n = np.cross(u, v)
    n = n / np.linalg.norm(n)
    return np.stack([e, np.cross(n, e), n], axis=1)


def _settle(
    x: FloatArray, y: FloatArray, turned: FloatArray, tree: cKDTree, distance: float
) -> tuple[Similarity, IntArray] | None:
    """Pair nearest points, fit, and pair again; accept where every point has its own partner within the distance."""
    _, partner = tree.query(turned)
    for _ in range(3):
        if len(np.unique(partner)) < len(partner):
            return None
        fit = fit_similarity(x, y[partner])
        if np.linalg.norm(fit.apply(x) - y[partner], axis=1).max() <= distance:
            return fit, partner.astype(np.int64)
        size = float(np.sqrt(((y - y.mean(axis=0)) ** 2).sum(axis=1).mean()))
        _, partner = tree.query((fit.apply(x) - y.mean(axis=0)) / size)
    return None
