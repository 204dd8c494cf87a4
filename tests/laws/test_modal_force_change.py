"""What a force has beyond its linearisation, from the squares of its quartic energy, for one instance and for lanes."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree import TreeModel
from supple.modal import CubicForce, ElasticSolid
from supple.modal.forces import force_change_kernels as kernels
from supple.modal.forces.lane_force_kernels import lane_strips
from supple.validation.tree.coupling import beam_domain_tree
from supple.validation.tree.reduced import RUBBER, crooked_tets, random_basis

Array = np.ndarray


def make(r: int) -> tuple[CubicForce, Array, Array]:
    mesh, rng = crooked_tets(), np.random.default_rng(r)
    force = CubicForce.of(ElasticSolid(mesh, RUBBER), random_basis(len(mesh.nodes), r, 2))
    return force, 0.1 * rng.normal(size=(LANES, r)), 0.03 * rng.normal(size=(LANES, r))


def changes(force: CubicForce, q: Array, d: Array, least: float) -> tuple[Array, Array]:
    """c (LANES, r) of all lanes at once, and one by one."""
    r = force.count
    i, j = np.triu_indices(r)
    weight = np.where(i == j, 1.0, 2.0)
    squares = kernels.quartic_squares(force.linear, force.arrays.by_pairs / weight, least)
    flat = np.concatenate([part.ravel() for part in squares])
    middle, end = squares.positive.size, squares.positive.size + squares.negative.size
    rows, moved = np.ravel(q.T).copy(), np.ravel((q + d).T).copy()
    free = LANES * r
    size = kernels.change_scratch.py_func(r)
    scratch = np.full(free + size, np.nan)
    kernels.compute_lane_change(
        r, lane_strips(force.arrays), 0, flat, 0, middle, end, scratch, free, rows, moved, 0, 0
    )  # fmt: skip
    lanes, lone = scratch[:free].reshape(r, LANES).T.copy(), np.empty((LANES, r))
    for b in range(LANES):
        scratch = np.full(free + size, np.nan)
        kernels.compute_lone_change(
            r, force.lone.strips, 0, flat, 0, middle, end, scratch, free, rows, moved, b, b
        )  # fmt: skip
        lone[b] = scratch[:free].reshape(r, LANES)[:, b]
    return lanes, lone


@pytest.mark.parametrize("r", [1, 4, 9])
def test_all_squares_give_the_change_of_the_force(r: int) -> None:
    force, q, d = make(r)
    f, K = force.evaluate(q)
    expected = force.evaluate(q + d)[0] - f - np.einsum("nij,nj->ni", K, d)
    for found in changes(force, q, d, 0.0):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(f).max())


def test_squares_above_a_hundredth_give_most_of_it() -> None:
    """Of a domain's own modes. The change is the second order of the force, so that a part of it is enough."""
    force = TreeModel.of(beam_domain_tree(4, 12)).classes[0].force
    assert force is not None
    rng, unit = np.random.default_rng(5), 1 / np.sqrt(np.diag(force.linear))
    q, d = 0.1 * unit * rng.normal(size=(LANES, 12)), 0.01 * unit * rng.normal(size=(LANES, 12))
    f, K = force.evaluate(q)
    expected = force.evaluate(q + d)[0] - f - np.einsum("nij,nj->ni", K, d)
    for found in changes(force, q, d, kernels.LEAST):
        assert np.linalg.norm(unit * (found - expected)) < 0.02 * np.linalg.norm(unit * expected)
    assert len(force.squares.positive) + len(force.squares.negative) < 0.3 * 78
