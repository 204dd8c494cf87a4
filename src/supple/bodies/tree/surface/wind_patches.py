"""WindPatches: a few flat triangles that stand for the surface of each domain, for drag at a cost that no mesh size
changes.

    N = sum_t A_t n_t,   c = sum_t A_t c_t / sum_t A_t,   u(p) = sum_i w_i u_i,   w_i = a_i / a + (p - c)^T G^+ a_i d_i

The triangles of a class are gathered into patches that are nearly flat. A patch becomes one triangle with its area
vector N and its centroid c. Its corners p follow the affine fit of the patch's own points (a_i: their areas,
d_i = x_i - c, G the moment sum_i a_i d_i d_i^T), so what is pushed there is work on the coordinates. A closed surface
stays closed: the N sum to zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.bodies.tree.domains.domain_tree import DomainTemplate
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface.domain_points import DomainPoints, make_chain
from supple.bodies.tree.surface.skin import ClassPoints, class_points

Array = np.ndarray
FLAT = 0.95
"""Patches are made smaller until their area vectors have this part of the area."""
MAX_PATCHES = 64
ROUNDS = 20
CORNERS = np.array([0.0, 2.0, 4.0]) * np.pi / 3


class WindPatches(NamedTuple):
    """points: a mapping from the tree's coordinates; triangles (t, 3) of them, outward."""

    points: DomainPoints
    triangles: Array

    @classmethod
    def of(cls, model: TreeModel) -> WindPatches:
        """The patches of a model."""
        kinds = model.domain_tree.kinds
        made = [
            class_wind_patches(kinds[c.name], c.U, conforms=len(model.domain_tree.welds) > 0) for c in model.classes
        ]
        sizes = np.array([len(X) for X, _ in made])
        rows = np.concatenate([[0], np.cumsum(sizes)])
        places = np.concatenate([[0], np.cumsum(sizes[model.domain_class])])
        X, U = np.concatenate([X for X, _ in made]), [row for _, modes in made for row in modes]
        chain = make_chain(model, rows[model.domain_class], places, X, U)
        return cls(DomainPoints(chain, found=model.frame_cache), np.arange(int(places[-1])).reshape(-1, 3))


def class_wind_patches(kind: DomainTemplate, U: Array, *, conforms: bool) -> tuple[Array, Array]:
    """Corners X (3 t, 3) [m] of a kind's patches and their basis (3 t, 3, r). conforms: interfaces are faces of a
    cut."""
    seen = class_points(kind, U)
    triangles = seen.triangles[~_cut_faces(kind, seen, conforms)]
    patch = patches(seen.X[triangles])
    X, modes = [], []
    for number in range(patch.max(initial=-1) + 1):
        corners, weights, points = _flattened(seen.X, triangles[patch == number])
        X.append(corners)
        modes.append(np.einsum("kp,pil->kil", weights, seen.U[points]))
    return np.concatenate(X), np.concatenate(modes)


def _cut_faces(kind: DomainTemplate, seen: ClassPoints, conforms: bool) -> Array:
    """Which triangles lie where the kind hangs on its parent or, in a body that was cut, where children hang on it."""
    faces = [kind.held, *(interface.nodes for interface in kind.interfaces.values() if conforms)]
    nodes = seen.node[seen.triangles]
    return np.any([np.isin(nodes, face).all(axis=1) for face in faces], axis=0) & (nodes >= 0).all(axis=1)


def patches(corners: Array) -> Array:
    """Number of the patch of each triangle (t, 3, 3): as few patches as are flat, by Lloyd's iteration."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    area = np.linalg.norm(normal, axis=1)
    centre = corners.mean(axis=1)
    size = float(np.linalg.norm(np.ptp(centre, axis=0))) or 1.0
    feature = np.hstack([normal / np.maximum(area, 1e-300)[:, None], centre / size])
    count, patch = 2, np.zeros(len(corners), dtype=np.int64)
    while True:
        patch = _lloyd(feature, area, min(count, len(corners)))
        sums = np.stack([np.bincount(patch, normal[:, i], minlength=patch.max() + 1) for i in range(3)])
        if np.linalg.norm(sums, axis=0).sum() >= FLAT * area.sum() or count >= min(MAX_PATCHES, len(corners)):
            return patch
        count *= 2


def _lloyd(feature: Array, weight: Array, count: int) -> Array:
    """Groups of features (n, k) about `count` means, started from points far from each other."""
    means = feature[[int(np.argmax(weight))]]
    apart = ((feature - means[0]) ** 2).sum(axis=1)
    while len(means) < count:
        means = np.vstack([means, feature[int(np.argmax(apart))]])
        apart = np.minimum(apart, ((feature - means[-1]) ** 2).sum(axis=1))
    group = np.zeros(len(feature), dtype=np.int64)
    for _ in range(ROUNDS):
        distance = (feature**2).sum(axis=1)[:, None] - 2 * feature @ means.T + (means**2).sum(axis=1)
        group = np.argmin(distance, axis=1)
        total = np.bincount(group, weight, minlength=len(means))
        sums = np.stack([np.bincount(group, weight * f, minlength=len(means)) for f in feature.T], axis=1)
        means = np.where(total[:, None] > 0, sums / np.maximum(total, 1e-300)[:, None], means)
    return np.unique(group, return_inverse=True)[1].reshape(-1)


def _flattened(X: Array, triangles: Array) -> tuple[Array, Array, Array]:
    """Corners (3, 3) [m] of the triangle that stands for some, weights (3, p), and numbers (p,) of the points."""
    corners = X[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    areas, N = np.linalg.norm(normals, axis=1), normals.sum(axis=0)
    points, places = np.unique(triangles, return_inverse=True)
    a = np.bincount(places.ravel(), np.repeat(areas / 3, 3))
    centre = a @ X[points] / a.sum()
    d = X[points] - centre
    G = np.linalg.pinv((a[:, None] * d).T @ d, rcond=1e-6, hermitian=True)
    area = float(np.linalg.norm(N))
    across = np.linalg.svd(N[None])[2][1:]  # two directions in the plane; the third completes a right-handed frame
    if area > 0 and np.linalg.det(np.vstack([across, N / area])) < 0:
        across = across[::-1]
    radius = np.sqrt(area / (0.75 * np.sqrt(3)))  # of the corners of an equilateral triangle
    out = centre + radius * (np.cos(CORNERS)[:, None] * across[0] + np.sin(CORNERS)[:, None] * across[1])
    weights = a / a.sum() + (out - centre) @ G @ (a[:, None] * d).T
    return out, weights, points
