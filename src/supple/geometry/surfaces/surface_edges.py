"""Whether a surface is closed, and whether its triangles agree on which side is outside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.errors import InputError
from supple.geometry.meshes.region import IntArray


@dataclass(frozen=True)
class EdgeCount:
    """Edges of a surface, counted.

    total: all edges. open: with an odd number of triangles. torn: not open, yet run through more often one
    way than the other, so that neighbours disagree about the outside.
    """

    total: int
    open: int
    torn: int

    @property
    def is_closed(self) -> bool:
        """Whether every edge has an even number of triangles."""
        return self.open == 0

    @property
    def is_oriented(self) -> bool:
        """Whether all neighbours agree about the outside."""
        return self.torn == 0


def count_edges(triangles: IntArray) -> EdgeCount:
    """Count the edges of triangles (m, 3)."""
    ends = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    stride = int(triangles.max()) + 1
    keys, number = np.unique(ends.min(axis=1) * stride + ends.max(axis=1), return_inverse=True)
    uses = np.bincount(number)
    balance = np.bincount(number, weights=np.where(ends[:, 0] < ends[:, 1], 1.0, -1.0))
    is_open = uses % 2 == 1
    return EdgeCount(len(keys), int(is_open.sum()), int((~is_open & (balance != 0)).sum()))


def check_closed(edges: EdgeCount, needed_for: str, fix: str) -> None:
    """Refuse an open surface, with the number of its open edges."""
    if not edges.is_closed:
        raise InputError(
            f"the surface is open: {edges.open} of {edges.total} edges lack a second triangle; "
            f"{needed_for} needs a closed surface",
            fix=fix,
        )
