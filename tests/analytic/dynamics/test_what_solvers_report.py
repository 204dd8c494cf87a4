"""Solvers that fail say so; what is no solver is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.analytic.dynamics.stepping import SOLVERS, all_solvers, linear_net

import supple as sp
from supple.errors import ConvergenceError, InputError
from supple.solvers import Outcome
from supple.validation.couplings import coupled


class Stick:
    """f = -F sign(x - x0): no tangent helps, Newton's iteration cannot end."""

    def energy(self, state):
        return float(np.abs(state.x - 0.3).sum())

    def add_force(self, state, f_out):
        f_out -= 100.0 * np.sign(state.x - 0.3)

    def linearize(self, state, *, definite=False):
        return self

    def add_product(self, dv, df_out, stiffness, damping):
        pass


class Nothing(Stick):
    """A force that is not a number after a while."""

    def add_force(self, state, f_out):
        f_out += np.nan if state.t > 0.015 else 0.0


class Stiffening(Stick):
    """f = -k x³: soft at the start, without limit later."""

    def add_force(self, state, f_out):
        f_out -= 1e6 * state.x**3


def one_particle(force: Any, **placed: Any) -> Any:
    scene = sp.Scene()
    dot = scene.add(sp.Particles([[0.3 + 1e-4, 0.3 - 1e-4, 0.3 + 2e-4]], 1.0), name="dot", **placed)
    scene.add(force, on=dot)
    return scene.compile()


@pytest.mark.parametrize("name", ["implicit Euler, Newton", "midpoint", "Newmark", "generalised alpha"])
def test_newton_that_does_not_end_is_reported(name):
    system = one_particle(Stick())
    report = SOLVERS[name](0.01).step(system, system.initial_state())
    assert report.outcome is Outcome.NEWTON_LIMIT
    assert not report.is_solved
    assert "smaller step" in report.outcome.sentence
    assert report.residual > 1e-3


@all_solvers
def test_what_is_not_finite_is_reported(name):
    system = one_particle(Nothing())
    state, solver = system.initial_state(), SOLVERS[name](0.01)
    outcomes = [solver.step(system, state).outcome for _ in range(4)]
    assert outcomes[0] is Outcome.SOLVED
    assert outcomes[-1] is Outcome.NOT_FINITE
    assert "not finite" in outcomes[-1].sentence


@pytest.mark.parametrize("name", ["symplectic Euler", "Runge-Kutta"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_explicit_blow_up_is_reported(name):
    system = one_particle(Stiffening(), velocity=(50.0, 0, 0))
    state, solver = system.initial_state(), SOLVERS[name](0.1)
    outcomes = [solver.step(system, state).outcome for _ in range(12)]
    assert outcomes[-1] is Outcome.NOT_FINITE


def test_conjugate_gradients_that_stop_early_are_reported():
    system = linear_net()
    state = system.initial_state()
    state.v[3:] = 1.0
    state.v[::2] *= -3.0
    report = sp.ImplicitEuler(0.1, linear="cg", tolerance=1e-10, max_iterations=2).step(system, state)
    assert report.outcome is Outcome.UNDER_CONVERGED
    assert report.linear_iterations == 2
    assert report.residual > 1e-10
    assert "more iterations" in report.outcome.sentence


def test_fixed_work_of_conjugate_gradients_is_not_a_failure():
    """Tolerance 0 asks for exactly so many iterations."""
    system = linear_net()
    state = system.initial_state()
    state.v[3:] = 1.0
    report = sp.ImplicitEuler(0.1, linear="cg", tolerance=0.0, max_iterations=7).step(system, state)
    assert report.linear_iterations == 7
    assert report.is_solved


def test_statics_without_an_equilibrium_is_reported():
    system = one_particle(Stick())
    state = system.initial_state()
    with pytest.raises(ConvergenceError, match="singular"):
        sp.Statics().solve(system, state)  # the stick has no stiffness at all
    scene = sp.Scene()
    dot = scene.add(sp.Particles([[1.0, 0, 0]], 1.0), name="dot")
    scene.add(Stick(), on=dot)
    scene.add(sp.Springs(dot.points(), sp.World.points([[0.0, 0, 0]]), 1.0, rest_length=0.0))
    stuck = scene.compile()
    report = sp.Statics(max_iterations=8).solve(stuck, stuck.initial_state())
    assert report.outcome is Outcome.NEWTON_LIMIT
    with pytest.raises(ConvergenceError, match="load_steps"):
        sp.solve_statics(stuck)


def test_statics_of_a_body_held_by_nothing_says_so():
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.RigidBody(1.0, (1, 1, 1)), name="adrift")
    system = scene.compile()
    with pytest.raises(ConvergenceError, match="held by nothing"):
        sp.solve_statics(system)


def block_under_pressure() -> Any:
    scene = sp.Scene()
    mesh = sp.box_hexes(size=(0.4, 0.1, 0.1), cells=(4, 1, 1))
    node = scene.add(sp.FemBody(mesh, sp.Material(1e5, 0.3, 1000)), fix="x_min", name="block")
    scene.add(sp.Pressure(node, "z_max", 150.0))
    return scene.compile()


def body_pulled_at_an_arm() -> Any:
    """A rigid body on four springs, pulled a metre from its centre: it turns by 0.6 rad."""
    scene = sp.Scene()
    body = scene.add(sp.RigidBody(1.0, (1, 1, 1)), name="body")
    feet = body.points(local=[[0.2, 0.2, 0], [-0.2, 0.2, 0], [0.2, -0.2, 0], [-0.2, -0.2, 0]])
    scene.add(sp.Springs(feet, sp.World.points(feet.rest), 50.0, rest_length=0.0))
    scene.add(sp.Load(body.points(local=[[0.3, 0.1, 1.0]]), (30.0, 40.0, 40.0)))
    return scene.compile()


@pytest.mark.parametrize("make", [block_under_pressure, body_pulled_at_an_arm])
@pytest.mark.parametrize(("load_steps", "each"), [(1, 13), (10, 4)])
def test_statics_with_following_loads_takes_newtons_few_iterations(make, load_steps, each):
    """Tangents that grow with the load steps make each quadratic: four iterations, or thirteen for all at once."""
    system = make()
    state = system.initial_state()
    report = sp.Statics(load_steps=load_steps).solve(system, state)
    assert report.is_solved
    f = system.force(system.propagate(0.0, state.x, np.zeros(system.v_size)))
    system.filter.project(f)
    assert np.abs(f).max() <= 1e-5
    assert np.abs(system.difference(system.x0, state.x)).max() > 0.02
    assert report.iterations <= each * load_steps


def test_statics_of_a_turning_body_ends_quadratically():
    """Near the end of Newton's iteration, one more step squares the residual: rotations count as they add up."""
    residuals = []
    for iterations in range(1, 9):
        system = body_pulled_at_an_arm()
        residuals.append(sp.Statics(1e-14, max_iterations=iterations).solve(system, system.initial_state()).residual)
    assert min(residuals) <= 1e-12


@pytest.mark.parametrize(
    "make", [sp.ImplicitEuler, sp.Midpoint, sp.Newmark, sp.GeneralizedAlpha, sp.SymplecticEuler, sp.RungeKutta4]
)
@pytest.mark.parametrize("dt", [0.0, -0.1, float("nan"), float("inf")])
def test_a_step_that_is_no_time_is_refused(make, dt):
    with pytest.raises(InputError, match="step is not positive"):
        make(dt)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: sp.Newmark(0.1, beta=0.0), "outside the stable range"),
        (lambda: sp.Newmark(0.1, gamma=0.4), "outside the stable range"),
        (lambda: sp.GeneralizedAlpha(0.1, rho=1.5), "rho is out of range"),
        (lambda: sp.ImplicitEuler(0.1, linear="magic"), "unknown linear solver"),
        (lambda: sp.Statics(load_steps=0), "load_steps is out of range"),
    ],
)
def test_bad_solvers_are_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


def test_round_off_of_a_scene_at_rest_is_no_explosion() -> None:
    """Nothing moves but the last digits: particles fixed to the world, without weight."""
    assert coupled("particles", "world", "fixed").failed == 0
