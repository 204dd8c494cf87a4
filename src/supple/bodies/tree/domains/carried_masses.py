"""Masses that hang on points of domains: they add to the mass integrals of their domains, exactly.

    x = o + R s (X + U q)      m, m X, m X X^T, m U, m U X^T, m U U^T  add to  mass, S0, P0, U_bar, W5, W7

A domain that carries something is a class of its own. Integrals of a class are those of scale 1 and density factor 1,
so m over s³ and the factor is added, and what the kernels see of the domain is m again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.modal import MassIntegrals

Array = np.ndarray


class CarriedMasses(NamedTuple):
    """Masses m (k,) [kg], each at the mean of points with weights (k, points.count)."""

    points: DomainPoints
    weights: Array
    m: Array


def carry(model: TreeModel, loads: Sequence[CarriedMasses]) -> TreeModel:
    """The model with masses on points of its domains. A mass on a seam between domains is shared by them."""
    classes, domain_class = list(model.classes), model.domain_class.copy()
    added: dict[int, MassIntegrals] = {}
    for points, weights, m in loads:
        means = DomainPoints.means(model, [(points, row) for row in weights])
        chain, share = means.chain, means.weights
        assert share is not None
        domain = np.repeat(np.arange(len(chain.parent)), np.diff(chain.places))
        for k, d in enumerate(domain.tolist()):
            factor = float(share[:, [k]].toarray()[:, 0] @ m) / (model.scale[d] ** 3 * model.density[d])
            r = int(chain.start[d + 1] - chain.start[d])
            own = point_integrals(factor, chain.X[chain.first[d] + k - chain.places[d]], chain.U[k][:, :r])
            added[d] = own if d not in added else _sum(added[d], own)
    for d, own in added.items():
        kind = classes[domain_class[d]]
        domain_class[d] = len(classes)
        classes.append(replace(kind, integrals=_sum(kind.integrals, own)))
    return replace(model, classes=tuple(classes), domain_class=domain_class)


def point_integrals(m: float, X: Array, U: Array) -> MassIntegrals:
    """Of a mass m [kg] at X (3,) [m] that moves by U q, U (3, r)."""
    return MassIntegrals(
        m, m * X, m * np.outer(X, X), m * U, m * U.T[:, :, None] * X, m * np.einsum("il,jp->lpij", U, U)
    )


def _sum(one: MassIntegrals, two: MassIntegrals) -> MassIntegrals:
    names = ("mass", "S0", "P0", "U_bar", "W5", "W7")
    return MassIntegrals(*(getattr(one, name) + getattr(two, name) for name in names))
