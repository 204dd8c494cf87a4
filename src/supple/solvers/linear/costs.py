"""What a linear system costs by conjugate gradients and by a factor: which is quicker, before either is tried.

    factor        a + b n + c F               n unknowns, F multiplications of the Cholesky factor, from its pattern
    iterations    I (p + q B)                 B blocks of the matrix
    I             1 / (1/(u sqrt(k)) + 1/(w D)) ln(2/tolerance) / ln(2e6)
    aggregates    J (s + t (p + q B)) + s' + t' (p + q B)        J = min(I, j ln(2/tolerance) / ln(2e6))
    with joints   I and J 1.7 times as many, each e + f n m longer          m rows of joints

k = 1 + max_i tr(h² K_ii + h B_ii) / tr(M_ii) bounds the condition number by the mass. D is the longest way through the
graph of the matrix: with a free or a held end, the stiffness alone needs iterations in proportion to it. All of this is
taken from the system at rest, so that a run that is resumed chooses alike; nothing is timed, since bits would depend on
it.

The constants are fitted to CPU times of single steps on one core (AMD EPYC) of 64 systems: cubes and beams of 384 to
4,374 tets, free and held, E from 1e4 to 1e10 Pa, steps of 10 ms. The fits are within 25 % of the times, and within a
factor of 2 of the iterations, 1.2 in the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, log, sqrt

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.cholesky.block_factor import BlockPattern
from supple.scene.system import System

Array = np.ndarray
FACTOR = (0.36e-3, 1.04e-6, 0.276e-9)
"""a [s], b, c [s]."""
ITERATION = (1.0e-6, 1.93e-9)
"""p, q [s]."""
BY_MASS, BY_WAY = 9.5, 13.0
"""u, w: iterations to a residual of 1e-6."""
BY_AGGREGATES = 42.0
"""j: iterations to a residual of 1e-6 with aggregates."""
AGGREGATES, AGGREGATES_MADE = (0.7e-4, 1.7), (1.5e-3, 10.0)
"""s [s], t: of an iteration with aggregates; s' [s], t': of their matrices."""
JOINED, CLOSED = (0.5e-4, 0.8e-9), 1.7
"""e, f [s]: Python of an iteration with joints, and what its rows take; how many more there are until joints close."""
FEWEST = 10_000
"""Blocks up to which aggregates are not worth their Python, whatever the iterations."""
WITH_CONTACTS = 5.0
"""Times as long as a Cholesky factor takes the unsymmetric one that contacts need: 55-60 ms against 11-13 for 7,164
unknowns."""
MANY = 200_000
"""Unknowns from which on conjugate gradients are taken unasked: a factor of a solid would need too much memory."""


@dataclass
class Costs:
    """Of a system: least: of a factor without its F multiplications [s]; block_count: B; way: D; stiffness [1/s²] and
    damping [1/s]: the largest tr(K_ii) and tr(B_ii) over tr(M_ii) at rest; unknowns: n; rows: m. flops: finds F times
    c [s], from the pattern of the factor, which takes longer than many steps."""

    least: float
    block_count: int
    way: int
    stiffness: float
    damping: float
    unknowns: int
    rows: int
    flops: Callable[[], float] = field(compare=False, repr=False)

    @property
    def iteration(self) -> float:
        """Of conjugate gradients with diagonal blocks [s]."""
        p, q = ITERATION
        return p + q * self.block_count

    @cached_property
    def factor(self) -> float:
        """Of a factor [s]."""
        return self.least + self.flops()

    @classmethod
    def of(cls, system: System) -> Costs:
        """Of a system whose matrix can be assembled; kept with it."""
        if "linear costs" not in system.memo:
            system.memo["linear costs"] = cls._measured(system)
        known: Costs = system.memo["linear costs"]
        return known

    @classmethod
    def _measured(cls, system: System) -> Costs:
        assert system.assembly is not None
        A = system.assembly.matrix
        a, b, c = (WITH_CONTACTS if system.contacts else 1.0) * np.array(FACTOR)
        stiffness, damping = _largest_over_mass(system, A)

        def flops() -> float:
            return float(c * BlockPattern(A).cholesky.flops)

        return cls(
            a + b * system.v_size,
            A.block_count,
            longest_way(A),
            stiffness,
            damping,
            system.v_size,
            system.joint_row_count,
            flops,
        )

    def iterates(self, tolerance: float, **weights: float) -> bool:
        """Whether conjugate gradients by diagonal blocks are quicker than a factor for mass M + damping B +
        stiffness K, to a relative residual. Aggregates would often be quicker still, but not in thin bodies, whose
        iterations nothing here tells."""
        if not weights["mass"] > 0.0:
            return False
        blocks, _ = self._iterations(tolerance, **weights)
        return blocks < self.least or blocks < self.factor

    def aggregates(self, tolerance: float, **weights: float) -> bool:
        """Whether conjugate gradients are quicker by aggregates than by diagonal blocks."""
        if not weights["mass"] > 0.0:
            return False
        blocks, aggregates = self._iterations(tolerance, **weights)
        return aggregates < blocks

    def _iterations(self, tolerance: float, *, mass: float, damping: float, stiffness: float) -> tuple[float, float]:
        """Times by diagonal blocks and by aggregates [s]."""
        condition = 1.0 + abs(stiffness / mass) * self.stiffness + abs(damping / mass) * self.damping
        digits = log(2.0 / max(tolerance, 1e-15)) / log(2e6)
        count = digits / (1.0 / (BY_MASS * sqrt(condition)) + 1.0 / (BY_WAY * self.way))
        more, times = 0.0, 1.0
        if self.rows:
            more, times = JOINED[0] + JOINED[1] * self.unknowns * self.rows, CLOSED
        blocks = times * count * (self.iteration + more)
        if self.block_count < FEWEST:
            return blocks, inf
        each, made = (once + of * self.iteration for once, of in (AGGREGATES, AGGREGATES_MADE))
        return blocks, times * min(count, digits * BY_AGGREGATES) * (each + more) + made


def longest_way(A: BlockSparse) -> int:
    """Steps from block to block between the two ends of the longest part of a pattern, at least one."""
    n = A.block_row_count
    graph = sparse.csr_array((np.ones(A.block_count), A.indices, A.indptr), shape=(n, n))
    count, part = connected_components(graph, directed=False)
    _, start = np.unique(part, return_index=True)
    far = np.zeros(n)
    for _ in range(2):  # from anywhere to an end, and from there to the other
        far = dijkstra(graph, directed=False, unweighted=True, indices=start, min_only=True)
        order = np.lexsort((far, part))
        start = order[np.searchsorted(part[order], np.arange(count), side="right") - 1]
    return max(int(far.max()), 1)


def _largest_over_mass(system: System, A: BlockSparse) -> tuple[float, float]:
    """Of tr(K_ii) and tr(B_ii), at rest; the system's matrix is left as it was."""
    before = A.data.copy()
    lin = system.linearize(system.propagate(0.0, system.x0, np.zeros(system.v_size)), definite=True)
    traces = []
    for weights in ({"mass": 1.0}, {"stiffness": -1.0}, {"damping": -1.0}):
        made = lin.assemble(**weights)
        assert made is not None
        traces.append(np.einsum("kii->k", made.data[made.diagonal]))
    A.data[:] = before
    heavy = traces[0] > 0.0
    if not heavy.any():
        return inf, inf
    return tuple(float(max((t[heavy] / traces[0][heavy]).max(), 0.0)) for t in traces[1:])  # type: ignore[return-value]
