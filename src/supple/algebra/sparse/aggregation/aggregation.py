"""`Aggregation`: a preconditioner by rigid motions of aggregates of points.

    M^-1 = D^-1 + T C T^T        D: 3x3 diagonal blocks of A;  T: rigid motions of each aggregate;  C ~ (T^T A T)^-1

C is one symmetric cycle: Gauss-Seidel forward over the 6x6 blocks of T^T A T, the same of aggregates of aggregates, and
Gauss-Seidel backward, with blocks in single precision; the coarsest, of at most `FEW` aggregates, is inverted as it is.
Rigid motions are what a solid resists least, and diagonal blocks see least of. The aggregates are not smoothed [VMB96]:
that takes two products with A for each application and a larger prolongator, and saves fewer iterations than it costs
(`docs/performance.md`).

Aggregates and patterns are found once, from places at rest; motions and matrices are new for each matrix, so that a run
that is resumed has the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import lapack

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.aggregation import aggregation_kernels as kernels
from supple.algebra.sparse.aggregation.coarse_pattern import CoarsePattern
from supple.algebra.sparse.aggregation.compact_parts import nested_parts
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.preconditioners import BlockJacobi

Array = np.ndarray
MEMBERS, FEW = 27, 27
"""Points of an aggregate, or aggregates in a larger one; aggregates of the coarsest level: cubes of three a side."""
ALIKE = 0.5
"""Part of a diagonal block by which it may change until the preconditioner is made anew."""
STIFF = 10.0
"""Points whose diagonal blocks something made stiffer by more are in no aggregate: they would hold it fast."""


@dataclass(eq=False)
class _Level:
    """Aggregates: their pattern; d (n, 3): places of their members from the centres; part (n,): of each member. r, z
    (6 m + 2): forces and motions; columns: see `kernels.Level`."""

    pattern: CoarsePattern
    part: Array
    d: Array
    centres: Array
    r: Array
    z: Array
    columns: Array
    matrix: kernels.Level | None = None


class Aggregation:
    """M^-1 of matrices of one pattern, or of one that has more blocks."""

    def __init__(self, A: BlockSparse, points: Array, used: Array, label: Array) -> None:
        """points: places at rest of the block rows [m], (n, 3); used (n,): rows that are free points, all others have
        their diagonal block alone; label (n,): rows of different ones share no aggregate."""
        self.indptr, self.indices = A.indptr, A.indices
        self._blocks = BlockJacobi()
        self._wide: tuple[Array, Array] | None = None
        self._taken: BlockSparse | None = None
        self._size = np.empty(0)
        rows = np.flatnonzero(used)
        rounds = nested_parts(points[rows], label[rows], MEMBERS, FEW)
        part = np.full(len(points), -1, dtype=np.int32)
        part[rows] = rounds[0]
        self._levels: list[_Level] = []
        pattern = CoarsePattern(A.indptr, A.indices, part)
        self._add(pattern, part)
        for fine, coarse in pairwise(rounds):
            parent = np.empty(pattern.count, dtype=np.int32)
            parent[fine] = coarse
            pattern = CoarsePattern(pattern.indptr, pattern.indices, parent)
            self._add(pattern, parent)
        self._part, self._inverse = part.copy(), np.empty((0, 0))
        self._s, self._W = np.empty(8), np.empty((3, 6))

    def _add(self, pattern: CoarsePattern, part: Array) -> None:
        n = pattern.count
        columns = np.zeros(36 * len(pattern.indices) + 2, dtype=np.float32)
        vectors = (np.empty((n, 3)), np.zeros(6 * n + 2), np.zeros(6 * n + 2), columns)
        self._levels.append(_Level(pattern, part, np.empty((len(part), 3)), *vectors))

    @property
    def coarsest(self) -> int:
        """Aggregates of the coarsest level: at most `FEW`, or one for each label."""
        return self._levels[-1].pattern.count

    def fits(self, A: BlockSparse) -> bool:
        """Whether the pattern is that of a matrix."""
        return self.indptr is A.indptr and self.indices is A.indices

    def update(self, A: BlockSparse, points: Array, own: BlockSparse | None = None) -> None:
        """Take the values of a matrix, symmetric or nearly, and the places of points [m], (n, 3). own: the matrix
        without what others added to it. Raises numpy.linalg.LinAlgError where it is not positive definite. What others
        added anew to the same matrix is not taken where it changes no diagonal block by more than `ALIKE`."""
        if own is not None:
            size = _traces(A)
            if self._taken is own and np.all(np.abs(size - self._size) <= ALIKE * self._size):
                return
            self._size = size
        self._taken = None
        self._blocks.update(A)
        self._part[:] = self._levels[0].part
        if own is not None:
            self._part[self._size > STIFF * _traces(own)] = -1
        at = points
        for level in self._levels:
            at = self._centre(level, at)
        first = self._levels[0]
        p = first.pattern
        places = p.rows, p.cols, p.targets, first.d, self._part, self._W
        kernels.compute_point_products(A.data.reshape(-1), self._source_in(A), *places, p.data)
        p.close()
        for fine, coarse in pairwise(self._levels):
            p = coarse.pattern
            kernels.compute_frame_products(fine.pattern.data, p.source, p.rows, p.cols, p.targets, coarse.d, p.data)
            p.close()
            f = fine.pattern
            fine.columns[:-2].reshape(-1, 6, 6)[:] = f.data.transpose(0, 2, 1)
            inverse = np.append(np.linalg.inv(f.data[f.diagonal]).transpose(0, 2, 1), [0.0, 0.0])
            fine.matrix = kernels.Level(f.indptr, f.indices, f.diagonal, fine.columns, inverse)
        self._inverse = _inverted(self._levels[-1].pattern.dense())
        self._taken = own

    def _centre(self, level: _Level, at: Array) -> Array:
        """Set the places of its members from the centres, which are returned."""
        inside = level.part >= 0
        part, n = level.part[inside], level.pattern.count
        counts = np.maximum(np.bincount(part, minlength=n), 1)
        for axis in range(3):
            level.centres[:, axis] = np.bincount(part, weights=at[inside, axis], minlength=n) / counts
        level.d[:] = 0.0
        level.d[inside] = at[inside] - level.centres[part]
        return level.centres

    def _source_in(self, A: BlockSparse) -> Array:
        """The places of the blocks in a matrix that may have more."""
        p = self._levels[0].pattern
        if A.block_count == len(self.indices):
            return p.source
        if self._wide is None or self._wide[0] is not A.indices:
            self._wide = A.indices, A.locate(p.rows, p.cols)
        return self._wide[1]

    def apply(self, r: Array, z_out: Array) -> None:
        """z_out = M^-1 r. r, z_out: (3 block_row_count)."""
        r, z_out = r.reshape(-1), z_out.reshape(-1)
        first, last = self._levels[0], self._levels[-1]
        kernels.sum_forces(r, first.d, self._part, first.r[:-2].reshape(-1, 6))
        for fine, coarse in pairwise(self._levels):
            kernels.sweep_down(fine.matrix, fine.r, coarse.d, coarse.part, self._s, fine.z, coarse.r)
        np.dot(self._inverse, last.r[:-2], out=last.z[:-2])
        for fine, coarse in zip(self._levels[-2::-1], self._levels[:0:-1]):
            kernels.sweep_up(fine.matrix, fine.r, coarse.d, coarse.part, coarse.z, self._s, fine.z)
        motions = first.z[:-2].reshape(-1, 6)
        kernels.compute_sum(self._blocks.inverse_blocks, r, motions, first.d, self._part, z_out)


def _traces(A: BlockSparse) -> Array:
    """Of the diagonal blocks, (n,)."""
    first, data = 9 * A.diagonal.astype(np.int64), A.data.reshape(-1)
    return np.asarray(data[first] + data[first + 4] + data[first + 8])


def _inverted(A: Array) -> Array:
    """Of a dense matrix, exactly symmetric."""
    with one_blas_thread():
        inverse, info = lapack.dpotrf(A, lower=1)
        if info == 0:
            inverse, info = lapack.dpotri(inverse, lower=1)
    if info != 0 or not np.isfinite(inverse).all():
        raise np.linalg.LinAlgError("the matrix of the aggregates is not positive definite")
    lower = np.tril(inverse)
    return np.ascontiguousarray(lower + np.tril(lower, -1).T)
