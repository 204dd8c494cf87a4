"""The matrix of Newton's method is the derivative of its residual, frames that turn and joints included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.modal import ElasticSolid
from supple.solvers.linear import newton
from supple.solvers.linear.newton import Evaluation, Newton, Tangent, Weights, pull_matrix, pulled_forces

DT = 0.01
METHODS = {
    "euler": lambda **o: sp.ImplicitEuler(DT, newton=True, **o),
    "alpha": lambda **o: sp.GeneralizedAlpha(DT, **o),
    "newmark": lambda **o: sp.Newmark(DT, beta=0.3025, gamma=0.6, **o),
    "midpoint": lambda **o: sp.Midpoint(DT, **o),
}
SOFT = sp.Material(2e5, 0.3, 1000.0)


def spinning(joined: bool, cells: int = 4) -> sp.System:
    """A rigid and a floating body that turn by some ten degrees in a step, and a soft one of so many cells."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    rigid = scene.add(sp.RigidBody.box((0.1, 0.2, 0.05), density=1000), spin=(5, 12, 9), name="rigid")
    mesh = sp.box_tets(size=(0.3, 0.05, 0.05), cells=(4, 1, 1))
    floating = scene.add(
        sp.FloatingBody.from_solid(ElasticSolid(mesh, SOFT), modes=4), at=(0.3, 0, 0), spin=(3, -7, 8), name="float"
    )
    if joined:
        scene.add(sp.HingeJoint(rigid, floating, at=(0.1, 0, 0), axis=(0, 1, 0)))
    mesh = sp.box_tets(size=(0.3, 0.05, 0.05), cells=(cells, 1, 1))
    beam = scene.add(sp.FemBody(mesh, SOFT), at=(0, 0.5, 0), spin=(0, 2, 3), name="beam")
    if joined:
        scene.add(sp.FixedJoint(beam, rigid, at=(0, 0.3, 0)))
    return scene.compile()


class _Caught(Exception):
    pass


def caught(system: sp.System, method: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, np.ndarray, Weights]:
    """What Newton's method is asked to solve in the first step."""
    found: list[Any] = []

    def solve(self: Newton, system: sp.System, evaluate: Any, u: np.ndarray, weights: Weights, **_: Any) -> None:
        found.extend([evaluate, u, weights])
        raise _Caught

    monkeypatch.setattr(Newton, "solve", solve)
    solver = METHODS[method]()
    step = solver._step if method == "midpoint" else solver.step
    with pytest.raises(_Caught):
        step(system, system.initial_state())
    return found[0], found[1], found[2]


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_the_matrix_is_the_derivative_of_the_residual(
    method: str, joined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = spinning(joined)
    evaluate, u, weights = caught(system, method, monkeypatch)
    rng = np.random.default_rng(1)
    size = 0.05 / weights.position
    u = u + 0.3 * size * rng.normal(size=u.size) * (np.arange(u.size) < 15)
    l = rng.normal(size=system.joint_row_count)
    now = evaluate(u)
    tangent = Tangent.of(system, now, u, l, weights, definite=False)
    assert tangent.axes is not None
    w = {"mass": weights.mass, "damping": weights.damping, "stiffness": weights.stiffness}

    def residual(e: Evaluation) -> np.ndarray:
        return e.residual - (e.push * pulled_forces(system, e, l) if joined else 0.0)

    for _ in range(3):
        y = size * rng.normal(size=u.size)
        du = 1e-4 * tangent.axes.undone(y)
        after, before = evaluate(u + du), evaluate(u - du)
        exact = (residual(after) - residual(before)) / 2e-4
        found = tangent.lin.product(y, **w)
        np.testing.assert_allclose(tangent.lin.matrix(**w) @ y, found, atol=1e-9 * np.abs(found).max())
        # joints push from both ends of a midpoint step, in the matrix from its middle
        allowed = 2e-3 if joined and method == "midpoint" else 1e-6
        assert np.linalg.norm(found - exact) < allowed * np.linalg.norm(exact)
        if joined:
            moved = (system.violation(after.end) - system.violation(before.end)) / 2e-4
            rows = weights.position * (tangent.joint_rows(system, now) @ y)
            np.testing.assert_allclose(rows, moved, atol=1e-6 * np.abs(moved).max())


@pytest.mark.parametrize("cells", [4, 30], ids=["dense", "sparse"])
@pytest.mark.parametrize("method", METHODS)
def test_joints_push_by_the_transpose_of_the_rows_in_the_matrix(
    method: str, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To round-off. In a midpoint step they push from both ends, whose axes are turned by some degrees."""
    system = spinning(joined=True, cells=cells)
    assert system.is_small == (cells == 4)
    evaluate, u, _ = caught(system, method, monkeypatch)
    now, l = evaluate(u), np.random.default_rng(2).normal(size=system.joint_row_count)
    rows, force = pull_matrix(system, now, system.linearize(now.kin)), pulled_forces(system, now, l)
    np.testing.assert_allclose(rows.T @ l, force, rtol=0, atol=1e-12 * np.abs(force).max())


@pytest.mark.parametrize("method", METHODS)
def test_the_iterations_converge_quadratically(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Residuals fall with the square of the one before; without the turning of frames, twelve iterations fell tenfold
    each. In a midpoint step joints push from both ends, in its matrix from the middle: two iterations more."""
    system, sizes = spinning(joined=True), list[float]()
    merit = Newton._merit

    def noted(self: Newton, system: sp.System, e: Evaluation, l: np.ndarray, w: Weights) -> tuple[np.ndarray, float]:
        r, total = merit(self, system, e, l, w)
        sizes.append(np.sqrt(total) / e.scale)
        return r, total

    monkeypatch.setattr(newton.Newton, "_merit", noted)
    solver = METHODS[method](newton_tolerance=1e-13)
    (solver._step if method == "midpoint" else solver.step)(system, system.initial_state())
    assert sizes[2] / sizes[0] < 1e-3
    assert sizes[3] / sizes[0] < 10.0 * (sizes[2] / sizes[0]) ** 2
    assert len(sizes) <= (7 if method == "midpoint" else 5)
