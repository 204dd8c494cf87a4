"""`Shapes`: how the points of laws move with bodies that another method steps, by few shapes of these.

    u = W y,   y = Y g,   g = W^T l + E^T p        l: forces of laws, p: of joints' rows, g: on the shapes

A shape is a motion of a domain, of its frame or by a mode, or a direction of a point where there are fewer of these.
So C = W Y W^T is of the rank of the domains that are touched, however many points touch them.

    S = (I + T C)^-1 = I - T W Y (I + N Y)^-1 W^T,   N = W^T T W
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.shapes.shape_rows import ShapeRows
from supple.algebra.sparse.threefold import Rows, SparseRows

Array = np.ndarray
BodyShapes = tuple[Rows, Rows, Array, Array]
"""Of one body: W, E, the first shapes of each domain and one after the last, and Y."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """W (3 k, R) of laws, E (m, R) of joints across parts, Y (R, R) [m/s/N]."""

    W: ShapeRows
    E: Array
    Y: Array

    @classmethod
    def joined(cls, parts: list[BodyShapes]) -> Shapes | None:
        """Of several bodies; None of none."""
        if not parts:
            return None
        ends = np.cumsum([0] + [len(Y) for _, _, _, Y in parts])
        starts = np.concatenate([*(end + s[:-1] for end, (_, _, s, _) in zip(ends, parts)), ends[-1:]])
        W = parts[0][0]
        if len(parts) > 1:
            each = [part[0] for part in parts]
            W = sparse.csr_array(sparse.hstack([w.to_scipy() if isinstance(w, SparseRows) else w for w in each]))
        E = np.concatenate([part[1].toarray() for part in parts], axis=1)
        Y = scipy.linalg.block_diag(*(part[3] for part in parts)) if len(parts) > 1 else parts[0][3]
        return cls(ShapeRows.of(W, starts), E, np.ascontiguousarray(Y))

    def times(self, f: Array) -> Array:
        """C f, (3 k,)."""
        return self.W.times(self.Y @ self.W.pulled(f))

    def chosen(self, mask: Array) -> Shapes | None:
        """Among some of the laws' points, (k,); None where these do not respond."""
        W = self.W.chosen(mask)
        return Shapes(W, self.E, self.Y) if len(W.pieces.first) else None

    def between(self, one: Array, other: Array) -> Array:
        """The rows of some, (k,), and the columns of others, dense."""
        if not (one.any() and other.any()):
            return np.zeros((3 * int(one.sum()), 3 * int(other.sum())))
        mine = self.W.chosen(one).dense()
        theirs = mine if other is one else self.W.chosen(other).dense()
        return np.asarray(mine @ self.Y @ theirs.T)

    @cached_property
    def C_jj(self) -> Array:
        """How rates of joints' rows respond to their forces, (m, m)."""
        return np.asarray(self.E @ self.Y @ self.E.T)

    @cached_property
    def C_sj(self) -> Array:
        """How relative velocities of laws respond to the forces of joints' rows, (3 k, m)."""
        return self.W.times(self.Y @ self.E.T)


@dataclass(frozen=True, eq=False)
class Yielding:
    """Shapes beside linearised laws in a step of h [s]: N (R, R) [N s/m]."""

    shapes: Shapes
    N: Array
    h: float

    @cached_property
    def _factors(self) -> Any:
        with one_blas_thread():
            return scipy.linalg.lu_factor(np.eye(len(self.N)) + self.N @ self.shapes.Y, check_finite=False)

    def eliminated(self, g: Array) -> Array:
        """(I + N Y)^-1 g, of one (R,) or several (R, m)."""
        with one_blas_thread():
            return np.asarray(scipy.linalg.lu_solve(self._factors, g, check_finite=False))

    def moves(self, f: Array) -> Array:
        """W Y (I + N Y)^-1 W^T f: how the points of laws, (3 k,), yield to forces that do not know of it."""
        return self.shapes.W.times(self.shapes.Y @ self.eliminated(self.shapes.W.pulled(f)))
