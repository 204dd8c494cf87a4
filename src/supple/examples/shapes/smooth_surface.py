"""A smoother surface than that of a mesh, for looking at: triangles cut in four, corners moved [Taubin95]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sparse

from supple.geometry import SurfaceMesh

Array = np.ndarray
INWARD, OUTWARD = 0.5, -0.53


def smooth_surface(
    surface: SurfaceMesh, *, cuts: int = 1, rounds: int = 6, keep: Callable[[Array], Array] | None = None
) -> SurfaceMesh:
    """Each triangle in 4^cuts parts, then `rounds` of smoothing. keep: which positions (n, 3) [m] stay as they are."""
    nodes, triangles = np.asarray(surface.nodes, dtype=float), np.asarray(surface.triangles)
    for _ in range(cuts):
        nodes, triangles = _cut(nodes, triangles)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    row, col = np.concatenate([edges, edges[:, ::-1]]).T
    links = sparse.csr_array((np.ones(len(row)), (row, col)), shape=(len(nodes),) * 2)
    links.data[:] = 1.0
    degree = links.sum(axis=1)[:, None]
    moves = np.ones(len(nodes)) if keep is None else 1.0 - keep(nodes)
    for factor in (INWARD, OUTWARD) * rounds:
        nodes = nodes + factor * moves[:, None] * (links @ nodes / degree - nodes)
    return SurfaceMesh(nodes, triangles)


def _cut(nodes: Array, triangles: Array) -> tuple[Array, Array]:
    """A node in the middle of each edge."""
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    unique, where = np.unique(edges, axis=0, return_inverse=True)
    a, b, c = triangles.T
    ab, bc, ca = len(nodes) + where.reshape(3, -1)
    parts = [np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
    return np.vstack([nodes, nodes[unique].mean(axis=1)]), np.concatenate(parts)
