"""Elements at rest, in rigid motion, turned and stretched alike."""

from __future__ import annotations

import numpy as np
import pytest
from tests.elements.laws.deformed import (
    ROUNDING,
    SIZE,
    STUFF,
    all_kinds,
    all_laws,
    deformed,
    elements_of,
    force_at,
    inner_nodes,
    mesh_of,
    random_rotation,
    tangent_at,
)

from supple.bodies.fem import FemBody
from supple.elements.recovery import first_piola
from supple.material import Law
from supple.scene.derivatives import relative_error


@all_laws
@all_kinds
def test_energy_is_zero_at_rest_and_positive_elsewhere(law, kind):
    elements, X = elements_of(kind), mesh_of(kind).nodes
    scale = STUFF.young * SIZE.prod()
    assert abs(elements.energy(law, X)) <= 1e-14 * scale
    assert np.abs(force_at(elements, law, X)).max() <= ROUNDING * STUFF.young
    for seed in range(6):
        assert elements.energy(law, deformed(kind, seed)) > 1e-4 * scale


@all_laws
@all_kinds
def test_rigid_motion_gives_no_force(law, kind):
    """But under the linear law, which takes a rotation for a strain: that is its known fault, shown here."""
    elements, X = elements_of(kind), mesh_of(kind).nodes
    moved = X + np.array([3.0, -2.0, 1.0])
    turned = moved @ random_rotation(3).T
    size = STUFF.young * 0.1  # a strain of one on a face of the mesh's size
    assert np.abs(force_at(elements, law, moved)).max() <= 1e-11 * size
    force = np.abs(force_at(elements, law, turned)).max()
    if law == Law.LINEAR:
        assert force > 0.1 * size
    else:
        assert force <= 1e-11 * size
        assert abs(elements.energy(law, turned)) <= 1e-11 * STUFF.young


@all_laws
@all_kinds
def test_forces_and_moments_balance(law, kind):
    """Internal forces have no sum and no moment; the linear law's moment vanishes about the rest positions."""
    elements, x = elements_of(kind), deformed(kind)
    f = force_at(elements, law, x)
    size = np.abs(f).sum()
    assert np.abs(f.sum(axis=0)).max() <= ROUNDING * size
    arm = mesh_of(kind).nodes if law == Law.LINEAR else x
    assert np.abs(np.cross(arm, f).sum(axis=0)).max() <= ROUNDING * size * np.abs(arm).max()


@all_laws
@all_kinds
def test_forces_turn_with_the_body(law, kind):
    if law == Law.LINEAR:
        pytest.skip("the linear law is not objective")
    elements, x, R = elements_of(kind), deformed(kind), random_rotation(9)
    f, turned = force_at(elements, law, x), force_at(elements, law, x @ R.T)
    assert relative_error(turned, f @ R.T) <= ROUNDING
    assert elements.energy(law, x @ R.T) == pytest.approx(elements.energy(law, x), rel=ROUNDING)


@all_laws
@all_kinds
def test_all_laws_have_the_stiffness_of_linear_elasticity_at_rest(law, kind):
    elements, X = elements_of(kind), mesh_of(kind).nodes
    linear = tangent_at(elements, Law.LINEAR, X)
    assert relative_error(tangent_at(elements, law, X), linear) <= ROUNDING


@all_kinds
def test_six_motions_at_rest_cost_nothing_and_no_more(kind):
    values = np.linalg.eigvalsh(-tangent_at(elements_of(kind), Law.LINEAR, mesh_of(kind).nodes))
    assert np.abs(values[:6]).max() <= ROUNDING * values[-1]
    assert values[6] > 1e-4 * values[-1]


@all_laws
@all_kinds
def test_affine_motion_gives_constant_stress_and_no_inner_force(law, kind):
    mesh, elements = mesh_of(kind), elements_of(kind)
    F = np.array([[1.2, 0.1, -0.05], [0.0, 0.9, 0.15], [0.08, -0.1, 1.1]])
    x = mesh.nodes @ F.T + 0.3
    f = force_at(elements, law, x)
    inner = inner_nodes(mesh.nodes)
    assert len(inner) == 8
    assert np.abs(f[inner]).max() <= ROUNDING * np.abs(f).max()
    stress = FemBody(mesh, STUFF, law=law).stress(x).stress
    P = first_piola(law, F, STUFF.lam, STUFF.mu)
    expected = P if law == Law.LINEAR else P @ F.T / np.linalg.det(F)
    np.testing.assert_allclose(stress, np.broadcast_to(expected, stress.shape), rtol=0, atol=1e-11 * STUFF.young)
    # the boundary carries P N: by the divergence theorem sum f X^T = -V P
    np.testing.assert_allclose(f.T @ mesh.nodes, -SIZE.prod() * P, rtol=0, atol=ROUNDING * np.abs(f).sum())
