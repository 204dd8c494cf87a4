"""The tangent of one instance from half of its coefficients is that of many from all of them; its change too."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.lanes.lane_type import LANES
from supple.modal import CubicForce, ElasticSolid
from supple.modal.forces.force_change_kernels import (
    WIDE,
    change_arrays,
    change_rows,
    change_strips,
    compute_lane_change,
    compute_lone_change,
    compute_mixed_products,
    gauge,
)
from supple.modal.forces.lane_force_kernels import tangent_rows
from supple.modal.forces.lone_force_kernels import compute_lone_tangent, lone_arrays, strip_count
from supple.validation.tree.reduced import RUBBER, crooked_tets, random_basis

Array = np.ndarray


def solid_force(r: int, seed: int = 2) -> CubicForce:
    mesh = crooked_tets()
    return CubicForce.of(ElasticSolid(mesh, RUBBER), random_basis(len(mesh.nodes), r, seed))


def symmetric(lower: Array, r: int) -> Array:
    """Matrices (..., r, r) from their lower triangles, row by row."""
    j, i = np.tril_indices(r)
    out = np.empty((*lower.shape[:-1], r, r))
    out[..., j, i] = out[..., i, j] = lower[..., : len(i)]
    return out


@pytest.mark.parametrize("r", [1, 4, 9])
def test_half_of_the_coefficients_give_force_and_tangent(r: int) -> None:
    force, q = solid_force(r), 0.1 * np.random.default_rng(r).normal(size=r)
    values, width = np.full(LANES * r, np.nan), LANES * strip_count.py_func(r)
    values[1::LANES] = q
    j, i = np.tril_indices(r)
    work = np.full(3 * width, np.nan)
    work[:width] = 0.0
    work[: len(i)] = np.where(i == j, 1.0, 2.0) * q[i] * q[j]
    starts = np.zeros((1, 3), dtype=np.int64)
    compute_lone_tangent(r, lone_arrays(*force.by_pairs), 0, starts, values, 1, work, 0, width, 2 * width)
    f, K = force.evaluate(q)
    np.testing.assert_allclose(symmetric(work[width:], r), K, rtol=0, atol=1e-13 * np.abs(K).max())
    np.testing.assert_allclose(symmetric(work[2 * width :], r) @ q, f, rtol=0, atol=1e-13 * np.abs(f).max())


def test_about_half_of_the_coefficients_are_kept() -> None:
    r = 12
    force, strips = solid_force(r, 3), strip_count.py_func(r)
    arrays = lone_arrays(*force.by_pairs)
    assert arrays.tiles.size == strips * (strips + 1) // 2 * LANES**2 < 0.6 * force.arrays.by_pairs.size


@pytest.mark.parametrize("units", [1.0, 1e-12])
@pytest.mark.parametrize("r", [1, 4, 9])
def test_a_force_and_its_tangent_change_as_they_do(r: int, units: float) -> None:
    """One instance and lanes of them, in coordinates of any size: f exactly but for the rounding of a small change."""
    rng, force = np.random.default_rng(r), solid_force(r)
    force = CubicForce(force.linear, force.quadratic / units, force.cubic / units**2)
    q, d = 0.1 * units * rng.normal(size=(LANES, r)), 0.004 * units * rng.normal(size=(LANES, r))
    linear, T, G = force.by_pairs
    by, rows = gauge(linear, T, G), change_rows.py_func(r)
    at_u, at_p, at_E, at_one = LANES * r, 2 * LANES * r, LANES * (2 * r + rows), LANES * (2 * r + 2 * rows)

    def prepared() -> Array:
        work = np.full(at_one + 2 * rows, np.nan)
        work[:at_u], work[at_u:at_p] = (by * d).T.ravel(), (by * (2 * q + 2 / 3 * d)).T.ravel()
        compute_mixed_products(r, work, 0, at_u, at_p)
        return work

    work = prepared()
    compute_lane_change(r, change_strips(T, G, by), 0, work, 0, at_p, work.view(np.float32), at_E)
    E = symmetric(work[at_E:at_one].reshape(-1, LANES)[: tangent_rows.py_func(r)].T, r)
    f, K = force.evaluate(q)
    f_moved, K_moved = force.evaluate(q + d)
    expected, found = f_moved - f - np.einsum("bij,bj->bi", K, d), 0.5 * np.einsum("bij,bj->bi", E, d)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    assert np.abs(K + E - K_moved).max() < 0.05 * np.abs(K_moved - K).max()  # of second order in d

    work = prepared()
    pairs = r * (r + 1) // 2
    work[at_one : at_one + rows] = 0.0
    work[at_one : at_one + pairs] = work[at_p:].reshape(-1)[2 : 2 + LANES * pairs : LANES]
    starts = np.zeros((1, 2), dtype=np.int64)
    compute_lone_change(r, change_arrays(T, G, by), 0, starts, work, 2, at_one, work.view(np.float32), at_one + rows)
    one = symmetric(work[at_one + rows :], r)
    np.testing.assert_allclose(one, E[2], rtol=0, atol=1e-5 * np.abs(E).max())
    assert rows % WIDE == 0
