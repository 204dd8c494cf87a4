"""`TouchedPart`: the part of a step that responses to forces on some points; only what hangs together is factored.

Bodies that share neither matrix blocks nor contacts do not answer to each other. So a ball on a robot costs a matrix of
six unknowns, whatever else is in the scene.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sparse

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.block_rows import BlockRows
from supple.algebra.sparse.block_rows_kernels import find_connected
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.direct import DirectSolver
from supple.solvers.coupling.contact_blocks import ContactBlocks, Coupling

Array = np.ndarray
SMALL = 300
"""Unknowns up to which a dense matrix is faster."""


@dataclass(frozen=True, eq=False)
class TouchedPart:
    """The block rows (n,) of a step that answer, their matrix, dense or of scipy, and the filter's C on them, None
    where nothing is fixed.

    The matrix may have rows of joints after those of the unknowns.
    """

    keep: Array
    matrix: Any
    C: sparse.csr_array | None

    @classmethod
    def of(
        cls, A: BlockSparse, label: Array, extra: ContactBlocks | None, touched: Array, C: sparse.csr_array | None
    ) -> TouchedPart:
        """What hangs together with block rows that are touched (n,). A and extra are filtered; label (n,): the
        components of A, see `components`."""
        J = BlockRows.empty(0, A.block_row_count) if extra is None else extra.J
        coupled = np.zeros(J.count, dtype=bool) if extra is None else extra.linked
        keep = np.zeros(A.block_row_count, dtype=bool)
        find_connected(label, J.ptr, J.cols, coupled, touched, keep)
        if C is not None:
            unknowns = np.flatnonzero(np.repeat(keep, 3))
            C = C[unknowns][:, unknowns]
        if 3 * keep.sum() <= SMALL:
            dense = BlockRows(A.indptr, A.indices, A.data, A.block_row_count).chosen(keep).dense(keep)
            return cls(keep, dense if extra is None else dense + extra.dense(keep), C)
        matrix = _kept_blocks(A, keep)
        if extra is not None:
            matrix = matrix + _kept_contacts(extra, keep).matrix()
        return cls(keep, matrix, C)

    @property
    def unknowns(self) -> Array:
        """Numbers (m,) of the unknowns that answer."""
        return np.flatnonzero(np.repeat(self.keep, 3))

    def solve(self, B: Array) -> Array:
        """How the unknowns change with the right side, A^-1 B, (m, columns)."""
        return self.solve_all(B)[: len(B)]

    def solve_all(self, B: Array) -> Array:
        """The same, with the rows of joints after the unknowns: their multipliers, negative."""
        rows = B if self.C is None else np.asarray(self.C @ B)
        more = self.matrix.shape[0] - len(rows)
        if not len(rows):
            return rows
        return solve_columns(self.matrix, np.concatenate([rows, np.zeros((more, B.shape[1]))]))


def solve_columns(A: Any, B: Array) -> Array:
    """A^-1 B, (n, m), of a matrix, dense or of scipy, that is known to be regular."""
    with one_blas_thread():
        if A.shape[0] <= SMALL:
            return np.asarray(np.linalg.solve(A if isinstance(A, np.ndarray) else A.toarray(), B))
        return DirectSolver(A).solve_once(np.ascontiguousarray(B))


def components(A: BlockSparse) -> Array:
    """Label (n,) of the component of each block row: what no blocks connect has others."""
    n = A.block_row_count
    graph = sparse.csr_array((np.ones(len(A.indices), dtype=np.int8), A.indices, A.indptr), shape=(n, n))
    return np.asarray(sparse.csgraph.connected_components(graph, directed=False)[1])


def _kept_blocks(A: BlockSparse, keep: Array) -> sparse.csr_array:
    """The block rows that are kept; nothing connects them with others."""
    place = np.cumsum(keep) - 1
    rows = BlockRows(A.indptr, A.indices, A.data, A.block_row_count).chosen(keep)
    return rows.moved(place, int(keep.sum())).to_scipy()


def _kept_contacts(extra: ContactBlocks, keep: Array) -> ContactBlocks:
    """The contacts on the block rows that are kept."""
    J = extra.J
    on = np.zeros(J.count, dtype=bool)
    on[np.repeat(np.arange(J.count), np.diff(J.ptr))[keep[J.cols]]] = True
    if (on & extra.linked).any():
        on |= extra.linked
    coupling, yielding = extra.coupling, extra.yielding
    if coupling is not None:
        coupling = Coupling((np.cumsum(on) - 1)[coupling.which], coupling.F) if on[coupling.which].any() else None
    if yielding is not None:
        shapes = yielding.shapes.chosen(on)
        yielding = None if shapes is None else replace(yielding, shapes=shapes)
    part = J.chosen(on).moved(np.cumsum(keep) - 1, int(keep.sum()))
    return ContactBlocks(part, extra.K[on], coupling, extra.is_symmetric, yielding)
