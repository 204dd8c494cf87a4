"""Measures of a tree by one compiled call, from its coordinates: energies, momenta, first moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.bodies.tree.kinematics import TreeMeasures
from supple.bodies.tree.model import ReducedTemplate, TreeModel
from supple.bodies.tree.step.measure_kernels import NINE, TOTALS, MeasureArrays, compute_measures
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
    arrays: MeasureArrays

    @classmethod
    def of(cls, model: TreeModel) -> TreeMeasuring:
        """Lay out what the kernels read."""
        none = np.zeros(model.domain_count + 1, dtype=np.int64)
        return cls(model, make_chain(model, none[:-1], none, np.zeros((0, 3)), []), _pack(model))

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
        compute_measures(self.arrays, self.chain, frames.R, frames.o, q, rates, u, w, out)
        return [TreeMeasures(float(row[0]), float(row[1]), row[2:8], row[8:]) for row in out]


def _pack(model: TreeModel) -> MeasureArrays:
    classes = model.classes
    most = max(1, *(c.count for c in classes))
    parts = [None if c.force is None else Monomials.of(c.force) for c in classes]
    first, sizes = np.full((len(classes), 3), -1, dtype=np.int64), np.zeros(3, dtype=np.int64)
    for k, part in enumerate(parts):
        if part is not None:
            first[k] = sizes
            sizes += [len(c) for c in part]
    c2, c3, c4 = (np.concatenate([np.zeros(0), *(p[k] for p in parts if p is not None)]) for k in range(3))

    def padded(name: str, *shape: int) -> Array:
        out = np.zeros((len(classes), *shape))
        for k, c in enumerate(classes):
            values = _integral(c, name)
            out[k][tuple(slice(0, size) for size in values.shape)] = values
        return out

    W5 = padded("W5", most, NINE)
    turned = np.zeros_like(W5)
    turned[:, :, :9] = W5[:, :, :9].reshape(-1, most, 3, 3).transpose(0, 1, 3, 2).reshape(-1, most, 9)
    members = [np.asarray(model.members(number), dtype=np.int64) for number in range(len(classes))]
    return MeasureArrays(
        np.array([c.integrals.mass for c in classes], dtype=float),
        padded("S0", 3),
        padded("U_bar", 3, most),
        padded("W4", most, most).ravel(),
        padded("P0", NINE).ravel(),
        W5.ravel(),
        (W5 + turned).ravel(),
        padded("W7", most, most, NINE).ravel(),
        first, c2, c3, c4,
        np.asarray(model.scale, dtype=float),
        np.asarray(model.density, dtype=float),
        np.asarray(model.tuning, dtype=float),
        np.concatenate(members),
        np.cumsum([0, *map(len, members)]),
    )  # fmt: skip


def _integral(kind: ReducedTemplate, name: str) -> Array:
    """A mass integral as the kernels take it: 3x3 matrices as nine numbers, W7 by rows p."""
    values = np.asarray(getattr(kind.integrals, name), dtype=float)
    if name == "W7":
        values = values.transpose(1, 0, 2, 3)
    return values.reshape(*values.shape[:-2], 9) if name in ("P0", "W5", "W7") else values
