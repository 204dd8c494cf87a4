"""Schemes of time against what they are known to do: free fall, linear nets, energy."""

from __future__ import annotations

import numpy as np
import pytest
from tests.analytic.dynamics.stepping import SOLVERS, all_solvers, energy_of, linear_net, run

import supple as sp
from supple.algebra.dense import rotations


@all_solvers
def test_free_fall_is_exact_in_each_scheme(name):
    """z = v0 t - g t²/2 for the second-order schemes; the Eulers step -g h² n (n + 1) / 2, exactly."""
    g, v0, h, n = 9.81, 2.0, 0.01, 25
    scene = sp.Scene(gravity=(0, 0, -g))
    soft = sp.Material(young=2e3, poisson=0.3, density=1000)
    mesh = sp.box_tets(size=(0.2, 0.1, 0.1), cells=(1, 1, 1))
    scene.add(sp.FemBody(mesh, soft, mass="consistent"), at=(2, 0, 0), velocity=(0, 0, v0), name="soft")
    scene.add(sp.RigidBody(3.0, (1, 1.5, 2)), velocity=(0, 0, v0), spin=(0, 0, 1.0), name="rigid")
    scene.add(sp.Particles([[5.0, 0, 0], [6.0, 0, 0]], 0.2), velocity=(0, 0, v0), name="dots")
    system = scene.compile()
    state = run(system, SOLVERS[name](h), n)
    t = n * h
    fall = g * h * h * n * (n + 1) / 2 if "Euler" in name else g * t * t / 2
    for body in ("soft", "rigid", "dots"):
        moved = system.positions(state, body) - system.body(body).view_x(system.x0)
        np.testing.assert_allclose(moved[:, 2], v0 * t - fall, atol=1e-10, err_msg=body)
        np.testing.assert_allclose(system.velocities(state, body)[:, 2], v0 - g * t, atol=1e-9, err_msg=body)
    assert np.abs((system.positions(state, "soft") - system.body("soft").view_x(system.x0))[:, :2]).max() <= 1e-10
    # about a principal axis the spin is uniform
    np.testing.assert_allclose(rotations.log(system.positions(state, "rigid")[0, 3:]), [0, 0, t], atol=1e-10)


@pytest.mark.parametrize("make", [sp.Midpoint, sp.Newmark, sp.RungeKutta4])
def test_a_push_that_grows_with_time_is_met_exactly(make):
    """m v = c t²/2: the middle, the mean of both ends and Simpson's rule all integrate f = c t without error."""
    m, c, h, n = 0.2, 3.0, 0.05, 10
    scene = sp.Scene()
    dot = scene.add(sp.Particles([[1.0, 0, 0]], m), name="dot")
    box = scene.add(sp.RigidBody(m, (1, 1.5, 2)), name="rigid")
    for points in (dot.points(), box.points(local=[[0.0, 0, 0]])):
        scene.add(sp.Load(points, lambda t: (0.0, 0.0, c * t)))
    system = scene.compile()
    state = run(system, make(h), n)
    for body in ("dot", "rigid"):
        velocity = system.velocities(state, body)[:, 2]
        np.testing.assert_allclose(velocity, c * (n * h) ** 2 / (2 * m), rtol=1e-10, err_msg=body)


@pytest.mark.parametrize("newton", [False, True])
def test_implicit_euler_solves_its_equation(newton):
    """M (v1 - v0) = h f(x1, v1), x1 = x0 + h v1, to 1e-12 of the terms; one linear solve is enough here."""
    system = linear_net()
    state, solver = system.initial_state(), sp.ImplicitEuler(0.05, newton=newton, newton_tolerance=1e-13)
    state.v[3:] = np.random.default_rng(1).normal(size=33)
    for _ in range(5):
        before = state.copy()
        solver.step(system, state)
        np.testing.assert_allclose(state.x, before.x + 0.05 * state.v, atol=1e-14)
        kin = system.propagate(state.t, state.x, state.v)
        inertia, push = system.mass_product(kin, state.v - before.v), 0.05 * system.force(kin)
        assert np.abs(inertia - push)[3:].max() <= 1e-12 * np.abs(push).max()


@pytest.mark.parametrize("dt", [1e-3, 0.1, 10.0])
def test_implicit_euler_never_gains_energy_unforced(dt):
    system = linear_net()
    state, solver = system.initial_state(), sp.ImplicitEuler(dt)
    state.v[3:] = np.random.default_rng(2).normal(size=33)
    energy = [energy_of(system, state)]
    for _ in range(60):
        solver.step(system, state)
        energy.append(energy_of(system, state))
    assert (np.diff(energy) <= 1e-12 * energy[0]).all()
    assert energy[-1] < energy[0]


@pytest.mark.parametrize("name", ["midpoint", "Newmark"])
def test_energy_of_a_linear_net_is_kept(name):
    """Both are the trapezoidal rule here: the energy of the start to round-off, whatever the step."""
    system = linear_net()
    state = system.initial_state()
    state.v[3:] = np.random.default_rng(2).normal(size=33)
    start = energy_of(system, state)
    run(system, SOLVERS[name](0.1), 50, state)
    assert energy_of(system, state) == pytest.approx(start, rel=1e-9)


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@pytest.mark.parametrize("name", ["midpoint", "Newmark"])
def test_energy_of_a_clamped_linear_beam_is_kept(name, mass):
    scene = sp.Scene(gravity=(0, 0, -9.81))
    stuff = sp.Material(young=1e5, poisson=0.3, density=1000)
    mesh = sp.box_tets(size=(1, 0.2, 0.2), cells=(3, 1, 1))
    scene.add(sp.FemBody(mesh, stuff, law="linear", mass=mass), fix="x_min", name="beam")
    system = scene.compile()
    state = system.initial_state()
    energies = []
    for _ in range(40):
        run(system, SOLVERS[name](2e-3), 1, state)
        energies.append(energy_of(system, state))
    kin = system.propagate(state.t, state.x, state.v)
    moved = system.kinetic_energy(kin)
    assert moved > 1e-2
    assert np.abs(energies).max() <= 1e-8 * moved  # it starts at rest at the zero of the potential
    assert np.abs(state.x - system.x0).max() > 1e-2
