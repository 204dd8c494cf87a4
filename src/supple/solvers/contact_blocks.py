"""What contacts add to the matrix of a step, J^T K J, in 3x3 blocks, and that matrix with room for them.

The bodies' part is assembled once a step. Its pattern is widened by the blocks of the contacts, and kept as long as
the same points touch; in each iteration of the contacts only their own blocks are written anew. What couples all
contacts of a tree is dense, and stays an operator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from supple.algebra.block_sparse import BlockSparse
from supple.algebra.outer_kernels import OuterTerm
from supple.scene.assembly import expand_pairs
from supple.scene.assembly_kernels import add_congruence
from supple.scene.mappings import JacobianRows
from supple.scene.system_filter import SystemFilter

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ContactRows:
    """J of k contacts by rows of blocks."""

    J: JacobianRows

    @classmethod
    def of(cls, J: sparse.csr_array) -> ContactRows:
        """From J (3 k, n), without doubles."""
        blocks = sparse.bsr_array(J, blocksize=(3, 3))
        return cls(JacobianRows(blocks.indptr.astype(np.int64), blocks.indices, np.ascontiguousarray(blocks.data)))

    @property
    def count(self) -> int:
        """k."""
        return len(self.J.ptr) - 1

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


class Coupling(NamedTuple):
    """What a force at one contact does at others. which (a,): those contacts; F (3 a, 3 a) [kg], without the blocks on
    its diagonal."""

    which: Array
    F: Array


class ContactBlocks(NamedTuple):
    """J^T K J. K (k, 3, 3) [kg]: a block for each contact, and between contacts by `coupling`; J (3 k, n) as a scipy
    matrix; is_symmetric: K is, so that conjugate gradients may be used."""

    rows: ContactRows
    K: Array
    coupling: Coupling | None
    J: sparse.csr_array
    is_symmetric: bool

    def matrix(self) -> sparse.csr_array:
        """As a scipy matrix (n, n)."""
        out = self.J.T @ (self._blocks() @ self.J)
        if self.coupling is not None:
            part = self.J[_threefold(self.coupling.which)]
            used = np.unique(part.indices)
            some = part[:, used].toarray()
            one, other = np.meshgrid(used, used, indexing="ij")
            dense = some.T @ self.coupling.F @ some
            out = out + sparse.csr_array((dense.ravel(), (one.ravel(), other.ravel())), shape=out.shape)
        return sparse.csr_array(out)

    def product(self, d: Array) -> Array:
        """J^T K J d, (n,)."""
        return np.asarray(self.J.T @ self.times(self.J @ d))

    def times(self, u: Array) -> Array:
        """K u of u (3 k,) or (3 k, m)."""
        out = np.einsum("kij,kj...->ki...", self.K, u.reshape(len(self.K), 3, *u.shape[1:])).reshape(u.shape)
        if self.coupling is not None:
            rows = _threefold(self.coupling.which)
            out[rows] += self.coupling.F @ u[rows]
        return out

    def filtered(self, f: SystemFilter) -> ContactBlocks:
        """With J C."""
        if not len(f):
            return self
        J, k = self.rows.filtered(f), self.rows.count
        flat = sparse.bsr_array((J.blocks, J.cols, J.ptr), shape=(3 * k, self.J.shape[1]))
        return self._replace(rows=ContactRows(J), J=sparse.csr_array(flat))

    def outer(self, f: SystemFilter) -> OuterTerm | None:
        """The coupling as an operator on filtered velocities."""
        if self.coupling is None:
            return None
        J, which = self.rows.filtered(f), self.coupling.which
        length = np.diff(J.ptr)[which]
        ptr = np.concatenate([[0], np.cumsum(length)])
        at = np.repeat(J.ptr[which] - ptr[:-1], length) + np.arange(ptr[-1])
        return OuterTerm.of(ptr, J.cols[at], J.blocks[at], self.coupling.F)

    def _blocks(self) -> sparse.bsr_array:
        k = len(self.K)
        return sparse.bsr_array((self.K, np.arange(k), np.arange(k + 1)), shape=(3 * k, 3 * k))


def _threefold(which: Array) -> Array:
    return np.asarray((3 * which[:, None] + np.arange(3)).ravel())


class WideMatrix:
    """A of a step, filtered, in a pattern that holds the blocks of contacts as well."""

    def __init__(self, A: BlockSparse, rows: ContactRows) -> None:
        """Make the pattern."""
        n = A.block_row_count
        self.own: tuple[Array, Array] = (np.repeat(np.arange(n), np.diff(A.indptr)), A.indices)
        each = np.arange(rows.count, dtype=np.int32)
        self.touched = expand_pairs(each, each, rows.J)
        self.base_pattern, self.rows = (A.indptr, A.indices), rows
        one, other = (np.concatenate([self.own[k], self.touched[k]]) for k in (0, 1))
        self.matrix = BlockSparse.from_pairs(n, one, other)
        self.at_own, self.at_touched = self.matrix.locate(*self.own), self.matrix.locate(*self.touched)
        self.base = np.zeros_like(self.matrix.data)
        self.taken: BlockSparse | None = None

    def fits(self, A: BlockSparse, rows: ContactRows) -> bool:
        """Whether the pattern is that of A and these contacts."""
        mine = self.rows
        pairs = ((mine.J.ptr, rows.J.ptr), (mine.J.cols, rows.J.cols))
        same = mine is rows or all(np.array_equal(a, b) for a, b in pairs)
        return same and self.base_pattern[0] is A.indptr and self.base_pattern[1] is A.indices

    def begin(self, A: BlockSparse, rows: ContactRows, f: SystemFilter) -> None:
        """Take the values of a filtered A, and J."""
        self.rows, self.taken = rows, A
        self.base[self.at_own] = A.data
        self.blocks = rows.filtered(f).blocks

    def add(self, K: Array) -> BlockSparse:
        """A + J^T K J of blocks K (k, 3, 3), in the matrix that the next call reuses."""
        rows = self.rows
        each = np.arange(rows.count, dtype=np.int32)
        self.matrix.data[:] = self.base
        add_congruence(each, each, K, rows.J.ptr, self.blocks, self.blocks, self.at_touched, self.matrix.data)
        return self.matrix
