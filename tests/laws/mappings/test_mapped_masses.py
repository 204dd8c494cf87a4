"""Masses on mapped points."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.laws.mappings.implementers import PUSH, RNG, START, Polar, moved

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.point_mass import PointMass
from supple.scene.derivatives import differentiate


def inertia_of(mass: float, r: np.ndarray) -> np.ndarray:
    return mass * (r @ r * np.eye(3) - np.outer(r, r))


LUMP, AT = 0.9, np.array([0.25, -0.1, 0.3])


BODY = sp.RigidBody(2.0, (0.05, 0.08, 0.06))


def with_mapped_mass(**placed) -> sp.Scene:
    scene = sp.Scene(gravity=(0.0, 1.0, -9.81))
    node = scene.add(BODY, name="body", **placed)
    scene.add(PointMass(np.array([LUMP])), on=node.points(local=AT))
    return scene


def test_a_mapped_mass_adds_its_inertia():
    """M = J^T m J at the frame's origin: first moment and parallel axes."""
    system = with_mapped_mass(rotation=(0.4, -0.9, 0.2)).compile()
    kin = system.propagate(0.0, system.x0, system.v0)
    M = system.linearize(kin).matrix(mass=1.0).toarray()
    R = rotations.to_matrix(system.x0[3:])
    r = rotations.skew(AT)
    expected = np.block(
        [
            [(2.0 + LUMP) * np.eye(3), -LUMP * R @ r],
            [LUMP * r @ R.T, np.diag([0.05, 0.08, 0.06]) + inertia_of(LUMP, AT)],
        ]
    )
    np.testing.assert_allclose(M, expected, atol=1e-14)
    d = RNG.normal(size=6)
    np.testing.assert_allclose(system.mass_product(kin, d), expected @ d, atol=1e-13)
    np.testing.assert_allclose(system.centre_of_mass(kin), R @ AT * LUMP / (2.0 + LUMP), atol=1e-14)


def test_bias_of_a_mapped_mass_keeps_energy_and_momentum():
    """Without forces, dT/dt and the rates of both momenta vanish along (v, M^-1 bias)."""
    scene = with_mapped_mass(rotation=(0.4, -0.9, 0.2))
    scene.gravity = np.zeros(3)
    system = scene.compile()
    x, v = moved(system, 5)
    kin = system.propagate(0.0, x, v)
    dv = np.linalg.solve(system.linearize(kin).matrix(mass=1.0).toarray(), system.bias(kin))
    ahead = lambda t: system.propagate(0.0, system.retract(x, t * v), v + t * dv)  # noqa: E731
    assert abs(differentiate(lambda t: system.kinetic_energy(ahead(t)), 1e-3)) <= 1e-9
    assert np.abs(differentiate(lambda t: system.momentum(ahead(t)), 1e-3)).max() <= 1e-9


def test_bias_of_a_mapped_mass_is_lagranges():
    """bias = dT/dq - (dM/dt) q' for a mass on polar coordinates, by differencing T alone."""
    scene = sp.Scene()
    dots = scene.add(sp.Particles(START, [0.5, 0.8]), name="dots")
    scene.add(PointMass(np.array([1.5, 0.3])), on=dots.points().mapped(Polar(2)))
    system = scene.compile()
    x, v = START.ravel() + 0.1, PUSH.ravel()
    kin = system.propagate(0.0, x, v)
    energy = lambda x: system.kinetic_energy(system.propagate(0.0, x, v))  # noqa: E731
    slope = np.array([differentiate(lambda h, e=e: energy(x + h * e), 1e-3) for e in np.eye(6)])
    rate = differentiate(lambda h: system.mass_product(system.propagate(0.0, x + h * v, v), v), 1e-3)
    np.testing.assert_allclose(system.bias(kin), slope - rate, atol=1e-9)


def combined_body() -> tuple[sp.RigidBody, np.ndarray]:
    """The rigid body that frame and lump make together, and its centre of mass in the frame's axes."""
    centre = LUMP * AT / (2.0 + LUMP)
    inertia = np.diag([0.05, 0.08, 0.06]) + inertia_of(2.0, centre) + inertia_of(LUMP, AT - centre)
    return sp.RigidBody(2.0 + LUMP, inertia), centre


def fly(solver_of, dt: float, time: float) -> tuple[np.ndarray, np.ndarray]:
    """Frame of the body with a mapped mass, and of the same body in one piece, after a tumbling flight."""
    spin, velocity, turn = np.array([3.0, -2.0, 4.0]), np.array([1.0, 0.5, 2.0]), np.array([0.4, -0.9, 0.2])
    R = rotations.to_matrix(rotations.exp(turn))
    whole, centre = combined_body()
    mapped = with_mapped_mass(rotation=turn, velocity=velocity, spin=spin)
    single = sp.Scene(gravity=(0.0, 1.0, -9.81))
    single.add(whole, at=R @ centre, rotation=turn, velocity=velocity + np.cross(spin, R @ centre), spin=spin)
    ends = []
    for scene in (mapped, single):
        system, solver = scene.compile(), solver_of(dt)
        state = system.initial_state()
        for _ in range(round(time / dt)):
            assert solver.step(system, state).is_solved
        ends.append(state.x.copy())
    ends[1][:3] -= rotations.to_matrix(ends[1][3:]) @ centre
    return ends[0], ends[1]


def test_a_point_mass_on_a_frame_moves_as_one_body():
    """The same trajectory as the rigid body of the combined inertia; RK4 at 2 ms is good to 1e-9 here."""
    mapped, single = fly(sp.RungeKutta4, 2e-3, 0.5)
    np.testing.assert_allclose(mapped, single, atol=1e-8)


@cache
def one_piece_end() -> np.ndarray:
    return fly(sp.RungeKutta4, 2e-3, 0.2)[1]


@pytest.mark.parametrize(
    ("solver", "order"),
    [
        (lambda dt: sp.ImplicitEuler(dt, newton=True, newton_tolerance=1e-11), 1),
        (sp.ImplicitEuler, 1),
        (sp.Midpoint, 2),
        (sp.Newmark, 2),
    ],
    ids=["implicit Euler, Newton", "implicit Euler", "midpoint", "Newmark"],
)
def test_solvers_keep_their_order_with_a_mapped_mass(solver, order):
    """Error against RK4 of the one-piece body when dt is halved: 2^order, within a quarter of the exponent."""
    exact = one_piece_end()
    errors = [np.linalg.norm(fly(solver, dt, 0.2)[0] - exact) for dt in (0.01, 0.005)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
