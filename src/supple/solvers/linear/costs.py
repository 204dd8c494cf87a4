"""What a linear system costs by conjugate gradients and by a factor: which is quicker, before either is tried.

    factor        a + b n + c F               n unknowns, F multiplications of the Cholesky factor, from its pattern
    iterations    I (p + q B)                 B blocks of the matrix
    I             1 / (1/(u sqrt(k)) + 1/(w D f^0.98)) ln(2/tolerance) / ln(2e6)
    aggregates    J (s + t (p + q B)) + s' + t' (p + q B)        J = min(I, j f^1.04 ln(2/tolerance) / ln(2e6))
                  beside a factor, J = j' f^1.04 ...
    with joints   I and J 1.7 times as many, each e + g n m longer          m rows of joints
                  beside contacts, a factor ten times as long

k = 1 + max_i tr(h² K_ii + h B_ii) / tr(M_ii) bounds the condition number by the mass. D is the longest way through the
graph of the matrix: with a free or a held end, the stiffness alone needs iterations in proportion to it. f >= 1 says
how flat elements are: what is thinner than its elements are long bends far more easily than it stretches, and neither
diagonal blocks nor rigid motions of aggregates see that. All of this is taken from the system at rest, so that a run
that is resumed chooses alike; nothing is timed, since bits would depend on it.

The constants are those that `tools/costs/fit.py` finds from processor times of single steps of 10 ms on one core
(`tools/costs/steps.csv`): cubes, plates, sheets, slabs, beams, L-shapes, balls and the flower's mesh, of 300 to 22,000
unknowns, free, clamped and on a floor, E from 1e5 to 1e8 Pa. They are fitted to one half of the shapes and judged by
the other (`docs/decisions/0015-what-was-tried-for-speed.md`). An iteration with aggregates takes no less than one
without, so that t and t' are at least 1; j and j' came out alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.cholesky.block_factor import BlockPattern
from supple.scene.system import System

Array = np.ndarray
CUBIC = 1.5
"""Longest over shortest edge at a point of a mesh of cubes."""
JOINED, CLOSED = (0.5e-4, 0.8e-9), 1.7
"""e, g [s]: Python of an iteration with joints, and what its rows take; how many more there are until joints close."""
UNSYMMETRIC = 10.0
"""Times as long as a Cholesky factor takes what joints and contacts need together."""
FEWEST = 10_000
"""Blocks up to which aggregates are not worth their Python, whatever the iterations."""
MANY = 200_000
"""Unknowns from which on conjugate gradients are taken unasked: a factor of a solid would need too much memory."""


class Constants(NamedTuple):
    """Of the rule. factor: a, b, c [s]; with_contacts: times as long as a Cholesky factor takes what contacts need;
    iteration: p, q [s]; by_mass, by_way: u, w, iterations to a residual of 1e-6; by_aggregates, at_most: j, j', of
    bodies of many layers and of one; aggregates: s [s], t of an iteration; made: s' [s], t' of their matrices; flat:
    powers of f that w, j and j' go with."""

    factor: tuple[float, float, float]
    with_contacts: float
    iteration: tuple[float, float]
    by_mass: float
    by_way: float
    by_aggregates: float
    at_most: float
    aggregates: tuple[float, float]
    made: tuple[float, float]
    flat: tuple[float, float, float]


FITTED = Constants(
    factor=(1.8e-4, 6.49e-7, 1.167e-10),
    with_contacts=1.28,
    iteration=(2.5e-9, 1.087e-9),
    by_mass=6.6,
    by_way=21.0,
    by_aggregates=34.6,
    at_most=34.7,
    aggregates=(5.39e-5, 1.0),
    made=(5.3e-5, 1.0),
    flat=(0.984, 1.041, 1.041),
)


class Times(NamedTuple):
    """By conjugate gradients with diagonal blocks, and with aggregates of bodies of many layers and of one [s]."""

    blocks: float
    aggregates: float
    at_most: float


@dataclass
class Costs:
    """Of a system: block_count: B; way: D; stiffness [1/s²] and damping [1/s]: the largest tr(K_ii) and tr(B_ii) over
    tr(M_ii) at rest; unknowns: n; rows: m; flatness: f; touches: whether there are contacts. flops: finds F, from the
    pattern of the factor, which takes longer than many steps."""

    block_count: int
    way: int
    stiffness: float
    damping: float
    unknowns: int
    rows: int
    flatness: float
    touches: bool
    flops: Callable[[], float] = field(compare=False, repr=False)
    constants: Constants = FITTED

    @property
    def iteration(self) -> float:
        """Of conjugate gradients with diagonal blocks [s]."""
        p, q = self.constants.iteration
        return p + q * self.block_count

    @property
    def least(self) -> float:
        """Of a factor without its F multiplications [s]."""
        a, b, _ = self.constants.factor
        return self._times * (a + b * self.unknowns)

    @cached_property
    def factor(self) -> float:
        """Of a factor [s]."""
        return self.least + self._times * self.constants.factor[2] * self.flops()

    @property
    def _times(self) -> float:
        if not self.touches:
            return 1.0
        return UNSYMMETRIC if self.rows else self.constants.with_contacts

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
        stiffness, damping = _largest_over_mass(system, A)
        return cls(
            A.block_count,
            longest_way(A),
            stiffness,
            damping,
            system.v_size,
            system.joint_row_count,
            flatness_of(system, A),
            bool(system.contacts),
            lambda: float(BlockPattern(A).cholesky.flops),
        )

    def iterates(self, tolerance: float, **weights: float) -> bool:
        """Whether conjugate gradients are quicker than a factor for mass M + damping B + stiffness K, to a relative
        residual."""
        if not weights["mass"] > 0.0:
            return False
        times = self.iterations(tolerance, **weights)
        quicker = min(times.blocks, times.at_most)
        return quicker < self.least or quicker < self.factor

    def aggregates(self, tolerance: float, **weights: float) -> bool:
        """Whether conjugate gradients are quicker by aggregates than by diagonal blocks."""
        if not weights["mass"] > 0.0:
            return False
        times = self.iterations(tolerance, **weights)
        return times.aggregates < times.blocks

    def iterations(self, tolerance: float, *, mass: float, damping: float, stiffness: float) -> Times:
        """What conjugate gradients take, to a relative residual."""
        c = self.constants
        way_power, least_power, most_power = c.flat
        condition = 1.0 + abs(stiffness / mass) * self.stiffness + abs(damping / mass) * self.damping
        digits = log(2.0 / max(tolerance, 1e-15)) / log(2e6)
        by_mass, by_way = c.by_mass * sqrt(condition), c.by_way * self.way * self.flatness**way_power
        count = digits / (1.0 / by_mass + 1.0 / by_way)
        more, times = 0.0, 1.0
        if self.rows:
            more, times = JOINED[0] + JOINED[1] * self.unknowns * self.rows, CLOSED
        blocks = times * count * (self.iteration + more)
        if self.block_count < FEWEST:
            return Times(blocks, inf, inf)
        each, made = (once + of * self.iteration for once, of in (c.aggregates, c.made))
        fewest, most = (
            times * min(count, digits * j * self.flatness**power) * (each + more) + made
            for j, power in ((c.by_aggregates, least_power), (c.at_most, most_power))
        )
        return Times(blocks, fewest, most)


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
