"""What contacts add to the matrix of a step, J^T K J, in 3x3 blocks, and that matrix with places for them.

The bodies' part is assembled once a step. Its pattern is widened by the blocks of the contacts, and kept as long as
the same points touch; in each iteration of the contacts only the blocks that they touch are written anew. What one
force couples is dense, and stays an operator; so does what yields by shapes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from supple.algebra.dense.outer_kernels import OuterTerm
from supple.algebra.sparse.block_rows import BlockRows
from supple.algebra.sparse.block_rows_kernels import widen_pattern
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.scene.acting.system_filter import SystemFilter
from supple.scene.assembly_kernels import add_congruence
from supple.solvers.coupling.shapes import Yielding

Array = np.ndarray


def filtered_rows(J: BlockRows, f: SystemFilter) -> BlockRows:
    """J C."""
    if not len(f):
        return J
    place = np.full(J.width, -1)
    place[f.blocks] = np.arange(len(f.blocks))
    at = place[J.cols]
    blocks = J.blocks.copy()
    blocks[at >= 0] = blocks[at >= 0] @ f.projectors[at[at >= 0]]
    return J.with_blocks(blocks)


class Coupling(NamedTuple):
    """What a force at one contact does at others. which (a,): those contacts; F (3 a, 3 a) [kg], without the blocks on
    its diagonal."""

    which: Array
    F: Array


class ContactBlocks(NamedTuple):
    """J^T K J. J: of k contacts. K (k, 3, 3) [kg]: a block for each contact, and between contacts by `coupling`;
    is_symmetric: K is, so that conjugate gradients may be used. yielding: shapes that yield to the forces, None where
    there are none; then it is J^T S K J with S of `shapes`."""

    J: BlockRows
    K: Array
    coupling: Coupling | None
    is_symmetric: bool
    yielding: Yielding | None = None

    @property
    def linked(self) -> Array:
        """Contacts (k,) that others feel, through one force or through shapes."""
        on = np.zeros(self.J.count, dtype=bool)
        if self.coupling is not None:
            on[self.coupling.which] = True
        if self.yielding is not None:
            on |= np.diff(self.yielding.shapes.W.pieces.ptr) > 0
        return on

    def matrix(self) -> sparse.csr_array:
        """As a scipy matrix (n, n)."""
        k, J, linked = len(self.K), self.J.to_scipy(), self.linked
        out = J.T @ (sparse.bsr_array((self.K, np.arange(k), np.arange(k + 1)), shape=(3 * k, 3 * k)) @ J)
        if linked.any():
            used = np.unique(J[np.flatnonzero(np.repeat(linked, 3))].indices)
            some = J[:, used].toarray()
            one, other = np.meshgrid(used, used, indexing="ij")
            dense = some.T @ (self.times(some) - by_blocks(self.K, some))
            out = out + sparse.csr_array((dense.ravel(), (one.ravel(), other.ravel())), shape=out.shape)
        return sparse.csr_array(out)

    def dense(self, keep: Array) -> Array:
        """As a dense matrix, of the block rows of a mask; no contact has others as well."""
        on = np.zeros(self.J.count, dtype=bool)
        on[np.repeat(np.arange(self.J.count), np.diff(self.J.ptr))[keep[self.J.cols]]] = True
        if (self.linked & on).any():
            J = self.J.dense(keep)
            return np.asarray(J.T @ self.times(J))
        J = self.J.chosen(on).dense(keep)
        return np.asarray(J.T @ by_blocks(self.K[on], J))

    def product(self, d: Array) -> Array:
        """J^T S K J d, (n,)."""
        return self.J.transposed(self.times(self.J.times(d)))

    def stiff(self, u: Array) -> Array:
        """K u of u (3 k,) or (3 k, m), where nothing yields."""
        out = by_blocks(self.K, u)
        if self.coupling is not None:
            rows = threefold(self.coupling.which)
            out[rows] += self.coupling.F @ u[rows]
        return out

    def times(self, u: Array) -> Array:
        """S K u of u (3 k,) or (3 k, m)."""
        out = self.stiff(u)
        return out if self.yielding is None else out - self.stiff(self.yielding.moves(out)) / self.yielding.h

    def filtered(self, f: SystemFilter) -> ContactBlocks:
        """With J C."""
        return self._replace(J=filtered_rows(self.J, f)) if len(f) else self

    def outer(self, f: SystemFilter) -> OuterTerm | None:
        """The coupling as an operator on filtered velocities."""
        if self.coupling is None:
            return None
        on = np.zeros(self.J.count, dtype=bool)
        on[self.coupling.which] = True
        J = filtered_rows(self.J.chosen(on), f)
        return OuterTerm.of(J.ptr, J.cols, J.blocks, self.coupling.F)


def threefold(which: Array) -> Array:
    """Numbers of the three unknowns of each."""
    return np.asarray((3 * which[:, None] + np.arange(3)).ravel())


def by_blocks(K: Array, u: Array) -> Array:
    """The matrix of blocks K (k, 3, 3) on its diagonal, times u (3 k,) or (3 k, m)."""
    return (K @ u.reshape(len(K), 3, 1 if u.ndim == 1 else u.shape[1])).reshape(u.shape)


class WideMatrix:
    """A of a step, filtered, in a pattern that holds the blocks of contacts as well."""

    def __init__(self, A: BlockSparse, J: BlockRows) -> None:
        """Make the pattern."""
        self.base_pattern, self.J = (A.indptr, A.indices), J
        indptr, indices, self.source, self.at_touched, self.touched = widen_pattern(A.indptr, A.indices, J.ptr, J.cols)
        self.is_wider = len(indices) > A.block_count
        self.matrix = A.with_data(np.empty((len(A.indices), 3, 3)))
        self.new = np.zeros(0, dtype=np.int64)
        if self.is_wider:
            self.matrix = BlockSparse(indptr, indices, np.empty((len(indices), 3, 3)))
            self.new = np.flatnonzero(self.source < 0)
            self.source[self.new] = 0
        self.each = np.arange(J.count, dtype=np.int32)
        self.taken: BlockSparse | None = None

    def fits(self, A: BlockSparse, J: BlockRows) -> bool:
        """Whether the pattern is that of A and these contacts."""
        mine = self.J
        same = mine is J or all(np.array_equal(a, b) for a, b in ((mine.ptr, J.ptr), (mine.cols, J.cols)))
        return same and self.base_pattern[0] is A.indptr and self.base_pattern[1] is A.indices

    def begin(self, A: BlockSparse, J: BlockRows, f: SystemFilter) -> None:
        """Take the values of a filtered A, and J."""
        self.J, self.taken, data = J, A, self.matrix.data
        if self.is_wider:
            np.take(A.data, self.source, axis=0, out=data, mode="clip")
            data[self.new] = 0.0
        else:
            np.copyto(data, A.data)
        self.base = np.take(data, self.touched, axis=0)
        self.blocks = filtered_rows(J, f).blocks

    def add(self, K: Array) -> BlockSparse:
        """A + J^T K J of blocks K (k, 3, 3), in the matrix that the next call reuses."""
        each, data = self.each, self.matrix.data
        data[self.touched] = self.base
        add_congruence(each, each, K, self.J.ptr, self.blocks, self.blocks, self.at_touched, data)
        return self.matrix
