"""`Placing`: where points of a tree are at several instants, in one call, to look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.surface import placing_kernels as kernels
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.bodies.tree.surface.frame_cache import Instants

Array = np.ndarray
AT_ONCE = 16
"""Instants whose points stay in the cache."""


@dataclass(frozen=True, eq=False)
class Placing:
    """Points of a tree. place (hung,): of each that hangs on a domain among the blocks' points; indptr, indices,
    weights: means over these, in the numbers of the blocks' points."""

    blocks: kernels.HungBlocks
    place: Array
    indptr: Array
    indices: Array
    weights: Array

    @classmethod
    def of(cls, points: DomainPoints) -> Placing:
        """Lay out what the kernels read."""
        chain, d = points.chain, len(points.chain.parent)
        counts = np.diff(chain.places)
        block_start = np.concatenate([[0], np.cumsum(-(-counts // LANES))])
        domain = np.repeat(np.arange(d), counts)
        own = np.arange(points.hung) - chain.places[domain]
        place = LANES * block_start[domain] + own
        X, U = np.zeros((LANES * int(block_start[-1]), 3)), []
        X[place] = chain.X[chain.first[domain] + own]
        for k, (first, last) in enumerate(pairwise(block_start)):
            r = chain.start[k + 1] - chain.start[k]
            part = np.zeros((LANES * (last - first), 3, r))
            part[: counts[k]] = chain.U[chain.first[k] : chain.first[k] + counts[k], :, :r]
            U.append(part.reshape(last - first, LANES, 3, r).transpose(0, 3, 2, 1).ravel())
        value = np.cumsum([0, *map(len, U)])[:-1]
        blocks = kernels.HungBlocks(
            block_start, value, X.reshape(-1, LANES, 3).swapaxes(1, 2).ravel(), np.concatenate(U), chain.start,
            chain.scale,
        )  # fmt: skip
        W = points.weights
        if W is None:
            return cls(blocks, place, np.arange(points.hung + 1), place, np.ones(points.hung))
        return cls(blocks, place, np.asarray(W.indptr, dtype=np.int64), place[W.indices], np.asarray(W.data))

    def hung(self, instants: Instants, first: int = 0, count: int | None = None) -> Array:
        """Where the points are that hang on domains, at so many instants from the first on, two side by side, in rows
        of `placing_kernels.PAIR` numbers, (pairs, rows) [m]; scratch that the next call takes again."""
        n, last = self.blocks.start[-1], len(instants.x) if count is None else first + count
        x, (R, o) = instants.x[first:last], (a[first:last] for a in (instants.frames.R, instants.frames.o))
        pairs = -(-len(x) // 2)
        if not self._scratch or len(self._scratch[0]) < pairs:
            self._scratch[:] = [np.zeros((pairs, kernels.PAIR * LANES * int(self.blocks.block_start[-1])))]
        out: Array = self._scratch[0][:pairs]
        kernels.place_hung(self.blocks, R, o, np.ascontiguousarray(x[:, 7 : 7 + n]), out)
        return out

    @cached_property
    def _scratch(self) -> list[Array]:
        return []

    def positions(self, instants: Instants, dtype: type = np.float64) -> Array:
        """World positions (k, count, 3) [m] at each instant."""
        out: Array = np.empty((len(instants.x), len(self.indptr) - 1, 3), dtype)
        for first in range(0, len(out), AT_ONCE):
            part = out[first : first + AT_ONCE]
            kernels.weigh(self.indptr, self.indices, self.weights, self.hung(instants, first, len(part)), part)
        return out
