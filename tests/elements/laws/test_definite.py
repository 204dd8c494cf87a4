"""Definite tangents, and elements turned inside out or crumpled."""

from __future__ import annotations

import numpy as np
import pytest
from tests.elements.laws.deformed import ROUNDING, all_kinds, all_laws, elements_of, force_at, mesh_of, tangent_at

from supple.material import Law
from supple.scene.derivatives import relative_error


@all_laws
@all_kinds
def test_definite_tangent_has_no_positive_eigenvalue(law, kind):
    elements = elements_of(kind)
    X = mesh_of(kind).nodes
    squeezed = X * np.array([0.4, 0.9, 0.6]) + 0.03 * np.random.default_rng(2).uniform(-1, 1, X.shape)
    exact = np.linalg.eigvalsh(tangent_at(elements, law, squeezed))
    definite = np.linalg.eigvalsh(tangent_at(elements, law, squeezed, definite=True))
    if law != Law.LINEAR:
        assert exact[-1] > 1e-3 * abs(exact[0]), "the state is too mild to show anything"
    assert definite[-1] <= ROUNDING * abs(definite[0])


@all_laws
@all_kinds
def test_definite_tangent_is_the_exact_one_at_rest_and_close_near_it(law, kind):
    """What is left out is of the order of the strain."""
    elements, X = elements_of(kind), mesh_of(kind).nodes
    assert relative_error(tangent_at(elements, law, X, definite=True), tangent_at(elements, law, X)) <= ROUNDING
    errors = []
    for size in (1e-3, 1e-4):
        x = X + size * np.random.default_rng(4).uniform(-0.1, 0.1, X.shape)
        errors.append(relative_error(tangent_at(elements, law, x, definite=True), tangent_at(elements, law, x)))
    assert errors[0] <= 1e-3
    assert errors[1] <= max(0.2 * errors[0], ROUNDING)


@all_kinds
def test_stretched_elements_need_no_change(kind):
    """In pure extension each law but the linear one is convex: definite and exact agree far from rest."""
    elements, x = elements_of(kind), 1.2 * mesh_of(kind).nodes
    for law in (Law.COROTATIONAL, Law.STVK):
        K = tangent_at(elements, law, x)
        assert relative_error(tangent_at(elements, law, x, definite=True), K) <= ROUNDING


@pytest.mark.parametrize("squash", [0.0, -0.05, -0.5, -2.0])
@all_kinds
def test_neo_hookean_is_finite_and_pushes_back_when_inverted(kind, squash):
    mesh, elements = mesh_of(kind), elements_of(kind)
    x = mesh.nodes * np.array([squash, 1.0, 1.0])
    f = force_at(elements, Law.NEO_HOOKEAN, x)
    K = tangent_at(elements, Law.NEO_HOOKEAN, x)
    assert np.isfinite(f).all()
    assert np.isfinite(K).all()
    assert np.isfinite(elements.energy(Law.NEO_HOOKEAN, x))
    towards_rest = mesh.nodes * np.array([1.0, 0.0, 0.0])
    assert np.sum(f * towards_rest) > 0


@all_laws
@all_kinds
def test_forces_and_tangents_are_finite_for_crumpled_elements(law, kind):
    elements, X = elements_of(kind), mesh_of(kind).nodes
    x = np.random.default_rng(8).normal(size=X.shape)
    assert np.isfinite(force_at(elements, law, x)).all()
    assert np.isfinite(tangent_at(elements, law, x)).all()
    definite = tangent_at(elements, law, x, definite=True)
    values = np.linalg.eigvalsh(definite)
    assert values[-1] <= ROUNDING * abs(values[0])
