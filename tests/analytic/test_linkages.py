"""Closed chains of joints: a parallelogram swings as its closed form says, a driven one has no more than was given."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import supple as sp
from supple.bench.fem.steel_crank import ROD, SPEED, STEEL, TORQUE, misplaced, slider_crank
from supple.errors import DivergenceError
from supple.validation.scenes.linkages import four_bar


@pytest.mark.parametrize("solver", [sp.Midpoint(1e-3), sp.GeneralizedAlpha(1e-3, rho=0.8)], ids=["midpoint", "alpha"])
def test_a_parallelogram_of_four_hinges_swings(solver: object) -> None:
    assert all(row.ok for row in four_bar(solver))


def check_crank(solver: object, material: sp.Material) -> None:
    """The slider is where a rigid rod has it, up to the rod's stretch: 200 N shorten it by 3 um of steel, 300 um of a
    solid of 2e9 Pa. The motor gives at most its torque times its speed: 1000 W."""
    run = sp.run(slider_crank(solver, material, (6, 2, 2)), until=0.03)
    assert run.under_converged == 0
    assert misplaced(run.system, run.state) < 1e-6 * STEEL.young / material.young * 10
    assert run.energies.kinetic.max() < TORQUE * SPEED * 0.03


@pytest.mark.parametrize("young", [2e9, 2e11])
@pytest.mark.parametrize("rho", [0.8, 0.9])
def test_a_slider_crank_runs_without_an_unsolved_step(rho: float, young: float) -> None:
    check_crank(sp.GeneralizedAlpha(1e-3, rho=rho), sp.Material(young, 0.3, 7800.0))


@pytest.mark.slow
def test_a_slider_crank_of_a_soft_rod_runs_for_half_a_second() -> None:
    """Ten turns of a rod of 30x2x2 hexes."""
    run = sp.run(slider_crank(sp.GeneralizedAlpha(1e-3, rho=0.8), sp.Material(2e9, 0.3, 2000.0), (30, 2, 2)), until=0.5)
    assert run.under_converged == 0
    assert run.inverted == 0
    assert misplaced(run.system, run.state) < 1e-3
    assert run.energies.kinetic.max() < TORQUE * SPEED * 0.5


def test_a_slider_crank_of_steel_runs_by_the_midpoint_rule() -> None:
    check_crank(sp.Midpoint(1e-3), STEEL)


@pytest.mark.parametrize("young", [2e9, 2e11])
def test_a_slider_crank_runs_by_newmarks_method(young: float) -> None:
    """Damped numerically, as joints need: gamma > 1/2, beta = (gamma + 1/2)² / 4."""
    check_crank(sp.Newmark(1e-3, beta=0.3025, gamma=0.6), sp.Material(young, 0.3, 7800.0))


def test_a_steel_rod_swings_on_a_joint_by_newmarks_method() -> None:
    """Let go level, until it hangs at 54 degrees: I a'' = m g c cos a with the masses of its nodes, 1.4e-4 off in steps
    of 1 ms. It only loses energy, 6e-4 of it."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.Newmark(1e-3, beta=0.3025, gamma=0.6))
    body = sp.FemBody(sp.box_hexes(size=(ROD, 0.01, 0.01), cells=(6, 2, 2)), STEEL)
    node = scene.add(body, name="rod")
    scene.add(sp.BallJoint(node, sp.World, at=(0, 0, 0)))
    run = sp.run(scene, until=0.2, record_every=0.01)
    masses, X, x = body.point_mass.node_mass, node.rest, run.system.positions(run.state, "rod")
    pull, inertia = 9.81 * masses @ X[:, 0], masses @ (X[:, 0] ** 2 + X[:, 2] ** 2)
    swing = solve_ivp(lambda t, a: (a[1], pull / inertia * np.cos(a[0])), (0, 0.2), (0, 0), rtol=1e-9)
    end = x[X[:, 0] > ROD - 1e-9].mean(axis=0)
    assert run.under_converged == 0
    assert np.arctan2(-end[2], end[0]) == pytest.approx(swing.y[0, -1], rel=1e-3)
    assert np.linalg.norm(end) == pytest.approx(ROD, rel=1e-6)
    total = run.energies.total - run.energies.total[0]
    assert total.max() < 1e-6 * run.energies.kinetic.max()
    assert total.min() > -2e-3 * run.energies.kinetic.max()


class Unchecked(sp.RungeKutta4):
    """Takes steps that are too long."""

    def prepare(self, system: sp.System) -> None:
        """Refuse nothing."""


def test_an_explosion_beside_a_point_that_is_held_in_time_is_told() -> None:
    """A chain of springs by an explicit method at 1.7 times its stable step. The held point stands still and gives
    nothing: the energy stays what it was, and a hundred times that is no error of a working step."""
    scene = sp.Scene(solver=Unchecked(0.03))
    X = np.c_[np.arange(3.0), np.zeros((3, 2))]
    chain = sp.Particles(X, 1.0, springs=[(0, 1), (1, 2)], stiffness=1e4)
    node = scene.add(chain, velocity=(0.1, 0, 0), name="chain")
    scene.add(sp.PrescribedMotion(node, [0], lambda t: (0.0, 0.0, 0.0)))
    with suppress(DivergenceError):
        run = sp.run(scene, until=0.5)
        assert run.energies.total.max() < 100 * run.energies.total[0]
