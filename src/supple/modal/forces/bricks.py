"""Bricks: hexes whose edges lie along the axes, as those of voxels; and the Gram form of their strain features."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.algebra.lanes.lane_type import LANES
from supple.elements.shapes import HEX_CORNERS
from supple.modal.forces.brick_kernels import FEATURES, compute_brick_features

Array = np.ndarray
CROOKED = 1e-10
"""Of an edge: how far a corner may lie from its place in a brick."""
OTHERS = ((1, 2), (0, 2), (0, 1))


def brick_edges(X: Array, elements: Array) -> Array | None:
    """Edge lengths (element_count, 3) [m] of elements (element_count, 8) with nodes X [m]; None unless all are bricks.

    >>> from supple.geometry import box_hexes
    >>> mesh = box_hexes(size=(1, 1, 3), cells=(2, 1, 1))
    >>> brick_edges(mesh.nodes, mesh.elements)[0].tolist()
    [0.5, 1.0, 3.0]
    """
    if elements.shape[1] != 8:
        return None
    corners = X[elements]
    first, edges = corners[:, 0], corners[:, 6] - corners[:, 0]
    if not np.all(edges > 0.0):
        return None
    miss = np.abs(corners - (first[:, None] + 0.5 * (1.0 + HEX_CORNERS) * edges[:, None]))
    return edges if np.all(miss <= CROOKED * edges[:, None]) else None


def gradient_coefficients() -> Array:
    """Legendre coefficients of the gradients of shape functions in [-1, 1]³, (12, 8): row 4 j + 2 b + c of d/dxi_j.

    b, c: degrees, 0 or 1, in the other two coordinates. An edge of length h multiplies them by 2 / h.
    """
    root = np.sqrt(3.0)
    rows = []
    for j in range(3):
        for b in range(2):
            for c in range(2):
                values = HEX_CORNERS[:, j] / 8
                for axis, degree in zip(OTHERS[j], (b, c)):
                    values = values * (HEX_CORNERS[:, axis] / root) ** degree
                rows.append(values)
    return np.stack(rows)


def brick_gram(elements: Array, edges: Array, lam: Array, mu: Array, U: Array, *, chunk_bytes: int) -> Array:
    """Products of all strain features of a basis, (r + r (r + 1) / 2, the same) [N m].

    elements (m, 8), edges (m, 3) [m], lam and mu (m,) [Pa]; U (node_count, 3, r). The caller limits BLAS to one thread.
    """
    count, r = len(elements), U.shape[2]
    width = r + r * (r + 1) // 2
    stride = width + LANES
    chunk = max(1, chunk_bytes // (8 * FEATURES * stride))
    padded = np.zeros((len(U), 3 * (r + LANES)))
    padded.reshape(len(U), 3, -1)[:, :, :r] = U
    features, gram = np.zeros((FEATURES * min(chunk, count), stride)), np.zeros((stride, stride))
    reference, volume = gradient_coefficients(), edges.prod(axis=1)
    for start in range(0, count, chunk):
        part = slice(start, min(start + chunk, count))
        G: Any = np.matmul(reference, padded[elements[part]]).reshape(-1, 3, 4, 3, r + LANES)
        G *= (2.0 / edges[part])[:, :, None, None, None]
        made = features[: FEATURES * len(G)]
        compute_brick_features(G, r, volume[part], lam[part], mu[part], made)
        gram += made.T @ made
    return gram[:width, :width]
