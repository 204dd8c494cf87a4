"""Chains, plates and rods against their frequencies, waves and elasticas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from tests.analytic.dynamics.stepping import CELLS, LENGTH, SIDE, SOLVERS, chain_frequencies, run, spring_chain

import supple as sp


def test_modes_of_a_chain_of_springs():
    modes = sp.vibration_modes(spring_chain(6, 30.0, 0.5), 12)
    expected = np.repeat(chain_frequencies(6, 30.0, 0.5), 3)[:12]
    np.testing.assert_allclose(2 * np.pi * modes.frequencies, expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["midpoint", "Newmark", "Runge-Kutta", "symplectic Euler", "implicit Euler"])
def test_a_mass_on_a_spring_turns_at_the_frequency_of_the_scheme(name):
    """The discrete solution is known: amplitude and phase after n steps of each scheme, w h = 0.3."""
    k, m, h, n = 12.0, 0.75, 0.075, 40
    w = np.sqrt(k / m)
    system = spring_chain(1, k / 2, m)
    state = system.initial_state()
    state.x[1] += 0.1
    run(system, SOLVERS[name](h), n, state)
    z = w * h
    growth = {
        "midpoint": np.exp(1j * 2 * np.arctan(z / 2)),
        "Newmark": np.exp(1j * 2 * np.arctan(z / 2)),
        "implicit Euler": 1 / (1 - 1j * z),
        "Runge-Kutta": sum((1j * z) ** p / f for p, f in enumerate((1, 1, 2, 6, 24))),
    }
    if name == "symplectic Euler":
        A = np.linalg.matrix_power(np.array([[1 - z * z, h], [-w * w * h, 1.0]]), n)  # of (x, v)
        expected = A @ [0.1, 0.0]
    else:
        q = 0.1 * growth[name] ** n  # x - i v / w turns as exp(i w t)
        expected = np.array([q.real, -q.imag * w])
    np.testing.assert_allclose([state.x[1], state.v[1]], expected, atol=1e-9)


def test_modes_of_a_rigid_plate_on_four_springs():
    """Three shifts sqrt(4k/m), rocking sqrt(4 k b²/I_x), sqrt(4 k a²/I_y), twist sqrt(4 k (a² + b²)/I_z)."""
    k, a, b = 50.0, 0.3, 0.2
    scene = sp.Scene()
    plate = scene.add(sp.RigidBody.box((0.8, 0.5, 0.05), density=300), rotation=(0.2, 0.5, -0.3), name="plate")
    corners = plate.points(local=[[a, b, 0], [-a, b, 0], [a, -b, 0], [-a, -b, 0]])
    scene.add(sp.Springs(corners, sp.World.points(corners.rest), k, rest_length=0.0))
    modes = sp.vibration_modes(scene.compile(), 6)
    m, I = plate.body.mass, np.diag(plate.body.inertia)
    expected = np.sqrt([4 * k / m] * 3 + [4 * k * b * b / I[0], 4 * k * a * a / I[1], 4 * k * (a * a + b * b) / I[2]])
    np.testing.assert_allclose(2 * np.pi * modes.frequencies, np.sort(expected), rtol=1e-9)


def test_gravity_pendulum_frequency_from_the_geometric_stiffness():
    """A frame held in its origin with a constant pull at an arm: w² = F l / I comes from d(J^T)/dx f alone."""
    scene = sp.Scene()
    bob = scene.add(sp.RigidBody(1.0, (0.2, 0.3, 0.25)), name="bob")
    scene.add(sp.FixedPoints(bob, rotation=False))
    scene.add(sp.Load(bob.points(local=[[0, 0, -0.4]]), (0, 0, -3.0)))
    modes = sp.vibration_modes(scene.compile(), 3)
    expected = np.sqrt([0.0, 1.2 / 0.3, 1.2 / 0.2])
    np.testing.assert_allclose(2 * np.pi * modes.frequencies, expected, atol=1e-4)


ROD = sp.Material(young=4e5, poisson=0.0, density=1000)


def rod(scene: sp.Scene, mass: str = "lumped") -> Any:
    mesh = sp.box_hexes(size=(LENGTH, SIDE, SIDE), cells=(CELLS, 1, 1))
    node = scene.add(sp.FemBody(mesh, ROD, law="linear", mass=mass), name="rod")
    scene.add(sp.FixedAxes(node, None, axes="yz"))
    return node


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_axial_modes_of_a_fixed_rod(mass):
    """Elements of size h: w = 2 c/h s, s = sin(k h/2), over sqrt(1 - 2/3 s²) if consistent; k = (2n-1) pi / 2L."""
    scene = sp.Scene()
    scene.add(sp.FixedPoints(rod(scene, mass), "x_min"))
    modes = sp.vibration_modes(scene.compile(), 4)
    h, c = LENGTH / CELLS, np.sqrt(ROD.young / ROD.density)
    s = np.sin((2 * np.arange(1, 5) - 1) * np.pi / (2 * LENGTH) * h / 2)
    expected = 2 * c / h * s / (1 if mass == "lumped" else np.sqrt(1 - 2 / 3 * s**2))
    # 8 Gauss points integrate the axial stiffness exactly; nodes of a cross-section move together in these modes
    np.testing.assert_allclose(2 * np.pi * modes.frequencies, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["Newmark", "midpoint", "generalised alpha"])
def test_axial_wave_runs_at_the_speed_of_sound(name):
    """One end is moved at speed V: behind the front all moves at V, so momentum grows by rho A c V each second."""
    speed, c = 0.1, np.sqrt(ROD.young / ROD.density)
    scene = sp.Scene()
    node = rod(scene)
    scene.add(sp.PrescribedMotion(node, "x_min", displacement=lambda t: (speed * t, 0.0, 0.0)))
    # the axes y and z of the led end are held twice: by the led motion, and by the guide
    scene.filters[0] = sp.FixedAxes(node, lambda X: X[:, 0] > 1e-9, axes="yz")
    system = scene.compile()
    state, dt = system.initial_state(), LENGTH / c / 60
    momenta, fronts = [], []
    for _ in range(45):
        run(system, SOLVERS[name](dt), 1, state)
        kin = system.propagate(state.t, state.x, state.v)
        momenta.append(system.momentum(kin)[0])
        x, v = node.rest[:, 0], system.velocities(state, "rod")[:, 0]
        fronts.append(x[v > speed / 2].max())
    t = dt * np.arange(1, 46)
    slope = np.polyfit(t, momenta, 1)[0]
    assert slope == pytest.approx(ROD.density * SIDE**2 * c * speed, rel=0.01)
    assert np.polyfit(t, fronts, 1)[0] == pytest.approx(c, rel=0.04)  # one cell in thirty


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_hanging_rod_stretches_by_its_weight(mass):
    """u(x) = rho g / E (L x - x²/2), exact at the nodes of linear elements."""
    g = 9.81
    scene = sp.Scene(gravity=(g, 0, 0))
    node = rod(scene, mass)
    scene.add(sp.FixedPoints(node, "x_min"))
    system = scene.compile()
    state = sp.solve_statics(system)
    x = node.rest[:, 0]
    expected = ROD.density * g / ROD.young * (LENGTH * x - x * x / 2)
    np.testing.assert_allclose(system.positions(state, "rod")[:, 0] - x, expected, atol=1e-8 * expected.max())


def elastica(load: float) -> tuple[float, float]:
    """Tip (x, z) of an inextensible cantilever of unit length under a dead end load P L²/EI: theta'' = -P cos theta."""

    def shoot(curvature: float) -> Any:
        return solve_ivp(
            lambda s, y: [y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])],
            (0, 1), [0.0, curvature, 0.0, 0.0], rtol=1e-10, atol=1e-12,
        )  # fmt: skip

    start = brentq(lambda c: shoot(c).y[1, -1], 0.0, load + 1.0, xtol=1e-10)
    return shoot(start).y[2, -1], shoot(start).y[3, -1]


def test_elastica_itself():
    """Small load: P/3; and the value of Bisshopp and Drucker for P L²/EI = 1: 0.30172 [BD45]."""
    assert elastica(1e-3)[1] == pytest.approx(1e-3 / 3, rel=1e-5)
    assert elastica(1.0)[1] == pytest.approx(0.30172, abs=1e-5)


@pytest.mark.parametrize("load_steps", [1, 4])
def test_large_deflection_of_a_cantilever_is_the_elastica(load_steps):
    """P L²/EI = 2, tip at half the length; shear and extension of a beam 1:20 add 0.2 %, hexes are 1-2 % stiff."""
    length, thickness, load = 1.0, 0.05, 2.0
    stuff = sp.Material(young=1e7, poisson=0.0, density=1000)
    EI = stuff.young * thickness**4 / 12
    scene = sp.Scene()
    mesh = sp.box_hexes(size=(length, thickness, thickness), cells=(80, 1, 2))
    beam = scene.add(sp.FemBody(mesh, stuff), fix="x_min", name="beam")
    tip = beam.points("x_max")
    scene.add(sp.Load(tip, (0, 0, load * EI / length**2)))
    system = scene.compile()
    state = system.initial_state()
    report = sp.Statics(load_steps=load_steps).solve(system, state)
    assert report.is_solved
    x, z = elastica(load)
    end = system.positions(state, "beam")[mesh.node_region("x_max")].mean(axis=0)
    assert end[2] == pytest.approx(z, rel=0.02)
    assert end[0] == pytest.approx(x, rel=0.02)
    assert z > 0.45
