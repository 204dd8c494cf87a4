"""`LawRows`: the unknowns of a step that stay so while laws are solved, and the rows that laws have on them.

    A d = b + h (J^T l + G^T p),   relative velocities J (v + d), rates of joints' rows G (v + d)

A part whose matrix may be added to gives these; the iteration over laws then solves for d beside the forces, which
costs no response of the part. One part of a scene at most has them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import scipy.sparse as sparse

from supple.algebra.sparse.block_rows import BlockRows
from supple.solvers.methods.implicit_euler import LinearStep

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LawRows:
    """linear: A, b and v of n unknowns, and what solves for them. J (3 k, n) of laws, G (m, n) of joints across
    parts."""

    linear: LinearStep
    J: BlockRows
    G: sparse.csr_array

    @classmethod
    def none(cls, k: int, m: int) -> LawRows:
        """Of no unknowns, for k laws and m rows of joints."""
        return cls(LinearStep.empty(), BlockRows.empty(k, 0), _no_rows(m))

    def definite(self) -> LawRows:
        """With a stiffness made definite."""
        return self if self.linear.definite is None else replace(self, linear=self.linear.definite())

    def within(self, keep: Array) -> LawRows:
        """Of some block rows (n / 3,) that nothing connects to others; joints across parts have none of them."""
        if not keep.any():
            return LawRows.none(self.J.count, self.G.shape[0])
        assert self.linear.parts is not None
        return LawRows(self.linear.parts.within(keep), self.J.within(keep), self.G)


@cache
def _no_rows(m: int) -> sparse.csr_array:
    """G (m, 0)."""
    return sparse.csr_array((m, 0))
