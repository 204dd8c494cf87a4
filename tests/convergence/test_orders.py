"""Measured orders: in the time step against what each solver declares, in the mesh against that of linear elements."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import supple as sp

DECLARED = {
    "implicit Euler": (1, lambda dt: sp.ImplicitEuler(dt)),
    "implicit Euler, Newton": (1, lambda dt: sp.ImplicitEuler(dt, newton=True, newton_tolerance=1e-11)),
    "symplectic Euler": (1, lambda dt: sp.SymplecticEuler(dt)),
    "midpoint": (2, lambda dt: sp.Midpoint(dt)),
    "Newmark": (2, lambda dt: sp.Newmark(dt)),
    "generalised alpha": (2, lambda dt: sp.GeneralizedAlpha(dt)),
    "generalised alpha, rho 0.2": (2, lambda dt: sp.GeneralizedAlpha(dt, rho=0.2)),
    "Runge-Kutta": (4, lambda dt: sp.RungeKutta4(dt)),
}
all_solvers = pytest.mark.parametrize("name", DECLARED)
STEPS = {1: (80, 160), 2: (40, 80), 4: (20, 40)}
"""Steps of the two runs by order: errors of 1e-2 to 1e-6, small enough for the slope, far above round-off."""


def order_of(errors: list[float]) -> float:
    return float(np.log2(errors[0] / errors[1]))


def run(system: Any, solver: Any, steps: int) -> Any:
    state = system.initial_state()
    for _ in range(steps):
        assert solver.step(system, state).is_solved
    return state


# ---- a rigid body on springs at large rotation ----


@cache
def spinning_body() -> Any:
    """Two springs with damping, gravity, and a spin that turns it by more than a radian in 0.4 s."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    body = scene.add(
        sp.RigidBody(1.2, (0.02, 0.05, 0.04)),
        at=(0.1, 0, 0.2),
        rotation=(0.3, -0.4, 0.2),
        spin=(5.0, -4.0, 6.0),
        name="body",
    )
    feet = body.points(local=[[0.2, 0.1, 0.0], [-0.1, 0.2, 0.15]])
    anchors = sp.World.points(feet.rest + np.array([[0.2, 0.1, 0.4], [-0.3, 0.2, 0.3]]))
    scene.add(sp.Springs(feet, anchors, [15.0, 8.0], 0.1, rest_length=0.3))
    return scene.compile()


def error_against(system: Any, state: Any, exact: Any) -> float:
    return float(np.linalg.norm(np.r_[system.difference(exact.x, state.x), state.v - exact.v]))


@cache
def exact_body() -> Any:
    return run(spinning_body(), sp.RungeKutta4(0.4 / 400), 400)


def test_the_body_turns_far():
    system = spinning_body()
    state, turned = system.initial_state(), 0.0
    for _ in range(40):
        sp.RungeKutta4(0.01).step(system, state)
        turned = max(turned, np.linalg.norm(system.difference(system.x0, state.x)[3:]))
    assert turned > 1.2


@all_solvers
def test_measured_order_is_the_declared_one(name):
    order, make = DECLARED[name]
    system = spinning_body()
    errors = [error_against(system, run(system, make(0.4 / n), n), exact_body()) for n in STEPS[order]]
    assert order_of(errors) == pytest.approx(order, abs=0.25)


# ---- a soft cube on a shaken base ----

AMPLITUDE, OMEGA, TIME = 0.02, 30.0, 0.2


@cache
def shaken_cube(mass: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """One hex of the linear law on a base that moves by A (1 - cos W t), and the exact end by dense integration."""
    scene = sp.Scene()
    stuff = sp.Material(young=2e3, poisson=0.2, density=1000)
    mesh = sp.box_hexes(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
    node = scene.add(sp.FemBody(mesh, stuff, law="linear", mass=mass), name="cube")
    scene.add(
        sp.PrescribedMotion(node, "z_min", displacement=lambda t: (AMPLITUDE * (1 - np.cos(OMEGA * t)), 0.0, 0.0))
    )
    system = scene.compile()
    lin = system.linearize(system.propagate(0.0, system.x0, system.v0))
    M, K = lin.matrix(mass=1.0).toarray(), lin.matrix(stiffness=-1.0).toarray()
    free = np.ones(24, dtype=bool)
    free.reshape(-1, 3)[mesh.node_region("z_min")] = False
    base = np.zeros(24)
    base.reshape(-1, 3)[mesh.node_region("z_min"), 0] = 1.0
    Mff, Kff = M[np.ix_(free, free)], K[np.ix_(free, free)]
    inertia, pull = M[free] @ base, K[free] @ base

    def rate(t, y):
        u, v = np.split(y, 2)
        given, force = AMPLITUDE * (1 - np.cos(OMEGA * t)), AMPLITUDE * OMEGA**2 * np.cos(OMEGA * t)
        return np.r_[v, np.linalg.solve(Mff, -Kff @ u - pull * given - inertia * force)]

    end = solve_ivp(rate, (0, TIME), np.zeros(2 * free.sum()), rtol=1e-10, atol=1e-13).y[:, -1]
    return system, free, end


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@pytest.mark.parametrize("name", DECLARED)
def test_order_is_kept_when_a_base_is_led(name, mass):
    """The inertia of led nodes pulls on the others through a consistent mass: M_fb a_b counts."""
    order, make = DECLARED[name]
    system, free, end = shaken_cube(mass)
    errors = []
    for n in STEPS[order]:
        state = run(system, make(TIME / n), n)
        found = np.r_[(state.x - system.x0)[free], state.v[free]]
        errors.append(np.linalg.norm((found - end) * np.repeat([1.0, 0.1], 12)))  # velocities over 10 1/s
    assert order_of(errors) == pytest.approx(order, abs=0.3) or order_of(errors) > order


# ---- a clamped body, as all the others ----


@cache
def clamped_beam() -> Any:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    stuff = sp.Material(young=2e4, poisson=0.3, density=1000)
    mesh = sp.box_tets(size=(0.4, 0.2, 0.2), cells=(2, 1, 1))
    scene.add(sp.FemBody(mesh, stuff, law="neo-hookean", mass="consistent"), fix="x_min", name="beam")
    return scene.compile()


@cache
def exact_beam() -> Any:
    return run(clamped_beam(), sp.RungeKutta4(0.1 / 400), 400)


@pytest.mark.parametrize("name", ["midpoint", "Newmark", "generalised alpha"])
def test_order_of_a_clamped_soft_body(name):
    order, make = DECLARED[name]
    system = clamped_beam()
    errors = [error_against(system, run(system, make(0.1 / n), n), exact_beam()) for n in (20, 40)]
    assert order_of(errors) == pytest.approx(order, abs=0.3)


# ---- mesh ----


def tip_of_cantilever(kind: str, n: int) -> float:
    """Tip deflection under an end load, a beam 4:1, n cells in its height, Poisson's ratio zero."""
    box = sp.box_hexes if kind == "hexes" else sp.box_tets
    mesh = box(size=(4.0, 1.0, 1.0), cells=(4 * n, 1, n))  # alike across its width
    scene = sp.Scene()
    beam = scene.add(sp.FemBody(mesh, sp.Material(1e6, 0.0, 1000), law="linear"), fix="x_min", name="beam")
    tip = mesh.node_region("x_max")
    on_edge = (np.abs(np.abs(mesh.nodes[tip][:, 1:]) - 0.5) < 1e-9).sum(axis=1)
    share = 0.5**on_edge  # a uniform traction on the end face
    scene.add(sp.Load(beam.points(tip), np.outer(share / share.sum(), [0.0, 0.0, -100.0])))
    system = scene.compile()
    state = sp.solve_statics(system)
    moved = system.positions(state, "beam")[tip, 2] - mesh.nodes[tip, 2]
    return float(-moved @ share / share.sum())


@pytest.mark.parametrize(("kind", "last", "worst"), [("hexes", 1.95, 0.01), ("tets", 1.75, 0.05)])
def test_cantilever_converges_with_the_square_of_the_mesh(kind, last, worst):
    """Error against Timoshenko's tip: order 2 is approached from below, sooner by hexes, whose bending locks less."""
    EI, kGA = 1e6 / 12, 5 / 6 * 0.5e6
    exact = 100 * 4**3 / (3 * EI) + 100 * 4 / kGA
    errors = 1 - np.array([tip_of_cantilever(kind, n) for n in (2, 4, 8)]) / exact
    assert (errors > 0).all()  # displacement elements are too stiff
    orders = np.log2(errors[:-1] / errors[1:])
    assert orders[0] < orders[1] < 2.05
    assert orders[1] > last
    assert errors[-1] < worst
