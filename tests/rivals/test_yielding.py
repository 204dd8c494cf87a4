"""Steps beside which shapes yield, and where laws are linearised, against dense matrices and single contacts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse

import supple as sp
from supple.algebra.shapes.shape_rows import ShapeRows
from supple.algebra.sparse.block_rows import BlockRows
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.bench.petals import petals_scene
from supple.bodies.tree.step.responses import point_responses, point_shapes
from supple.bodies.tree.step.tree_sides import TreeSides
from supple.contact.contact_set import ContactSet
from supple.examples.shapes import flower
from supple.scene.linearization import dense_blocks
from supple.solvers.coupling.contact_blocks import ContactBlocks
from supple.solvers.coupling.shapes import Shapes, Yielding
from supple.solvers.coupling.turning import next_points
from supple.solvers.linear.yielding import _dense, _iterated

Array = np.ndarray
H, R = 0.3, 11


def random_rows(rng: np.random.Generator, count: int) -> tuple[Array, ShapeRows]:
    """W of points on one or two of three segments of shapes."""
    starts, W = np.array([0, 4, 5, R]), np.zeros((count, 3, R))
    for k in range(count):
        for s in rng.choice(3, 1 + k % 2, replace=False):
            W[k, :, starts[s] : starts[s + 1]] = rng.normal(size=(3, starts[s + 1] - starts[s]))
    whole = W.reshape(3 * count, R)
    return whole, ShapeRows.of(sparse.csr_array(whole), starts)


def test_rows_over_shapes_are_those_of_a_dense_matrix() -> None:
    rng = np.random.default_rng(3)
    W, rows = random_rows(rng, 6)
    y, f, T = rng.normal(size=R), rng.normal(size=18), rng.normal(size=(6, 3, 3))
    T[2] = 0.0
    blocks = sparse.block_diag(list(T)).toarray()
    np.testing.assert_allclose(rows.dense(), W)
    np.testing.assert_allclose(rows.times(y), W @ y)
    np.testing.assert_allclose(rows.pulled(f), W.T @ f)
    np.testing.assert_allclose(rows.gram(T), W.T @ blocks @ W, atol=1e-12)
    mask = np.array([True, False, True, True, False, False])
    np.testing.assert_allclose(rows.chosen(mask).dense(), W[np.repeat(mask, 3)])


@pytest.mark.parametrize(("method", "begun"), [(_dense, False), (_iterated, False), (_iterated, True)])
@pytest.mark.parametrize("apart", [True, False])
def test_a_step_beside_shapes_is_that_of_the_whole_matrix(method: object, begun: bool, apart: bool) -> None:
    """apart: every block row by itself, as of particles, where the iterations end at their start. begun: they begin at
    a motion that is not the solution."""
    rng, n, k = np.random.default_rng(4), 5, 6
    pairs = np.arange(n) if apart else np.r_[np.arange(n), 0, 1, 2, 1, 3]
    other = np.arange(n) if apart else np.r_[np.arange(n), 1, 0, 1, 2, 3]
    A = BlockSparse.from_pairs(n, pairs, other)
    A.data[:] = 0.1 * rng.normal(size=A.data.shape)
    A.data[A.diagonal] += 2 * np.eye(3)
    J = np.zeros((k, 3, n, 3))
    for c in range(k):
        J[c, :, c % n] = rng.normal(size=(3, 3))
    J = J.reshape(3 * k, 3 * n)
    W, rows = random_rows(rng, k)
    B = rng.normal(size=(R, R - 2))
    T, Y, b, w = rng.normal(size=(k, 3, 3)) + 3 * np.eye(3), B @ B.T, rng.normal(size=3 * n), rng.normal(size=R)
    blocks = sparse.block_diag(list(T)).toarray()
    for at, c in zip(range(n), range(n)):  # a law on each block, and one more on the first, is in A
        A.data[A.diagonal[at]] += H * sum(
            J[3 * m : 3 * m + 3, 3 * c : 3 * c + 3].T @ T[m] @ J[3 * m : 3 * m + 3, 3 * c : 3 * c + 3]
            for m in range(k)
            if m % n == c
        )
    yielding = Yielding(Shapes(rows, np.zeros((0, R)), Y), rows.gram(T), H)
    extra = ContactBlocks(BlockRows.from_scipy(sparse.csr_array(J)), H * T, None, False, yielding)
    start = rng.normal(size=3 * n) if begun else None
    found = method(A, extra, b, w, *(() if method is _dense else (start, 1e-13)))  # type: ignore[operator]
    V, U, N = W.T @ blocks @ J, H * J.T @ blocks @ W, W.T @ blocks @ W
    whole = np.block([[dense_blocks(A), U @ Y], [V, np.eye(R) + N @ Y]])
    expected = np.linalg.solve(whole, np.r_[b, w])
    np.testing.assert_allclose(np.r_[found.d, found.g], expected, rtol=1e-8, atol=1e-10)
    if apart and method is _iterated:
        assert found.iterations == 0


def test_shapes_of_domains_give_the_responses_of_points() -> None:
    body = sp.TreeBody(flower(), stiffness_damping=0.02)
    rng = np.random.default_rng(0)
    points = body.point_mapping(np.sort(rng.choice(len(body.skin.domain), 160, replace=False)))
    x, v = body.rest_coordinates, np.zeros((1, body.coordinates.v_width))
    now = body.unpack(x, v)
    C = point_responses(body.dynamics, points, now, x, 0.01, gravity=np.zeros(3))
    sides = TreeSides(body.dynamics)
    found = point_shapes(body.dynamics, points, now, x, 0.01, gravity=np.zeros(3), sides=sides)
    assert found.B.shape[1] == found.starts[-1] < found.B.shape[0]
    np.testing.assert_allclose(found.B @ found.Y @ found.B.T, C, atol=1e-12 * np.abs(C).max())


def test_friction_that_would_turn_round_is_held_first() -> None:
    """A contact that slid one way and is found to slide the other is linearised where its spring has no stretch."""
    one = ContactSet.bare(np.full((2, 4), -1), np.zeros((2, 4)), np.tile([0, 0, 1.0], (2, 1)), np.zeros(2), np.zeros(2))
    one = one._replace(tangential_stiffness=np.full(2, 100.0), slip=np.full((2, 3), 0.01))
    before, reached = np.array([[1.0, 0, -1], [1.0, 0, -1]]), np.array([[-2.0, 0, -3], [2.0, 0, -3]])
    at = next_points(one, before, reached, H)
    np.testing.assert_allclose(at[0], [-0.01 / H, -0.01 / H, -3])
    np.testing.assert_allclose(at[1], reached[1])


def test_hail_on_petals_settles_in_few_iterations_and_lies_still() -> None:
    """Contacts are found in a few iterations, where a search along one line for all took forty and did not end."""
    scene = petals_scene(60)
    system = scene.compile()
    state, reports = system.initial_state(), []
    for _ in range(40):
        reports.append(scene.solver.step(system, state))
    assert all(report.is_solved for report in reports)
    assert max(report.iterations for report in reports) <= 12
    assert np.mean([report.iterations for report in reports]) < 5
    assert len(system.contacts[0].touching(state.memory).force) >= 60
    force = system.contacts[0].touching(state.memory).force.sum(axis=0)
    assert abs(force[2]) == pytest.approx(60 * 5e-5 * 9.81, rel=0.2)
