"""Kernels of elements against formulas in numpy, and what they write."""

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
)

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, load
from supple.bodies.fem.elastic import ElasticForce
from supple.bodies.protocols import LocalState
from supple.elements.laws import compute_tangent
from supple.elements.recovery import first_piola
from supple.elements.shapes import rest_gradients
from supple.material import Law
from supple.scene.derivatives import differentiate, relative_error


@all_laws
@all_kinds
def test_kernels_equal_the_formulas_in_numpy(law, kind):
    """f_a = -sum_q w_q P(F_q) g_a with the stress written a second time."""
    mesh, x = mesh_of(kind), deformed(kind)
    gradients, weights = rest_gradients(mesh.nodes, mesh.elements)
    F = np.einsum("eai,eqaj->eqij", x[mesh.elements], gradients)
    P = first_piola(law, F, np.full(F.shape[:2], STUFF.lam), np.full(F.shape[:2], STUFF.mu))
    local = -np.einsum("eq,eqij,eqaj->eai", weights, P, gradients)
    expected = np.zeros_like(x)
    np.add.at(expected, mesh.elements, local)
    assert relative_error(force_at(elements_of(kind), law, x), expected) <= ROUNDING


@all_laws
def test_first_piola_is_what_the_energy_says(law):
    """P = dpsi/dF of the energies in the module's docstring, written here a third time."""
    rng = np.random.default_rng(10)
    lam, mu = STUFF.lam, STUFF.mu
    F = random_rotation(10) @ (np.eye(3) + 0.3 * rng.uniform(-1, 1, (3, 3)))

    def psi(F):
        if law == Law.LINEAR:
            e = (F + F.T) / 2 - np.eye(3)
            return mu * np.sum(e * e) + lam / 2 * np.trace(e) ** 2
        if law == Law.COROTATIONAL:
            s = np.linalg.svd(F, compute_uv=False)
            return mu * np.sum((s - 1) ** 2) + lam / 2 * np.sum(s - 1) ** 2
        if law == Law.STVK:
            e = (F.T @ F - np.eye(3)) / 2
            return mu * np.sum(e * e) + lam / 2 * np.trace(e) ** 2
        m, l = 4 / 3 * mu, lam + 5 / 6 * mu
        I, J, a = np.sum(F * F), np.linalg.det(F), 1 + 3 * m / (4 * l)
        return m / 2 * (I - 3) - m / 2 * np.log(I + 1) + l / 2 * (J - a) ** 2

    P = first_piola(law, F, lam, mu)
    D = rng.normal(size=(3, 3))
    assert np.sum(P * D) == pytest.approx(differentiate(lambda e: psi(F + e * D), 1e-3), rel=DIFFERENCED)


@compiled
def tangent_of_lanes(law, F_lanes, lam, mu, definite, work, C_out):
    """Call `compute_tangent` on 9 groups of lanes."""
    F = (
        load(F_lanes, 0, LANES),
        load(F_lanes, LANES, LANES),
        load(F_lanes, 2 * LANES, LANES),
        load(F_lanes, 3 * LANES, LANES),
        load(F_lanes, 4 * LANES, LANES),
        load(F_lanes, 5 * LANES, LANES),
        load(F_lanes, 6 * LANES, LANES),
        load(F_lanes, 7 * LANES, LANES),
        load(F_lanes, 8 * LANES, LANES),
    )
    compute_tangent(law, F, load(lam, 0, LANES), load(mu, 0, LANES), definite, work, C_out)


@all_laws
def test_tangent_kernel_writes_its_whole_triangle_over_poison(law):
    rng = np.random.default_rng(11)
    F = random_rotation(1) @ (np.eye(3) + 0.2 * rng.uniform(-1, 1, (LANES, 3, 3)))
    lam, mu = np.full(LANES, STUFF.lam), np.full(LANES, STUFF.mu)
    work, C = np.full(36 * LANES, np.nan), np.full(81 * LANES, np.nan)
    tangent_of_lanes(int(law), np.ascontiguousarray(F.reshape(LANES, 9).T).ravel(), lam, mu, False, work, C)
    upper = np.triu_indices(9)
    found = C.reshape(9, 9, LANES)[upper]
    assert np.isfinite(found).all()
    expected = np.empty((9, 9, LANES))
    for k in range(9):
        D = np.zeros((3, 3))
        D.flat[k] = 1.0
        slope = differentiate(lambda e, D=D: first_piola(law, F + e * D, lam, mu), STEP)
        expected[:, k] = slope.reshape(LANES, 9).T
    np.testing.assert_allclose(found, expected[upper], rtol=0, atol=DIFFERENCED * np.abs(expected).max())


def test_tangents_are_values_and_their_memory_is_cleared():
    """A tangent keeps its state when the force is used elsewhere; memory it takes over holds poison."""
    force, x = ElasticForce(elements_of("tets"), Law.STVK), deformed("tets")
    d = np.random.default_rng(0).normal(size=x.shape)
    tangent = force.linearize(LocalState(0.0, x, np.zeros_like(x)))
    first, again = np.zeros_like(x), np.zeros_like(x)
    tangent.add_product(d, first, 1.0, 0.0)
    other = force.linearize(LocalState(0.0, deformed("tets", 2), np.zeros_like(x)))
    other.add_product(d, np.zeros_like(x), 1.0, 0.0)
    tangent.add_product(d, again, 1.0, 0.0)
    assert np.array_equal(first, again)
    other.matrix.data[:] = np.nan
    del other
    fresh = np.zeros_like(x)
    force.linearize(LocalState(0.0, x, np.zeros_like(x))).add_product(d, fresh, 1.0, 0.0)
    assert np.array_equal(first, fresh)


@all_kinds
def test_forces_add_to_what_is_there(kind):
    elements, x = elements_of(kind), deformed(kind)
    f = force_at(elements, Law.COROTATIONAL, x)
    twice = f.copy()
    elements.add_force(Law.COROTATIONAL, x, twice)
    assert relative_error(twice, 2 * f) <= ROUNDING
