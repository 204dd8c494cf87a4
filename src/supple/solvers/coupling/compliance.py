"""`Compliance`: how contacts respond to each other's forces through bodies that another scheme moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Compliance:
    """C (3 k, 3 k) [m/s/N], zero but among the contacts `which` (a,), in ascending order; matrix (3 a, 3 a)."""

    count: int
    which: Array
    matrix: Array

    @classmethod
    def weighted(cls, W: sparse.csr_array, responses: Array) -> Compliance:
        """W A W^T of relative velocities (3 k, 3 p) of points, and how these respond, A (3 p, 3 p)."""
        which = np.unique(np.flatnonzero(np.diff(W.indptr)) // 3)
        own = W[threefold(which)]
        return cls(W.shape[0] // 3, which, np.ascontiguousarray(own @ (own @ responses.T).T))

    def plus(self, other: Compliance) -> Compliance:
        """The sum of both."""
        which = np.union1d(self.which, other.which)
        matrix = np.zeros((3 * len(which), 3 * len(which)))
        for part in (self, other):
            rows = threefold(np.searchsorted(which, part.which))
            matrix[np.ix_(rows, rows)] += part.matrix
        return Compliance(self.count, which, matrix)

    def times(self, f: Array) -> Array:
        """C f, (3 k,)."""
        out, rows = np.zeros(3 * self.count), threefold(self.which)
        out[rows] = self.matrix @ f[rows]
        return out

    def chosen(self, mask: Array) -> Compliance | None:
        """Among some of the contacts, (k,), numbered anew; None where these do not respond."""
        on = mask[self.which]
        if not on.any():
            return None
        rows = np.flatnonzero(np.repeat(on, 3))
        place = np.cumsum(mask) - 1
        return Compliance(int(mask.sum()), place[self.which[on]], self.matrix[np.ix_(rows, rows)])

    def between(self, one: Array, other: Array) -> Array:
        """The rows of some contacts, (k,), and the columns of others, dense."""
        out = np.zeros((3 * int(one.sum()), 3 * int(other.sum())))
        parts = []
        for mask in (one, other):
            on = mask[self.which]
            parts.append((threefold((np.cumsum(mask) - 1)[self.which[on]]), np.flatnonzero(np.repeat(on, 3))))
        (row, my_row), (col, my_col) = parts
        out[np.ix_(row, col)] = self.matrix[np.ix_(my_row, my_col)]
        return out


def threefold(which: Array) -> Array:
    """Numbers of the three unknowns of each."""
    return np.asarray((3 * which[:, None] + np.arange(3)).ravel())
