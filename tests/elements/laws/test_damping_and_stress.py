"""Damping and stress of elements."""

from __future__ import annotations

import numpy as np
import pytest
from tests.elements.laws.deformed import (
    DIFFERENCED,
    ROUNDING,
    STEP,
    STUFF,
    all_kinds,
    all_laws,
    deformed,
    elements_of,
    force_at,
    mesh_of,
    random_rotation,
    tangent_at,
)

from supple.algebra.dense import rotations
from supple.bodies.fem import FemBody
from supple.bodies.fem.elastic import ElasticForce
from supple.bodies.placement import Placement
from supple.bodies.protocols import LocalState
from supple.elements import damped_kernels
from supple.material import Law
from supple.scene.derivatives import check_derivatives, relative_error


def damping_force(force: ElasticForce, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    f = np.zeros_like(x)
    force.add_force(LocalState(0.0, x, v), f)
    return f - force_at(force.elements, force.law, x)


@all_laws
@all_kinds
def test_stiffness_damping_dissipates_and_keeps_momentum(law, kind):
    """Power < 0; sums of forces and, but for the linear law, of moments vanish in a turned and strained body."""
    x, force = deformed(kind), ElasticForce(elements_of(kind), law, 0.01)
    rng = np.random.default_rng(12)
    for _ in range(5):
        v = rng.normal(size=x.shape)
        f = damping_force(force, x, v)
        size = np.abs(f).sum()
        assert np.sum(f * v) < 0
        assert np.abs(f.sum(axis=0)).max() <= ROUNDING * size
        if law != Law.LINEAR:
            assert np.abs(np.cross(x, f).sum(axis=0)).max() <= ROUNDING * size * np.abs(x).max()


@all_laws
@all_kinds
def test_stiffness_damping_leaves_rigid_motion_alone(law, kind):
    """In a turned and strained body too; the linear law, which does not know turned bodies, in its rest shape."""
    x = mesh_of(kind).nodes if law == Law.LINEAR else deformed(kind)
    force = ElasticForce(elements_of(kind), law, 0.01)
    rigid = np.array([1.0, 2.0, 3.0]) + np.cross([0.3, -0.2, 0.5], x)
    any_motion = np.random.default_rng(14).normal(size=x.shape)
    size = np.abs(damping_force(force, x, any_motion)).max()
    assert np.abs(damping_force(force, x, rigid)).max() <= 1e2 * ROUNDING * size  # rounding of the elastic force


@all_laws
@all_kinds
def test_damping_at_rest_is_rayleighs(law, kind):
    """f = beta K v at the rest shape, in whatever rotation it stands."""
    elements, beta = elements_of(kind), 0.01
    R = np.eye(3) if law == Law.LINEAR else rotations.to_matrix(rotations.exp([0.9, -0.4, 1.3]))
    x = mesh_of(kind).nodes @ R.T
    v = np.random.default_rng(15).normal(size=x.shape)
    expected = beta * tangent_at(elements, law, x) @ v.ravel()
    assert relative_error(damping_force(ElasticForce(elements, law, beta), x, v).ravel(), expected) <= 1e-10


@all_laws
@all_kinds
@pytest.mark.parametrize("squeeze", [1.0, 0.6])
def test_damped_tangents_are_exact(law, kind, squeeze):
    """K and B of a moving body, also where the elastic stiffness is indefinite."""
    force, x = ElasticForce(elements_of(kind), law, 0.01), squeeze * deformed(kind)
    v = 3.0 * np.random.default_rng(13).normal(size=x.shape)
    report = check_derivatives(force, x, v, step=STEP, tolerance=DIFFERENCED)
    assert report.is_ok, str(report)


@all_laws
@all_kinds
def test_a_definite_tangent_of_a_damped_body_is_symmetric(law, kind):
    force, x = ElasticForce(elements_of(kind), law, 0.01), deformed(kind)
    v = np.random.default_rng(16).normal(size=x.shape)
    tangent = force.linearize(LocalState(0.0, x, v), definite=True)
    for factors in ((1.0, 0.0), (0.0, 1.0)):
        A = np.zeros((x.size, x.size))
        for row, d in zip(A, np.eye(x.size)):
            tangent.add_product(d.reshape(-1, 3), row.reshape(-1, 3), *factors)
        assert np.abs(A - A.T).max() <= ROUNDING * np.abs(A).max()
        assert np.linalg.eigvalsh(A)[-1] <= 1e-9 * np.abs(A).max()


@all_laws
@all_kinds
@pytest.mark.parametrize("definite", [False, True])
def test_one_sweep_has_the_stiffness_of_the_elastic_one(law, kind, definite):
    """Where nothing moves, K of a damped body is that of one without damping, and B does not depend on `definite`; both
    are added to what is there, in the same bits by threads."""
    elements, x = elements_of(kind), deformed(kind)
    rows, _ = elements.block_pattern()
    positions, shape = np.arange(len(rows), dtype=np.int32), (len(rows), 3, 3)
    expected = np.ones(shape)
    elements.add_blocks(law, x, 1.0, positions, expected, definite=definite)
    made = []
    for kernel in (damped_kernels.add_damped_blocks, damped_kernels.add_damped_blocks_parallel):
        K, B = np.ones(shape), np.full(shape, 2.0)
        how = int(law), definite, False, x, x, 0.01, elements._shaped(positions)
        kernel(elements.arrays, *how, K, B)
        made.append((K, B))
    (K, B), (K_threads, B_threads) = made
    assert relative_error(K, expected) <= ROUNDING
    other = np.full(shape, 2.0)
    elements.add_damped_blocks(law, x, None, 0.01, positions, np.ones(shape), other, definite=not definite)
    assert np.array_equal(B, other)
    assert np.array_equal(K, K_threads)
    assert np.array_equal(B, B_threads)


@pytest.mark.parametrize("s", [0.7, 1.0, 1.4])
@all_laws
@all_kinds
def test_stress_of_a_confined_stretch(law, kind, s):
    """F = diag(s, 1, 1), closed form law by law, in a body that stands turned in the world."""
    lam, mu = STUFF.lam, STUFF.mu
    if law == Law.LINEAR or law == Law.COROTATIONAL:
        along, across = (lam + 2 * mu) * (s - 1), lam * (s - 1)
        across = across if law == Law.LINEAR else across / s
    elif law == Law.STVK:
        green = (s * s - 1) / 2
        along, across = s * (lam + 2 * mu) * green, lam * green / s
    else:
        m, l, I = 4 / 3 * mu, lam + 5 / 6 * mu, s * s + 2
        p = l * (s - 1) - 0.75 * m
        along, across = m * (1 - 1 / (I + 1)) * s + p, (m * (1 - 1 / (I + 1)) + p * s) / s
    mesh = mesh_of(kind)
    body = FemBody(mesh, STUFF, law=law)
    x = mesh.nodes * np.array([s, 1.0, 1.0])
    found = body.stress(x)
    close = {"rtol": 0, "atol": 1e-11 * STUFF.young}
    expected = np.broadcast_to(np.diag([along, across, across]), found.stress.shape)
    np.testing.assert_allclose(found.stress, expected, **close)
    np.testing.assert_allclose(found.von_mises, abs(along - across), **close)
    strain = s - 1 if law == Law.LINEAR else (s * s - 1) / 2
    np.testing.assert_allclose(found.strain[:, 0, 0], strain, atol=1e-13)
    if law != Law.LINEAR:
        R = random_rotation(2)
        placement = Placement(np.array([1.0, 2.0, 3.0]), rotations.from_matrix(R))
        turned = body.stress(placement.apply(x), placement)
        np.testing.assert_allclose(turned.stress, R @ expected @ R.T, **close)


@all_laws
def test_small_uniaxial_tension_gives_youngs_modulus(law):
    mesh, strain = mesh_of("tets"), 1e-6
    stretch = 1 + strain * np.array([1.0, -STUFF.poisson, -STUFF.poisson])
    stress = FemBody(mesh, STUFF, law=law).stress(mesh.nodes * stretch).stress
    expected = np.diag([STUFF.young * strain, 0.0, 0.0])
    # second-order terms of the nonlinear laws are of the size of the strain
    np.testing.assert_allclose(stress, np.broadcast_to(expected, stress.shape), atol=5 * strain**2 * STUFF.young)
