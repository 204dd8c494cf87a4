"""The force of one instance from half of its coefficients is the force of many from all of them."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.lanes.lane_type import LANES
from supple.modal import CubicForce, ElasticSolid
from supple.modal.forces.lone_force_kernels import compute_lone_force, lone_scratch, strip_count
from supple.validation.tree.reduced import RUBBER, crooked_tets, random_basis


@pytest.mark.parametrize("r", [1, 4, 9])
def test_half_of_the_coefficients_give_force_and_tangent(r: int) -> None:
    mesh = crooked_tets()
    force = CubicForce.of(ElasticSolid(mesh, RUBBER), random_basis(len(mesh.nodes), r, 2))
    q, wide, pairs = 0.1 * np.random.default_rng(r).normal(size=r), r + 2, (r + 2) * (r + 3) // 2
    values = np.full(LANES * r, np.nan)
    values[1::LANES] = q
    at_f = LANES * pairs
    at = at_f + LANES * wide
    workspace = np.full(at + lone_scratch.py_func(r), np.nan)
    starts = np.zeros((1, 3), dtype=np.int64)
    compute_lone_force(r, force.lone, 0, starts, workspace, at, values, 1, at_f + 1, 1, wide)
    f, K = force.evaluate(q)
    np.testing.assert_allclose(workspace[at_f : at_f + LANES * r][1::LANES], f, rtol=0, atol=1e-13 * np.abs(f).max())
    packed = np.full((wide, wide), np.nan)
    packed[np.triu_indices(wide)] = workspace[:at_f][1::LANES]
    upper = np.triu_indices(r)
    np.testing.assert_allclose(packed[:r, :r][upper], K[upper], rtol=0, atol=1e-13 * np.abs(K).max())
    assert np.isnan(packed[:, r:]).all()  # what a wider group has more is left alone
    others = np.delete(workspace[:at].reshape(-1, LANES), 1, axis=1)
    assert np.isnan(others).all()  # other lanes too


def test_about_half_of_the_coefficients_are_kept() -> None:
    mesh, r = crooked_tets(), 12
    force = CubicForce.of(ElasticSolid(mesh, RUBBER), random_basis(len(mesh.nodes), r, 3))
    strips = strip_count.py_func(r)
    assert force.lone.tiles.size == strips * (strips + 1) // 2 * LANES**2 < 0.6 * force.arrays.by_pairs.size
