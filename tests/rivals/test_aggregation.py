"""Conjugate gradients with aggregates against a factor and against diagonal blocks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.algebra.sparse.aggregation.aggregation import FEW, MEMBERS, Aggregation
from supple.algebra.sparse.aggregation.compact_parts import compact_parts, nested_parts
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.conjugate_gradients import solve_cg
from supple.algebra.sparse.direct import DirectSolver
from supple.solvers.linear.costs import Costs
from supple.solvers.linear.prediction import predicted_change, turned_on

DT = 0.01
RUBBER = sp.Material(1e6, 0.3, 1000.0)


def scene_of(cells: tuple[int, int, int], how: str = "free", young: float = 1e6) -> sp.Scene:
    """A block of tets of 2 cm that spins, hangs from one end, or lies on a floor."""
    size = tuple(0.02 * n for n in cells)
    body = sp.FemBody(sp.box_tets(size=size, cells=cells), sp.Material(young, 0.3, 1000.0))
    scene = sp.Scene(gravity=(0, 0, -9.81))
    if how == "floor":
        scene.add(body, at=(0, 0, size[2] / 2), name="block")
        scene.add(sp.Floor())
    elif how == "held":
        scene.add(body, fix="x_min", name="block")
    else:
        scene.add(body, spin=(1, 2, 3), velocity=(0.1, 0.2, 0.3), name="block")
    return scene


def matrix_of(cells: tuple[int, int, int], young: float = 1e6) -> tuple[BlockSparse, np.ndarray]:
    """M + h² K of a block, and its points."""
    system = scene_of(cells, young=young).compile()
    lin = system.linearize(system.propagate(0.0, system.x0, np.zeros(system.v_size)), definite=True)
    A = lin.assemble(mass=1.0, stiffness=-(DT**2))
    assert A is not None
    return A.copy(), system.x0.reshape(-1, 3)


def made(A: BlockSparse, points: np.ndarray, used: np.ndarray | None = None) -> Aggregation:
    n = len(points)
    M = Aggregation(A, points, np.ones(n, dtype=bool) if used is None else used, np.zeros(n, dtype=int))
    M.update(A, points)
    return M


def applied(M: Aggregation, n: int) -> np.ndarray:
    """M^-1 as a matrix, from memory that was not a number."""
    columns = []
    for e in np.eye(n):
        z = np.full(n, np.nan)
        M.apply(e, z)
        columns.append(z)
    return np.array(columns).T


def rigid_motions(part: np.ndarray, points: np.ndarray) -> np.ndarray:
    """T (3 n, 6 m), point by point."""
    T = np.zeros((len(points), 3, part.max() + 1, 6))
    for i, p in enumerate(part):
        if p >= 0:
            d = points[i] - points[part == p].mean(axis=0)
            T[i, :, p, :3] = np.eye(3)
            T[i, :, p, 3:] = np.cross(np.eye(3), d).T
    return T.reshape(3 * len(points), -1)


def test_parts_are_nested_and_even() -> None:
    points = np.random.default_rng(0).random((3000, 3))
    label = np.arange(3000) % 3 // 2  # one part twice as large as the other
    levels = nested_parts(points, label, 27, 10)
    assert len(levels) == 2
    for fine, coarse in pairwise([*levels, label]):
        assert all(len(np.unique(coarse[fine == p])) == 1 for p in range(fine.max() + 1))
    counts = np.bincount(levels[0])
    assert counts.min() > 27 / 4
    assert counts.max() < 27 * 4
    assert 0.5 < counts.mean() / 27 < 1.5
    assert levels[-1].max() < 10


@pytest.mark.parametrize(
    ("layers", "of"),
    [((9, 12, 6), 36), ((27, 27, 27), 27), ((2, 37, 37), 32), ((2, 2, 54), 28), ((7, 3, 3), 36), ((1, 1, 50), 30)],
)
def test_parts_of_a_lattice_are_boxes_of_whole_layers(layers: tuple[int, int, int], of: int) -> None:
    """Layers are cut nowhere, wherever the lattice lies and however it is turned round its axes by rounding."""
    ijk = np.stack(np.meshgrid(*map(np.arange, layers), indexing="ij"), axis=-1).reshape(-1, 3)
    points = 0.01 * ijk / 3.0 - [0.1, 0.7, 0.0] + 1e-15 * np.random.default_rng(0).normal(size=ijk.shape)
    part = compact_parts(points, np.zeros(len(points), dtype=int), 27)
    counts = np.bincount(part)
    for p, count in enumerate(counts):
        own = ijk[part == p]
        assert np.prod(np.ptp(own, axis=0) + 1) == count
    assert counts.max() <= of
    assert counts.min() >= 9


def test_points_in_one_place_are_one_part() -> None:
    """Also beside others, and where there is one point or none."""
    place = np.vstack([np.zeros((200, 3)), np.ones((1, 3))])
    assert compact_parts(place, np.zeros(201, dtype=int), 27).max() < 10  # halved by number, not one by one
    assert compact_parts(place[:200], np.zeros(200, dtype=int), 27).max() == 0
    assert nested_parts(place[:1], np.zeros(1, dtype=int), 27, 27)[0].tolist() == [0]
    assert len(nested_parts(place[:0], np.zeros(0, dtype=int), 27, 27)[0]) == 0


def test_the_matrix_of_aggregates_is_that_of_their_rigid_motions() -> None:
    """T^T A T, of points that are used alone; and of aggregates of aggregates, which are larger rigid bodies."""
    A, points = matrix_of((12, 11, 11))
    used = points[:, 0] > points[:, 0].min() + 0.01
    M = made(A, points, used)
    assert len(M._levels) == 2
    dense, part = A.to_scipy().toarray(), np.full(len(points), -1)
    fine, coarse = M._levels
    for p in (fine.part, coarse.part[fine.part]):
        part[used] = p[used]
        T = rigid_motions(part, points)
        level = fine if p is fine.part else coarse
        expected, found = T.T @ dense @ T, level.pattern.dense()
        if p is not fine.part:  # about the mean of the centres, not of the points: the same motions by other numbers
            expected = _moved(part, points, fine, coarse, expected)
        np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


def _moved(part: np.ndarray, points: np.ndarray, fine: Any, coarse: Any, K: np.ndarray) -> np.ndarray:
    shift = np.zeros_like(K)
    for p in range(part.max() + 1):
        d = coarse.centres[p] - points[part == p].mean(axis=0)
        own = slice(6 * p, 6 * p + 6)
        shift[own, own] = np.eye(6)
        shift[6 * p : 6 * p + 3, 6 * p + 3 : 6 * p + 6] = -np.cross(np.eye(3), d).T
    return shift.T @ K @ shift


def test_it_is_symmetric_and_positive_definite() -> None:
    A, points = matrix_of((7, 6, 6))
    n = 3 * len(points)
    inverse = applied(made(A, points), n)
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-12 * np.abs(inverse).max())
    assert np.linalg.eigvalsh((inverse + inverse.T) / 2).min() > 0.0


def test_a_cycle_is_gauss_seidel_down_the_coarse_motions_and_gauss_seidel_up() -> None:
    """Beside dense matrices, whose blocks beside the diagonal are rounded to single precision."""
    A, points = matrix_of((12, 11, 11))
    M, n = made(A, points), 3 * len(points)
    fine, coarse = M._levels
    K, count = fine.pattern.dense(), 6 * fine.pattern.count
    at = np.arange(count) // 6
    D = np.where(at[:, None] == at, K, 0.0)
    L = np.tril(np.where(at[:, None] == at, 0.0, K).astype(np.float32).astype(float))
    T = rigid_motions(coarse.part, fine.centres)
    T = np.concatenate([T.reshape(-1, 3, T.shape[1]), np.zeros_like(T).reshape(-1, 3, T.shape[1])], axis=1)
    for i, p in enumerate(coarse.part):
        T[i, 3:, 6 * p + 3 : 6 * p + 6] = np.eye(3)
    T = T.reshape(count, -1)
    r = np.random.default_rng(3).normal(size=n)
    f = rigid_motions(fine.part, points).T @ r
    z = np.linalg.solve(D + L, f)
    z += T @ np.linalg.solve(coarse.pattern.dense(), T.T @ (-L.T @ z))
    z = np.linalg.solve(D + L.T, f - L @ z)
    out = np.full(n, np.nan)
    M.apply(r, out)
    expected = rigid_motions(fine.part, points) @ z
    expected += np.linalg.solve(A.data[A.diagonal], r.reshape(-1, 3, 1)).reshape(-1)
    np.testing.assert_allclose(out, expected, atol=1e-6 * np.abs(expected).max())


def test_a_solid_takes_as_many_iterations_whatever_its_stiffness() -> None:
    counts = []
    for young in (1e5, 1e7, 1e9):
        A, points = matrix_of((40, 4, 4), young)
        b = np.random.default_rng(1).normal(size=3 * len(points))
        report = solve_cg(A, b, preconditioner=made(A, points), tolerance=1e-8)
        exact = DirectSolver(A).solve_once(b)
        np.testing.assert_allclose(report.x, exact, atol=1e-6 * np.abs(exact).max())
        counts.append(report.iterations)
        if young == 1e9:
            assert solve_cg(A, b, tolerance=1e-8).iterations > 5 * report.iterations
    assert max(counts) < 80


@pytest.mark.parametrize("how", ["free", "held", "floor"])
def test_steps_are_those_by_diagonal_blocks(how: str) -> None:
    scene = scene_of((12, 5, 5), how)
    ends = []
    for preconditioner in ("block_jacobi", "aggregation"):
        solver = sp.ImplicitEuler(DT, linear="cg", preconditioner=preconditioner, tolerance=1e-10)
        system = scene.compile()
        state = system.initial_state()
        for _ in range(4):
            assert solver.step(system, state).outcome.name == "SOLVED"
        ends.append(state)
    scale = max(np.abs(ends[0].v).max(), DT * 9.81)  # what rests has lost what gravity gave it
    np.testing.assert_allclose(ends[1].v, ends[0].v, atol=1e-6 * scale)
    assert not np.array_equal(ends[1].v, ends[0].v)


def test_a_solver_that_takes_over_gives_the_same_bits() -> None:
    system = scene_of((12, 5, 5), "floor").compile()
    one = sp.ImplicitEuler(DT, linear="cg", preconditioner="aggregation")
    state = system.initial_state()
    for _ in range(3):
        one.step(system, state)
    other_system, resumed = scene_of((12, 5, 5), "floor").compile(), state.copy()
    other = sp.ImplicitEuler(DT, linear="cg", preconditioner="aggregation")
    for _ in range(2):
        one.step(system, state)
        other.step(other_system, resumed)
    assert np.array_equal(resumed.v, state.v)
    assert np.array_equal(resumed.x, state.x)


def test_momentum_is_kept() -> None:
    system = scene_of((12, 5, 5)).compile()
    state = system.initial_state()
    solver = sp.ImplicitEuler(DT, linear="cg", preconditioner="aggregation", tolerance=1e-4)
    ones = system.propagate(0.0, state.x, np.ones_like(state.v))
    start, weight = system.momentum(state)[:3], float(system.momentum(ones)[0]) * 9.81
    for _ in range(5):
        solver.step(system, state)
    fallen = start - [0.0, 0.0, 5 * DT * weight]
    np.testing.assert_allclose(system.momentum(state)[:3], fallen, rtol=1e-12)


def test_points_that_others_hold_fast_are_left_out() -> None:
    """Stiffness of contacts on some points, in a pattern with more blocks: beside the aggregates it changes little."""
    A, points = matrix_of((12, 5, 5))
    n = len(points)
    low, high = np.flatnonzero(points[:, 2] == points[:, 2].min()), np.flatnonzero(points[:, 2] == points[:, 2].max())
    rows = np.repeat(np.arange(n), np.diff(A.indptr))
    wide = BlockSparse.from_pairs(n, np.r_[rows, low, high], np.r_[A.indices, high, low])
    wide.data[wide.locate(rows, A.indices)] = A.data
    wide.data[wide.locate(low, low)] += 1e6 * np.abs(A.data).max() * np.eye(3)
    M = made(A, points)
    b = np.random.default_rng(1).normal(size=3 * n)
    M.update(wide, points, A)
    report = solve_cg(wide, b, preconditioner=M)
    assert report.is_converged
    assert report.iterations < 60


def test_what_is_not_positive_definite_is_refused() -> None:
    A, points = matrix_of((7, 6, 6))
    M = made(A, points)
    A.data *= -1.0
    with pytest.raises(np.linalg.LinAlgError):
        M.update(A, points)


@pytest.mark.parametrize(
    ("cells", "young", "aggregates"),
    [
        ((9, 9, 9), 1e5, False),  # 4.1 ms a step by diagonal blocks, 5.6 by aggregates
        ((14, 14, 14), 1e8, True),  # 18 ms, 14
        ((60, 8, 8), 1e8, True),  # 83 ms, 23
    ],
)
def test_the_quicker_one_of_those_measured_is_chosen(
    cells: tuple[int, int, int], young: float, aggregates: bool
) -> None:
    scene = sp.Scene()
    size = tuple(0.2 * n / max(cells) for n in cells)
    scene.add(sp.FemBody(sp.box_tets(size=size, cells=cells), sp.Material(young, 0.3, 1000.0)))
    costs = Costs.of(scene.compile())
    assert costs.aggregates(1e-6, mass=1.0, damping=-DT, stiffness=-(DT**2)) == aggregates


def test_the_coarsest_level_is_small() -> None:
    A, points = matrix_of((12, 11, 11))
    M = made(A, points)
    assert M.coarsest <= FEW
    assert np.bincount(M._levels[0].part).max() <= 2 * MEMBERS


def test_it_is_made_anew_where_others_add_much_more_to_the_same_matrix() -> None:
    own, points = matrix_of((6, 6, 6))
    M, r, z = made(own, points), np.random.default_rng(2).normal(size=points.size), np.empty(points.size)
    found = []
    for factor in (1.5, 1.6, 4.0):
        A = own.copy()
        A.data[A.diagonal[0]] *= factor
        M.update(A, points, own)
        M.apply(r, z)
        found.append(z.copy())
    np.testing.assert_array_equal(found[0], found[1])
    assert np.abs(found[2] - found[1]).max() > 1e-3 * np.abs(z).max()


def test_iterations_begin_where_a_turning_body_would_be() -> None:
    """Points of a rigid body go on turning, free ones fall, held ones stay."""
    x, along = np.random.default_rng(1).normal(size=(20, 3)), np.array([0.3, 0.2, 0.1])
    spin, h = np.array([1.0, -2.0, 3.0]), 0.05
    v = np.cross(spin, x - x.mean(axis=0)) + along
    turned = x @ rotations.to_matrix(rotations.exp(h * spin)).T
    after = np.cross(spin, turned - turned.mean(axis=0)) + along
    np.testing.assert_allclose(turned_on(x, v, h), after - v, atol=1e-13)
    falls = scene_of((4, 4, 4)).compile()
    state = falls.initial_state()
    begun = predicted_change(falls, falls.propagate(0.0, state.x, np.zeros(falls.v_size)), h)
    np.testing.assert_allclose(begun.reshape(-1, 3), np.broadcast_to([0, 0, -9.81 * h], (125, 3)), atol=1e-15)
    held = scene_of((4, 4, 4), "held").compile()
    assert not predicted_change(held, held.propagate(0.0, held.x0, held.v0), h).any()
