"""Measures of a tree by one compiled call, from its coordinates: energies, momenta, first moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.by_address import ByAddress
from supple.bodies.tree.domains.constants import upper
from supple.bodies.tree.energy_kernels import BLOCK, EnergyRows
from supple.bodies.tree.kinematics import TreeMeasures
from supple.bodies.tree.model import ReducedTemplate, TreeModel
from supple.bodies.tree.step.measure_kernels import PAIR, SINGLE, TOTALS, MeasureArrays, compute_measures
from supple.bodies.tree.surface.domain_points import make_chain
from supple.bodies.tree.surface.instant_kernels import compute_all_rates
from supple.bodies.tree.surface.kinematics_kernels import Chain
from supple.modal.derivatives import pair_indices
from supple.modal.forces.cubic import CubicForce, triple_indices

Array = np.ndarray


class Monomials(NamedTuple):
    """Coefficients of E of one class: c2 of all a <= b, c3 of a <= b <= c, c4 of a <= b <= c <= d, in this order."""

    c2: Array
    c3: Array
    c4: Array

    @classmethod
    def of(cls, force: CubicForce) -> Monomials:
        """E = q . (f1 / 2 + f2 / 3 + f3 / 4), the parts of f of degree 1, 2 and 3, by homogeneity."""
        r = force.count
        one, two, three = (np.arange(r),), pair_indices(r), triple_indices(r)
        return cls(
            _gathered(force.linear / 2, one, r),
            _gathered(force.quadratic / 3, two, r),
            _gathered(force.cubic / 4, three, r),
        )

    @property
    def rows(self) -> Iterator[MonomialRow]:
        """All terms, by what multiplies products of two coordinates."""
        count, r = len(self.c2), int(np.sqrt(2 * len(self.c2)))
        a, b = np.triu_indices(r)
        first, three, four = np.searchsorted(a, np.arange(r)), 0, 0
        yield MonomialRow(0, 0, self.c2)
        for j in range(r):
            left = count - int(first[j])
            yield MonomialRow(1 + j, int(first[j]), np.append(np.zeros(first[j]), self.c3[three : three + left]))
            three += left
        for pair in range(count):
            begin = int(first[b[pair]])
            left = count - begin
            yield MonomialRow(1 + r + pair, begin, np.append(np.zeros(begin), self.c4[four : four + left]))
            four += left


class MonomialRow(NamedTuple):
    """Coefficients of all products of two coordinates, zero before the first, times a factor: 0 is one, then come the
    coordinates, then their products."""

    factor: int
    first: int
    values: Array


def _gathered(values: Array, others: tuple[Array, ...], r: int) -> Array:
    """Sums of values (r, k), of q_l times the monomials of `others` (k,) each, over all that are the same monomial."""
    l = np.repeat(np.arange(r), len(others[0]))
    factors = np.sort(np.stack([l, *(np.tile(o, r) for o in others)]), axis=0)
    keys, place = np.unique(np.ravel_multi_index(tuple(factors), (r,) * len(factors)), return_inverse=True)
    return np.bincount(place.ravel(), weights=values.ravel(), minlength=len(keys))


@dataclass(frozen=True, eq=False)
class TreeMeasuring:
    """What measures a tree of a model."""

    model: TreeModel
    chain: Chain
    arrays: ByAddress

    @classmethod
    def of(cls, model: TreeModel) -> TreeMeasuring:
        """Lay out what the kernels read."""
        none = np.zeros(model.domain_count + 1, dtype=np.int64)
        return cls(model, make_chain(model, none[:-1], none, np.zeros((0, 3)), []), ByAddress(pack_measures(model)))

    def measures(self, x: Array, v: Array) -> TreeMeasures:
        """At coordinates x (1, width) and rates v (1, width)."""
        return self.at_all(x, v)[0]

    def at_all(self, x: Array, v: Array) -> list[TreeMeasures]:
        """At several instants: coordinates x and rates v (k, width)."""
        k, n = len(x), self.model.coordinate_count
        frames = self.model.frame_cache.all(x, self.chain).frames
        u, w = np.empty((2, k, self.model.domain_count, 3))
        rates, out = np.ascontiguousarray(v[:, 6 : 6 + n]), np.empty((k, TOTALS))
        compute_all_rates(self.chain, frames, rates, np.ascontiguousarray(v[:, :6]), u, w)
        q = np.ascontiguousarray(x[:, 7 : 7 + n])
        compute_measures(self.arrays, frames.R, frames.o, q, rates, u, w, out)
        return [TreeMeasures(float(row[0]), float(row[1]), row[2:8], row[8:]) for row in out]


def pack_measures(model: TreeModel) -> MeasureArrays:
    """What the kernels read of a model."""
    classes = model.classes
    most = max(1, *(c.count for c in classes))
    U_bar, single = np.zeros((len(classes), 3, most)), np.zeros((len(classes), most, SINGLE))
    for k, c in enumerate(classes):
        U_bar[k, :, : c.count] = c.integrals.U_bar
        single[k, : c.count] = np.concatenate([2.0 * upper(c.integrals.W5), c.integrals.W2], axis=-1)
    pairs = [_pairs(c) for c in classes]
    members = [np.asarray(model.members(number), dtype=np.int64) for number in range(len(classes))]
    return MeasureArrays(
        np.array([c.integrals.mass for c in classes], dtype=float),
        np.array([c.integrals.S0 for c in classes], dtype=float),
        U_bar,
        np.array([upper(c.integrals.P0) for c in classes]),
        single.ravel(),
        np.concatenate([np.zeros(0), *pairs]),
        np.cumsum([0, *map(len, pairs)])[:-1],
        _energy_rows([None if c.force is None or not c.count else Monomials.of(c.force) for c in classes]),
        np.asarray(model.scale, dtype=float),
        np.asarray(model.density, dtype=float),
        np.asarray(model.tuning, dtype=float),
        np.concatenate(members),
        np.cumsum([0, *map(len, members)]),
        model.q_starts.astype(np.int64),
    )  # fmt: skip


def _energy_rows(parts: list[Monomials | None]) -> EnergyRows:
    """Of each class; None: it stores none."""
    start, first, at, factors, tables, size = [0], [], [], [], [np.zeros(0)], 0
    for part in parts:
        rows = [] if part is None else sorted(part.rows, key=lambda row: row.first)
        for k in range(0, len(rows), BLOCK):
            block = rows[k : k + BLOCK]
            table = np.zeros((len(rows[0].values) - block[0].first, BLOCK))
            for j, row in enumerate(block):
                table[row.first - block[0].first :, j] = row.values[row.first :]
            first.append(block[0].first)
            at.append(size)
            factors.append([row.factor for row in block] + [0] * (BLOCK - len(block)))
            tables.append(table.ravel())
            size += table.size
        start.append(len(first))
    starts, firsts, places = (np.array(numbers, dtype=np.int64) for numbers in (start, first, at))
    factor = np.array(factors, dtype=np.int64).reshape(-1, BLOCK)
    return EnergyRows(starts, firsts, places, factor, np.concatenate(tables))


def _pairs(kind: ReducedTemplate) -> Array:
    """What pairs p <= l of coordinates add, flat: see `MeasureArrays`."""
    g, (p, l) = kind.integrals, np.triu_indices(kind.count)
    W7, W4, twice = np.asarray(g.W7, dtype=float), np.asarray(g.W4, dtype=float), np.where(p == l, 1.0, 2.0)[:, None]
    rows = [twice * upper(W7[l, p]), g.W6[l, p], twice * W4[l, p, None]]
    return np.concatenate(rows, axis=1).reshape(-1, PAIR).ravel()
