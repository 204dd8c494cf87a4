"""Largest steps, damping, and solids that are stiff or soft."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from tests.analytic.dynamics.stepping import LENGTH, SIDE, chain_frequencies, run, spring_chain

import supple as sp
from supple.errors import InputError
from supple.solvers import stable_step


def grows(system: Any, dt: float, steps: int = 300) -> bool:
    """Whether symplectic Euler, past its own refusal, lets a small random push grow tenfold."""
    solver = sp.SymplecticEuler(dt)
    solver._checked = system
    state = system.initial_state()
    state.v[:] = 1e-3 * np.random.default_rng(0).normal(size=system.v_size)
    start = np.abs(state.v).max()
    largest = 0.0
    for _ in range(steps):
        solver.step(system, state)
        largest = max(largest, np.abs(state.v).max())
    return largest > 30 * start


@pytest.mark.parametrize("damping", [0.0, 0.2, 3.0])
def test_symplectic_euler_is_stable_just_below_its_limit_and_not_above(damping):
    """h < 2/w (sqrt(1 + z²) - z), w of the chain in closed form, z = c w / 2k from dampers beside the springs."""
    n, k, m = 6, 40.0, 0.3
    system = spring_chain(n, k, m, damping)
    w = chain_frequencies(n, k, m)[-1]
    z = damping * w / (2 * k)
    limit = 2 / w * (np.sqrt(1 + z * z) - z)
    assert stable_step(system, system.initial_state(), safety=1.0) == pytest.approx(limit, rel=1e-3)
    assert not grows(system, 0.99 * limit)
    assert grows(system, 1.02 * limit)
    with pytest.raises(InputError, match="larger than stable"):
        sp.SymplecticEuler(1.02 * limit).prepare(system)
    chosen = sp.SymplecticEuler()
    chosen.prepare(system)
    assert chosen.dt == pytest.approx(0.9 * limit, rel=1e-3)


def test_runge_kutta_takes_steps_up_to_its_limit_and_no_larger():
    """|1 - z²/2 + z⁴/24 + i (z - z³/6)| <= 1 up to z = w h = 2 sqrt(2), with w of the chain in closed form."""
    system = spring_chain(6, 40.0, 0.3)
    w = chain_frequencies(6, 40.0, 0.3)[-1]
    limit = 2 * np.sqrt(2) / w
    with pytest.raises(InputError, match="larger than stable"):
        sp.RungeKutta4(1.002 * limit).prepare(system)
    state = system.initial_state()
    state.v[:] = 1e-3 * np.random.default_rng(0).normal(size=system.v_size)
    start = np.abs(state.v).max()
    run(system, sp.RungeKutta4(0.998 * limit), 2000, state)
    assert np.abs(state.v).max() < 3 * start


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_stable_step_of_a_clamped_body(mass):
    """Against the dense eigenvalues of what the filters leave free."""
    scene = sp.Scene()
    mesh = sp.box_tets(size=(0.6, 0.2, 0.2), cells=(2, 1, 1))
    scene.add(sp.FemBody(mesh, sp.Material(1e5, 0.3, 1000), mass=mass), fix="x_min", name="beam")
    system = scene.compile()
    lin = system.linearize(system.propagate(0.0, system.x0, system.v0))
    free = np.ones(system.v_size, dtype=bool)
    free.reshape(-1, 3)[mesh.node_region("x_min")] = False
    K = lin.matrix(stiffness=-1.0).toarray()[np.ix_(free, free)]
    M = lin.matrix(mass=1.0).toarray()[np.ix_(free, free)]
    w = np.sqrt(scipy.linalg.eigh(K, M, eigvals_only=True)[-1])
    assert stable_step(system, system.initial_state(), safety=1.0) == pytest.approx(2 / w, rel=1e-3)


def test_rayleigh_damping_has_the_decrement_of_its_constants():
    """z = (alpha/w + beta w)/2 for each mode: the first axial mode of a rod, by Newmark against the exact decay."""
    alpha, beta = 2.0, 1e-3
    stuff = sp.Material(young=4e5, poisson=0.0, density=1000, mass_damping=alpha, stiffness_damping=beta)
    scene = sp.Scene()
    mesh = sp.box_hexes(size=(LENGTH, SIDE, SIDE), cells=(8, 1, 1))
    node = scene.add(sp.FemBody(mesh, stuff, law="linear"), fix="x_min", name="rod")
    scene.add(sp.FixedAxes(node, lambda X: X[:, 0] > 1e-9, axes="yz"))
    system = scene.compile()
    modes = sp.vibration_modes(system, 1)
    w = 2 * np.pi * modes.frequencies[0]
    z = (alpha / w + beta * w) / 2
    state = system.initial_state()
    state.x += 1e-3 * modes.shapes[0]
    steps = 200
    t = 2 * np.pi / w
    run(system, sp.Newmark(t / steps), steps, state)
    q = (state.x - system.x0) @ system.mass_product(system.propagate(0, state.x, state.v), modes.shapes[0])
    wd = w * np.sqrt(1 - z * z)
    exact = 1e-3 * np.exp(-z * w * t) * (np.cos(wd * t) + z * w / wd * np.sin(wd * t))
    assert q == pytest.approx(exact, rel=2e-3)  # (w h)²/12 of phase in one period


@pytest.mark.parametrize("law", ["corotational", "stvk", "neo-hookean"])
def test_stiffness_damping_does_not_brake_a_spin(law):
    """A free cube stretched by its spin: damping calms the stretch and leaves the angular momentum alone."""
    scene = sp.Scene()
    stuff = sp.Material(young=2e4, poisson=0.3, density=1000, stiffness_damping=5e-3)
    scene.add(sp.FemBody(sp.box_tets(size=(0.1, 0.1, 0.1), cells=(2, 2, 2)), stuff, law=law), spin=(0, 0, 20.0))
    system = scene.compile()
    state, solver = system.initial_state(), sp.Midpoint(0.005)
    before = system.momentum(system.propagate(0.0, state.x, state.v))[5]
    for _ in range(100):
        assert solver.step(system, state).is_solved
    after = system.momentum(system.propagate(state.t, state.x, state.v))[5]
    assert abs(after / before - 1) <= 1e-12
    # calm: a rigid turn at the speed of the stretched body
    x, v = (a.reshape(-1, 3) - a.reshape(-1, 3).mean(axis=0) for a in (state.x, state.v))
    speed = np.sum(x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]) / np.sum(x[:, :2] ** 2)
    assert np.abs(v - np.cross([0, 0, speed], x)).max() <= 1e-3 * np.abs(v).max()


def clamped_bar(young: float, density: float) -> sp.System:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    stuff = sp.Material(young=young, poisson=0.3, density=density)
    scene.add(sp.FemBody(sp.box_hexes(size=(0.3, 0.02, 0.02), cells=(30, 2, 2)), stuff), fix="x_min")
    return scene.compile()


METHODS = {"generalised alpha": sp.GeneralizedAlpha, "midpoint": sp.Midpoint, "Newmark": sp.Newmark}


@pytest.mark.parametrize("name", METHODS)
def test_a_stiff_solid_is_solved_to_rounding(name):
    """Steel: element forces are 1e8 times their sum, so |r| cannot fall to 1e-10 of it."""
    system = clamped_bar(2e11, 7800)
    state, solver = system.initial_state(), METHODS[name](1e-3)
    for _ in range(5):
        report = solver.step(system, state)
        assert report.is_solved
        assert report.iterations <= 3
        assert report.residual <= 1e-6


@pytest.mark.parametrize("name", METHODS)
def test_a_soft_solid_is_solved_to_its_tolerance(name):
    """Rounding is far below 1e-10 of the forces here, and does not excuse more."""
    system = clamped_bar(2e5, 1000)
    state, solver = system.initial_state(), METHODS[name](1e-3, newton_tolerance=1e-10)
    for _ in range(5):
        report = solver.step(system, state)
        assert report.is_solved
        assert report.residual <= 1e-10
