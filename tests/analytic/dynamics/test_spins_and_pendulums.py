"""Spins and pendulums against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ellipj, ellipk
from tests.analytic.dynamics.stepping import energy_of, run

import supple as sp
from supple.algebra.dense import rotations
from supple.algebra.dense.turning_kernels import compute_turned
from supple.modal import ElasticSolid


def spin_of_euler(t: np.ndarray, I: tuple[float, float, float], A: float, C: float) -> np.ndarray:
    """Body angular velocity of a free body that starts at (A, 0, C), I1 < I2 < I3, L² > 2 T I2: Jacobi's functions."""
    I1, I2, I3 = I
    p = C * np.sqrt((I3 - I2) * (I3 - I1) / (I1 * I2))
    B = (I3 - I1) * A * C / (I2 * p)
    m = (I2 - I1) * A * B / (I3 * C * p)
    assert 0 < m < 1
    sn, cn, dn, _ = ellipj(p * t, m)
    return np.stack([A * cn, B * sn, C * dn], axis=-1)


def free_body() -> Any:
    scene = sp.Scene()
    scene.add(sp.RigidBody(1.0, (1.0, 2.0, 2.5)), spin=(2.0, 0.0, 3.0), name="body")
    return scene.compile()


def test_torque_free_spin_follows_jacobis_functions():
    system, dt = free_body(), 0.01
    state = system.initial_state()
    for _ in range(200):
        sp.RungeKutta4(dt).step(system, state)
    exact = spin_of_euler(np.array(state.t), (1.0, 2.0, 2.5), 2.0, 3.0)
    np.testing.assert_allclose(state.v[3:], exact, atol=1e-7)  # (w dt)^4 over two seconds
    # the angular momentum stays in the world
    L0 = np.array([2.0, 0.0, 7.5])
    np.testing.assert_allclose(rotations.rotate(state.x[3:], state.v[3:] * [1.0, 2.0, 2.5]), L0, atol=1e-7)


def test_midpoint_keeps_momentum_to_rounding_and_energy_without_drift():
    """Five seconds in large steps of 0.05 s, 0.2 rad each."""
    system = free_body()
    state, solver = system.initial_state(), sp.Midpoint(0.05)
    momentum = system.momentum(system.propagate(0.0, state.x, state.v))
    start, energies = energy_of(system, state), []
    for _ in range(100):
        assert solver.step(system, state).is_solved
        energies.append(energy_of(system, state) / start - 1)
    np.testing.assert_allclose(system.momentum(system.propagate(0.0, state.x, state.v)), momentum, atol=1e-12)
    energies = np.array(energies)
    assert np.abs(energies).max() <= 5e-3
    assert abs(energies[-40:].mean() - energies[:40].mean()) <= 0.2 * np.abs(energies).max() + 1e-6


PENDULUM = {"mass": 2.0, "inertia": (0.02, 0.05, 0.04), "arm": 0.6}


def period_of(amplitude: float, gravity: float) -> float:
    """Compound pendulum about y: 4 K(sin²(a/2)) sqrt((I + m l²) / (m g l))."""
    m, l = PENDULUM["mass"], PENDULUM["arm"]
    small = np.sqrt((PENDULUM["inertia"][1] + m * l * l) / (m * gravity * l))
    return 4 * ellipk(np.sin(amplitude / 2) ** 2) * small


@pytest.mark.parametrize("joint", ["hinge", "ball"])
def test_quarter_of_a_pendulums_period(joint):
    """Released at 2 rad, it hangs straight down after a quarter of the elliptic period; midpoint, h²."""
    amplitude, g, l = 2.0, 9.81, PENDULUM["arm"]
    quarter = period_of(amplitude, g) / 4
    scene = sp.Scene(gravity=(0, 0, -g))
    turn = np.array([0.0, -amplitude, 0.0])
    at = rotations.rotate(rotations.exp(turn), [0.0, 0.0, -l])
    bob = scene.add(sp.RigidBody(2.0, PENDULUM["inertia"]), at=at, rotation=turn, name="bob")
    scene.add(sp.HingeJoint(bob, at=(0, 0, 0), axis=(0, 1, 0)) if joint == "hinge" else sp.BallJoint(bob, at=(0, 0, 0)))
    system = scene.compile()
    errors = []
    for steps in (15, 30):
        state = run(system, sp.Midpoint(quarter / steps), steps)
        errors.append(abs(rotations.log(state.x[3:])[1]))
    assert errors[1] <= 5e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)


def test_period_of_a_pendulum_held_by_a_filter():
    """Without joints: a frame held in its origin, pushed at a point by a constant force; one whole period, RK4."""
    amplitude, push, l, I = 1.8, 3.0, 0.4, 0.3
    scene = sp.Scene()
    turn = np.array([0.0, -amplitude, 0.0])
    bob = scene.add(sp.RigidBody(1.0, (0.2, I, 0.25)), rotation=turn, name="bob")
    scene.add(sp.FixedPoints(bob, rotation=False))
    scene.add(sp.Load(bob.points(local=[[0, 0, -l]]), (0, 0, -push)))
    system = scene.compile()
    period = 4 * ellipk(np.sin(amplitude / 2) ** 2) * np.sqrt(I / (push * l))
    state = run(system, sp.RungeKutta4(period / 200), 200)
    np.testing.assert_allclose(rotations.log(state.x[3:]), turn, atol=1e-6)
    np.testing.assert_allclose(state.v, 0.0, atol=1e-5)


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("w", [0.5, 7.0, 60.0, 2000.0])
def test_implicit_euler_lets_a_free_body_tumble_without_gaining_energy(alone, w):
    """A brick that begins about its middle axis, at up to 0.6 rad a step, keeps its angular momentum; at 20, where no
    method could tell how it turns, its energy does not grow either. In the compiled loops and in the general way."""
    scene = sp.Scene(solver=sp.ImplicitEuler(0.01))
    scene.add(sp.RigidBody.box((0.1, 0.06, 0.02), density=1000), spin=(0.1 * w, w, 0.1 * w), name="brick")
    if not alone:
        scene.add(sp.Particles([[1.0, 0, 0], [1.2, 0, 0]], 0.1, springs=[(0, 1)], stiffness=10.0), name="chain")
    run = sp.run(scene, until=5.0)
    L = run.frames.columns["momentum"][:, 3:]
    if w < 100:
        assert np.linalg.norm(L - L[0], axis=1).max() <= 1e-12 * np.linalg.norm(L[0])
    assert np.diff(run.energies.kinetic).max() <= 1e-13 * run.energies.kinetic[0]


def brick(kind: str) -> Any:
    """Of rubber that hardly bends at the spins here."""
    mesh, rubber = sp.box_tets((0.1, 0.06, 0.02), (5, 5, 3)), sp.Material(2e6, 0.3, 1000, stiffness_damping=1e-4)
    if kind == "floating":
        return sp.FloatingBody.from_solid(ElasticSolid(mesh, rubber), modes=4)
    middle = mesh.nodes.mean(axis=0)
    return sp.LayeredBody.from_mesh(
        mesh, rubber, core=lambda X: np.abs((X - middle) / [0.1, 0.06, 0.02]).max(axis=1) < 0.35
    )


@pytest.mark.parametrize("kind", ["floating", "layered"])
def test_implicit_euler_lets_a_body_with_a_frame_tumble_without_gaining_energy(kind):
    """At 0.07 rad a step; shapes that are bent by the spin follow it in steps, so that momentum is kept to 1e-6."""
    scene = sp.Scene(solver=sp.ImplicitEuler(0.01))
    scene.add(brick(kind), spin=(3.0, 5.0, 3.0), velocity=(1.0, 0, 0), name="brick")
    run = sp.run(scene, until=2.0)
    L = run.frames.columns["momentum"][:, 3:]
    assert np.linalg.norm(L - L[0], axis=1).max() <= 1e-6 * np.linalg.norm(L[0])
    assert run.energies.total.max() <= (1 + 1e-6) * run.energies.total[0]


@pytest.mark.parametrize("turn", [0.1, 0.5, 1.0, 2.0])
def test_a_free_turn_keeps_the_momentum_and_never_gains_energy(turn):
    """Of random inertias, turned against their axes; up to a radian a step it is always found."""
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(200):
        a = rng.uniform(0.05, 1.0, 3)
        Q = rotations.to_matrix(rotations.exp(rng.normal(size=3)))
        I = Q @ np.diag([a[1] + a[2], a[0] + a[2], a[0] + a[1]]) @ Q.T
        w = rng.normal(size=3)
        w *= turn / 0.01 / np.linalg.norm(w)
        out = np.full((1, 3), np.nan)
        compute_turned(I[None], w[None], 0.01, out)
        back = rotations.rotate(rotations.exp(0.01 * out[0]), I @ out[0])
        is_found = np.linalg.norm(back - I @ w) <= 1e-9 * np.linalg.norm(I @ w)
        assert is_found or np.array_equal(out[0], w)
        assert out[0] @ I @ out[0] <= (1 + 1e-9) * (w @ I @ w)
        found += is_found
    assert found == 200 if turn <= 1.0 else found > 180
