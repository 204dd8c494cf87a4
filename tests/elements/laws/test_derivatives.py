"""Forces and tangents of elements are the slopes of their energies."""

from __future__ import annotations

import numpy as np
from tests.elements.laws.deformed import (
    DIFFERENCED,
    ROUNDING,
    STEP,
    all_kinds,
    all_laws,
    deformed,
    elements_of,
    force_at,
    tangent_at,
)

from supple.bodies.fem.elastic import ElasticForce
from supple.scene.derivatives import check_derivatives, differentiate, relative_error


@all_laws
@all_kinds
def test_force_is_the_slope_of_the_energy(law, kind):
    elements, x = elements_of(kind), deformed(kind)
    f = force_at(elements, law, x)
    rng = np.random.default_rng(5)
    for _ in range(3):
        d = rng.normal(size=x.shape)
        slope = -differentiate(lambda e, d=d: elements.energy(law, x + e * d), STEP)
        size = np.linalg.norm(f) * np.linalg.norm(d)
        assert abs(np.sum(f * d) - slope) <= DIFFERENCED * size


@all_laws
@all_kinds
def test_tangent_is_the_slope_of_the_force(law, kind):
    elements, x = elements_of(kind), deformed(kind)
    K = tangent_at(elements, law, x)
    rng = np.random.default_rng(6)
    for _ in range(3):
        d = rng.normal(size=x.shape)
        slope = differentiate(lambda e, d=d: force_at(elements, law, x + e * d), STEP)
        assert relative_error(K @ d.ravel(), slope.ravel()) <= DIFFERENCED


@all_laws
@all_kinds
def test_tangent_is_symmetric(law, kind):
    K = tangent_at(elements_of(kind), law, deformed(kind))
    assert np.abs(K - K.T).max() <= ROUNDING * np.abs(K).max()


@all_laws
@all_kinds
def test_the_public_check_agrees(law, kind):
    force = ElasticForce(elements_of(kind), law)
    x = deformed(kind)
    report = check_derivatives(force, x, np.zeros_like(x))
    assert report.is_ok, str(report)
    assert set(report.errors) == {"force = -dE/dx", "K = df/dx", "B = df/dv"}
