"""The forces of lanes of instances side by side are those of each."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.lanes.lane_type import LANES
from supple.modal import CubicForce, ElasticSolid
from supple.modal.forces.lane_force_kernels import compute_lane_force, lane_scratch, lane_strips, tangent_rows
from supple.validation.tree.reduced import RUBBER, crooked_tets, random_basis


@pytest.mark.parametrize("r", [1, 4, 9])
def test_lanes_have_the_force_and_tangent_of_each(r: int) -> None:
    mesh = crooked_tets()
    force = CubicForce.of(ElasticSolid(mesh, RUBBER), random_basis(len(mesh.nodes), r, 2))
    q, pairs = 0.1 * np.random.default_rng(r).normal(size=(LANES, r)), r * (r + 1) // 2
    at_K = LANES * r
    free = at_K + LANES * tangent_rows.py_func(r)
    workspace = np.full(free + lane_scratch.py_func(r), np.nan)
    compute_lane_force(r, lane_strips(*force.by_pairs), 0, q.T.ravel(), 0, workspace, 0, at_K, free)
    f, K = force.evaluate(q)
    np.testing.assert_allclose(workspace[:at_K].reshape(r, LANES).T, f, rtol=0, atol=1e-13 * np.abs(f).max())
    found = workspace[at_K:].reshape(-1, LANES)[:pairs].T
    lower = K[:, *np.tril_indices(r)]
    np.testing.assert_allclose(found, lower, rtol=0, atol=1e-13 * np.abs(K).max())
