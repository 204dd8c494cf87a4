"""Closed-form dynamics and statics: fall, spin, pendulum, vibrations, waves, limits, elastica; and honest reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk

import supple as sp
from supple.algebra.dense import rotations
from supple.errors import ConvergenceError, InputError
from supple.solvers import Outcome, stable_step
from supple.validation.couplings import coupled

SOLVERS = {
    "implicit Euler": lambda dt: sp.ImplicitEuler(dt),
    "implicit Euler, cg": lambda dt: sp.ImplicitEuler(dt, linear="cg", tolerance=1e-13),
    "implicit Euler, Newton": lambda dt: sp.ImplicitEuler(dt, newton=True),
    "midpoint": lambda dt: sp.Midpoint(dt),
    "Newmark": lambda dt: sp.Newmark(dt),
    "generalised alpha": lambda dt: sp.GeneralizedAlpha(dt),
    "symplectic Euler": lambda dt: sp.SymplecticEuler(dt),
    "Runge-Kutta": lambda dt: sp.RungeKutta4(dt),
}
all_solvers = pytest.mark.parametrize("name", SOLVERS)


def run(system: Any, solver: Any, steps: int, state: Any = None) -> Any:
    state = system.initial_state() if state is None else state
    for _ in range(steps):
        assert solver.step(system, state).is_solved
    return state


def energy_of(system: Any, state: Any) -> float:
    kin = system.propagate(state.t, state.x, state.v)
    return system.kinetic_energy(kin) + system.potential_energy(kin)


# ---- free fall ----


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


# ---- implicit Euler on a linear net ----


def linear_net(seed: int = 0) -> Any:
    """Springs without rest length: a linear force, known exactly; one corner held."""
    rng = np.random.default_rng(seed)
    scene = sp.Scene()
    X = rng.normal(size=(12, 3))
    pairs = [(i, j) for i in range(12) for j in range(i) if (i + j) % 3]
    stiffness = rng.uniform(10, 1000, len(pairs))
    net = scene.add(
        sp.Particles(X, rng.uniform(0.5, 2, 12), springs=pairs, stiffness=stiffness, rest_length=0.0), name="net"
    )
    scene.add(sp.FixedPoints(net, [0]))
    return scene.compile()


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


# ---- rotation ----


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


# ---- vibrations ----


def spring_chain(n: int, k: float, m: float, damping: float = 0.0) -> Any:
    """n masses between two walls, springs without rest length: each direction is the textbook chain."""
    scene = sp.Scene()
    X = np.c_[np.arange(1.0, n + 1), np.zeros((n, 2))]
    dots = scene.add(
        sp.Particles(X, m, springs=[(i, i + 1) for i in range(n - 1)], stiffness=k, rest_length=0.0, damping=damping),
        name="chain",
    )
    walls = sp.World.points([[0.0, 0, 0], [n + 1.0, 0, 0]])
    scene.add(sp.Springs(dots.points([0, n - 1]), walls, k, damping, rest_length=0.0))
    return scene.compile()


def chain_frequencies(n: int, k: float, m: float) -> np.ndarray:
    return 2 * np.sqrt(k / m) * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1)))


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


# ---- a rod ----

ROD = sp.Material(young=4e5, poisson=0.0, density=1000)
LENGTH, SIDE, CELLS = 1.0, 0.05, 30


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


# ---- the explicit limit ----


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


# ---- damping ----


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


# ---- rounding ----


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


# ---- reports ----


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
        (lambda: sp.GeneralizedAlpha(0.1, rho=1.5), "rho is not between 0 and 1"),
        (lambda: sp.ImplicitEuler(0.1, linear="magic"), "unknown linear solver"),
        (lambda: sp.Statics(load_steps=0), "load_steps is not positive"),
    ],
)
def test_bad_solvers_are_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


def test_round_off_of_a_scene_at_rest_is_no_explosion() -> None:
    """Nothing moves but the last digits: particles fixed to the world, without weight."""
    assert coupled("particles", "world", "fixed").failed == 0
