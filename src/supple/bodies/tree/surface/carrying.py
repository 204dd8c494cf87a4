"""The surface of a tree as frames and coordinates that carry it; and a coarser one of the same tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.bodies.carried import CarriedKind, Carriers
from supple.geometry.surfaces.clustering import Clustered, cluster_vertices

Array = np.ndarray
HALVINGS = 24
"""Of the logarithm of the spacing that is looked for."""


def hidden_triangles(kinds: Sequence[CarriedKind], kind: Array, starts: Array, shown: Array) -> Array:
    """Numbers of the triangles of all domains, one after another, that are not among those shown (t, 3)."""
    whole = np.concatenate([kinds[k].triangles + start for k, start in zip(kind, starts)])
    if len(whole) == len(shown):
        return np.zeros(0, dtype=np.int64)
    corners = np.dtype((np.void, 3 * 8))
    one, two = (np.ascontiguousarray(t, dtype=np.int64).view(corners).ravel() for t in (whole, shown))
    return np.flatnonzero(~np.isin(one, two))


def clustered_kinds(carriers: Carriers, most: int) -> list[Clustered]:
    """Points and triangles that are left of each kind, so that all domains have so many points together at most."""
    copies = np.bincount(carriers.kind, minlength=len(carriers.kinds))
    scale = np.bincount(carriers.kind, carriers.scale, len(carriers.kinds)) / np.maximum(copies, 1)
    size = max(float(s * np.ptp(k.X, axis=0).max()) for s, k in zip(scale, carriers.kinds))

    def clustered(spacing: float) -> list[Clustered]:
        return [cluster_vertices(k.X, k.triangles, spacing / max(s, 1e-12)) for s, k in zip(scale, carriers.kinds)]

    fine, coarse = np.log(1e-6 * size), np.log(2.0 * size)
    for _ in range(HALVINGS):
        middle = 0.5 * (fine + coarse)
        count = copies @ [len(c.numbers) for c in clustered(float(np.exp(middle)))]
        fine, coarse = (fine, middle) if count <= most else (middle, coarse)
    return clustered(float(np.exp(coarse)))
