"""What contacts add to the matrix of a step, J^T K J, in 3x3 blocks, and that matrix with room for them.

The bodies' part is assembled once a step. Its pattern is widened by the blocks of the contacts, and kept as long as
the same points touch; in each iteration of the contacts only their own blocks are written anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from supple.algebra.block_sparse import BlockSparse
from supple.scene.assembly import expand_pairs
from supple.scene.assembly_kernels import add_congruence
from supple.scene.mappings import JacobianRows
from supple.scene.system_filter import SystemFilter

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ContactRows:
    """J of k contacts by rows of blocks, and which pairs (one, other) of contacts K couples."""

    J: JacobianRows
    one: Array
    other: Array

    @classmethod
    def of(cls, J: sparse.csr_array, C: Array | None) -> ContactRows:
        """From J (3 k, n), without doubles; C (3 k, 3 k): how other sides answer, None where there are none."""
        blocks = sparse.bsr_array(J, blocksize=(3, 3))
        rows = JacobianRows(blocks.indptr.astype(np.int64), blocks.indices, np.ascontiguousarray(blocks.data))
        k = len(rows.ptr) - 1
        if C is None:
            return cls(rows, np.arange(k), np.arange(k, dtype=np.int32))
        near = np.abs(C.reshape(k, 3, k, 3)).sum(axis=(1, 3)) > 0
        _, label = sparse.csgraph.connected_components(sparse.csr_array(near), directed=False)
        one, other = np.nonzero(label[:, None] == label[None, :])
        return cls(rows, one, other.astype(np.int32))

    def filtered(self, f: SystemFilter) -> JacobianRows:
        """J C."""
        if not len(f):
            return self.J
        place = np.full(max(int(self.J.cols.max(initial=0)), int(f.blocks.max())) + 1, -1)
        place[f.blocks] = np.arange(len(f.blocks))
        at = place[self.J.cols]
        blocks = self.J.blocks.copy()
        blocks[at >= 0] = blocks[at >= 0] @ f.projectors[at[at >= 0]]
        return JacobianRows(self.J.ptr, self.J.cols, blocks)


class ContactBlocks(NamedTuple):
    """J^T K J. K (m, 3, 3) [kg]: of the pairs of contacts of `rows`; J (3 k, n) as a scipy matrix; is_symmetric: K is,
    so that conjugate gradients may be used."""

    rows: ContactRows
    K: Array
    J: sparse.csr_array
    is_symmetric: bool

    def matrix(self) -> sparse.csr_array:
        """As a scipy matrix (n, n)."""
        return sparse.csr_array(self.J.T @ (self.middle() @ self.J))

    def product(self, d: Array) -> Array:
        """J^T K J d, (n,)."""
        return np.asarray(self.J.T @ (self.middle() @ (self.J @ d)))

    def middle(self) -> sparse.csr_array:
        """K (3 k, 3 k)."""
        ptr = np.searchsorted(self.rows.one, np.arange(len(self.rows.J.ptr)))
        size = self.J.shape[0]
        return sparse.csr_array(sparse.bsr_array((self.K, self.rows.other, ptr), shape=(size, size)))


class WideMatrix:
    """A of a step, filtered, in a pattern that holds the blocks of contacts as well."""

    def __init__(self, A: BlockSparse, rows: ContactRows) -> None:
        """Make the pattern."""
        n = A.block_row_count
        self.own: tuple[Array, Array] = (np.repeat(np.arange(n), np.diff(A.indptr)), A.indices)
        self.touched = expand_pairs(rows.one, rows.other, rows.J)
        self.base_pattern, self.rows = (A.indptr, A.indices), rows
        one, other = (np.concatenate([self.own[k], self.touched[k]]) for k in (0, 1))
        self.matrix = BlockSparse.from_pairs(n, one, other)
        self.at_own, self.at_touched = self.matrix.locate(*self.own), self.matrix.locate(*self.touched)
        self.base = np.zeros_like(self.matrix.data)
        self.taken: BlockSparse | None = None

    def fits(self, A: BlockSparse, rows: ContactRows) -> bool:
        """Whether the pattern is that of A and these contacts."""
        mine = self.rows
        pairs = ((mine.J.ptr, rows.J.ptr), (mine.J.cols, rows.J.cols), (mine.one, rows.one), (mine.other, rows.other))
        same = mine is rows or all(np.array_equal(a, b) for a, b in pairs)
        return same and self.base_pattern[0] is A.indptr and self.base_pattern[1] is A.indices

    def begin(self, A: BlockSparse, rows: ContactRows, f: SystemFilter) -> None:
        """Take the values of a filtered A, and J."""
        self.rows, self.taken = rows, A
        self.base[self.at_own] = A.data
        self.blocks = rows.filtered(f).blocks

    def add(self, K: Array) -> BlockSparse:
        """A + J^T K J, in the matrix that the next call reuses."""
        rows = self.rows
        self.matrix.data[:] = self.base
        add_congruence(rows.one, rows.other, K, rows.J.ptr, self.blocks, self.blocks, self.at_touched, self.matrix.data)
        return self.matrix
