"""`TouchedPart`: the part of a step that answers to forces on some points; only what hangs together is factored.

Bodies that share neither matrix blocks nor contacts do not answer to each other. So a ball on a robot costs a matrix of
six unknowns, whatever else is in the scene.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from supple.algebra.blas_threads import one_blas_thread
from supple.algebra.block_sparse import BlockSparse
from supple.algebra.direct import DirectSolver
from supple.solvers.contact_blocks import ContactBlocks, ContactRows, Coupling

Array = np.ndarray
SMALL = 300
"""Unknowns up to which a dense matrix is faster."""


@dataclass(frozen=True, eq=False)
class TouchedPart:
    """The unknowns (m,) of a step that answer, their matrix, and the filter's C on them, None where nothing is fixed.

    The matrix may have rows of joints after those of the unknowns.
    """

    unknowns: Array
    matrix: sparse.csr_array
    C: sparse.csr_array | None

    @classmethod
    def of(
        cls, A: BlockSparse, extra: ContactBlocks | None, J: sparse.csr_array, C: sparse.csr_array | None
    ) -> TouchedPart:
        """What hangs together with points of J (3 k, n). A and extra are filtered."""
        touched = np.zeros(A.block_row_count, dtype=bool)
        touched[J.indices // 3] = True
        keep = _hanging_together(A, extra, touched)
        unknowns = np.flatnonzero(np.repeat(keep, 3))
        matrix = _kept_blocks(A, keep)
        if extra is not None:
            matrix = matrix + _kept_contacts(extra, keep, unknowns).matrix()
        return cls(unknowns, matrix, None if C is None else C[unknowns][:, unknowns])

    def solve(self, B: Array) -> Array:
        """How the unknowns change with the right side, A^-1 B, (m, columns)."""
        rows = B if self.C is None else np.asarray(self.C @ B)
        more = self.matrix.shape[0] - len(rows)
        if not len(rows):
            return rows
        return solve_columns(self.matrix, np.concatenate([rows, np.zeros((more, B.shape[1]))]))[: len(B)]


def solve_columns(A: sparse.csr_array, B: Array) -> Array:
    """A^-1 B, (n, m), of a matrix that is known to be regular."""
    with one_blas_thread():
        if A.shape[0] <= SMALL:
            return np.asarray(np.linalg.solve(A.toarray(), B))
        return DirectSolver(A).solve_once(np.ascontiguousarray(B))


def _hanging_together(A: BlockSparse, extra: ContactBlocks | None, touched: Array) -> Array:
    """Block rows (n,) that blocks or contacts connect with those that are touched."""
    n = A.block_row_count
    one, other, size = np.repeat(np.arange(n), np.diff(A.indptr)), A.indices, n
    if extra is not None:
        J, contact = extra.rows.J, n + np.arange(extra.rows.count)
        size = n + extra.rows.count + 1
        one = np.concatenate([one, np.repeat(contact, np.diff(J.ptr))])
        other = np.concatenate([other, J.cols])
        if extra.coupling is not None:
            one = np.concatenate([one, contact[extra.coupling.which]])
            other = np.concatenate([other, np.full(len(extra.coupling.which), size - 1)])
    graph = sparse.csr_array((np.ones(len(one), dtype=np.int8), (one, other)), shape=(size, size))
    _, label = sparse.csgraph.connected_components(graph, directed=False)
    return np.isin(label[:n], label[:n][touched])


def _kept_blocks(A: BlockSparse, keep: Array) -> sparse.csr_array:
    """The block rows that are kept; nothing connects them with others."""
    counts = np.diff(A.indptr)
    number, entries = np.cumsum(keep) - 1, np.repeat(keep, counts)
    ptr = np.concatenate([[0], np.cumsum(counts[keep])])
    data = A.data.reshape(-1, 3, 3)[entries]
    n = 3 * int(keep.sum())
    return sparse.csr_array(sparse.bsr_array((data, number[A.indices[entries]], ptr), shape=(n, n)))


def _kept_contacts(extra: ContactBlocks, keep: Array, unknowns: Array) -> ContactBlocks:
    """The contacts on the block rows that are kept."""
    J = extra.rows.J
    on = np.zeros(extra.rows.count, dtype=bool)
    on[np.repeat(np.arange(extra.rows.count), np.diff(J.ptr))[keep[J.cols]]] = True
    coupling = extra.coupling
    if coupling is not None:
        coupling = Coupling((np.cumsum(on) - 1)[coupling.which], coupling.F) if on[coupling.which].any() else None
        on[extra.coupling.which] |= coupling is not None  # type: ignore[union-attr]
    part = extra.J[np.repeat(on, 3)][:, unknowns]
    return ContactBlocks(ContactRows.of(part), extra.K[on], coupling, part, extra.is_symmetric)
