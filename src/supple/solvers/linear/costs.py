"""What a linear system costs by conjugate gradients and by a factor: which is quicker, before either is tried.

    factor        a + b n + c F               n unknowns, F multiplications of the Cholesky factor, from its pattern
    iterations    I (p + q B)                 B blocks of the matrix
    I             1 / (1/(u sqrt(k)) + 1/(w D f^0.8)) ln(2/tolerance) / ln(2e6)
    aggregates    J (s + t (p + q B)) + s' + t' (p + q B)        J = min(I, j f^0.6 ln(2/tolerance) / ln(2e6))
                  beside a factor, J = j' f^0.8 ...
    with joints   I and J 1.7 times as many, each e + g n m longer          m rows of joints

k = 1 + max_i tr(h² K_ii + h B_ii) / tr(M_ii) bounds the condition number by the mass. D is the longest way through the
graph of the matrix: with a free or a held end, the stiffness alone needs iterations in proportion to it. f >= 1 says
how flat elements are: what is thinner than its elements are long bends far more easily than it stretches, and neither
diagonal blocks nor rigid motions of aggregates see that. All of this is taken from the system at rest, so that a run
that is resumed chooses alike; nothing is timed, since bits would depend on it.

The constants are fitted to CPU times of single steps on one core (AMD EPYC): cubes and beams of 384 to 4,374 tets, free
and held, E from 1e4 to 1e10 Pa, steps of 10 ms, within 25 % of the times, and within a factor of 2 of the iterations,
1.2 in the mean; j, j' and the powers of f are set by hand to plates of one to four layers, beams and cubes of 1,000 to
18,000 tets, held, E from 1e5 to 1e9 Pa, with layers as thick as elements are long down to 0.03 of it. One layer needs
53 to 118 iterations with aggregates, four 36 to 54, ten times as flat ones 544 and 155: j is of many layers, j' of one,
so that aggregates take the place of a factor where they are quicker in either.
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
BY_AGGREGATES, AT_MOST = 42.0, 70.0
"""j, j': iterations to a residual of 1e-6 with aggregates, of many layers and of one."""
CUBIC = 1.5
"""Longest over shortest edge at a point of a mesh of cubes."""
AGGREGATES, AGGREGATES_MADE = (0.7e-4, 1.7), (1.5e-3, 10.0)
"""s [s], t: of an iteration with aggregates; s' [s], t': of their matrices."""
JOINED, CLOSED = (0.5e-4, 0.8e-9), 1.7
"""e, g [s]: Python of an iteration with joints, and what its rows take; how many more there are until joints close."""
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
    damping [1/s]: the largest tr(K_ii) and tr(B_ii) over tr(M_ii) at rest; unknowns: n; rows: m; flatness: f. flops:
    finds F times c [s], from the pattern of the factor, which takes longer than many steps."""

    least: float
    block_count: int
    way: int
    stiffness: float
    damping: float
    unknowns: int
    rows: int
    flatness: float
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
            flatness_of(system, A),
            flops,
        )

    def iterates(self, tolerance: float, **weights: float) -> bool:
        """Whether conjugate gradients are quicker than a factor for mass M + damping B + stiffness K, to a relative
        residual."""
        if not weights["mass"] > 0.0:
            return False
        blocks, _, aggregates = self._iterations(tolerance, **weights)
        quicker = min(blocks, aggregates)
        return quicker < self.least or quicker < self.factor

    def aggregates(self, tolerance: float, **weights: float) -> bool:
        """Whether conjugate gradients are quicker by aggregates than by diagonal blocks."""
        if not weights["mass"] > 0.0:
            return False
        blocks, aggregates, _ = self._iterations(tolerance, **weights)
        return aggregates < blocks

    def _iterations(
        self, tolerance: float, *, mass: float, damping: float, stiffness: float
    ) -> tuple[float, float, float]:
        """Times by diagonal blocks, by aggregates of many layers, and of one [s]."""
        condition = 1.0 + abs(stiffness / mass) * self.stiffness + abs(damping / mass) * self.damping
        digits = log(2.0 / max(tolerance, 1e-15)) / log(2e6)
        count = digits / (1.0 / (BY_MASS * sqrt(condition)) + 1.0 / (BY_WAY * self.way * self.flatness**0.8))
        more, times = 0.0, 1.0
        if self.rows:
            more, times = JOINED[0] + JOINED[1] * self.unknowns * self.rows, CLOSED
        blocks = times * count * (self.iteration + more)
        if self.block_count < FEWEST:
            return blocks, inf, inf
        each, made = (once + of * self.iteration for once, of in (AGGREGATES, AGGREGATES_MADE))
        fewest, most = (
            times * min(count, digits * j * self.flatness**power) * (each + more) + made
            for j, power in ((BY_AGGREGATES, 0.6), (AT_MOST, 0.8))
        )
        return blocks, fewest, most


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


def flatness_of(system: System, A: BlockSparse) -> float:
    """f: how much the longest edge at a point is longer than the shortest, at rest, over what it is in a mesh of cubes;
    the median of a body, and the largest of all bodies of points."""
    worst = 1.0
    for slot in system.bodies:
        if not (slot.coordinates.x_width == slot.coordinates.v_width == 3):
            continue
        x, first, last = slot.view_x(system.x0), slot.block_start, slot.block_start + slot.block_count
        rows = np.repeat(np.arange(first, last), np.diff(A.indptr[first : last + 1]))
        cols = A.indices[A.indptr[first] : A.indptr[last]]
        edge = (cols >= first) & (cols < last) & (cols != rows)
        length = np.linalg.norm(x[rows[edge] - first] - x[cols[edge] - first], axis=1)
        longest, shortest = np.zeros(len(x)), np.full(len(x), inf)
        np.maximum.at(longest, rows[edge] - first, length)
        np.minimum.at(shortest, rows[edge] - first, length)
        known = (shortest > 0.0) & (shortest < inf)
        if known.any():
            worst = max(worst, float(np.median(longest[known] / shortest[known])) / CUBIC)
    return worst


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
