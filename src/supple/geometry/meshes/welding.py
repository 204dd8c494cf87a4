"""Finding nodes that are one: equal positions, or positions within a tolerance of each other."""

from __future__ import annotations

import numpy as np

from supple.errors import InputError
from supple.geometry.meshes.region import FloatArray, IntArray


def weld_nodes(nodes: FloatArray, tolerance: float) -> tuple[IntArray, IntArray]:
    """Group nodes (n, 3) [m] that lie within `tolerance` [m], through chains too; order of first occurrence.

    Returns the first old node of each new one (k,), and the new number of each old one (n,).
    """
    if not (np.isfinite(tolerance) and tolerance >= 0):
        raise InputError("the welding tolerance is negative", value=tolerance, allowed="a length [m], zero or more")
    if tolerance == 0:
        _, group = np.unique(nodes, axis=0, return_inverse=True)
    else:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components
        from scipy.spatial import cKDTree

        pairs = cKDTree(nodes).query_pairs(tolerance, output_type="ndarray")
        links = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(len(nodes),) * 2)
        _, group = connected_components(links, directed=False)
    _, first, number = np.unique(group.ravel(), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int64), rank[number.ravel()].astype(np.int64)
