"""Bodies of finite elements in free flight: momentum whatever solves the step, rigid tumbling, stretch by spin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations

DT = 0.01
EXACT = 5e-12
"""Of a momentum: inner forces, whose rounding has a sum, are up to a thousand times as large as what they leave."""


def tumbling(young: float = 1e5, law: str = "corotational", mass: str = "lumped", **material: Any) -> sp.System:
    """Two blocks that fly, spin and vibrate side by side."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    for k in range(2):
        mesh = sp.box_tets(size=(0.1, 0.08, 0.06 + 0.02 * k), cells=(5, 4, 3 + k))
        body = sp.FemBody(mesh, sp.Material(young, 0.3, 1000.0, **material), law=law, mass=mass)
        scene.add(body, at=(0.5 * k, 0, 0), spin=(1, 2 - 5 * k, 3), velocity=(0.1, 0.2, 0.3), name=f"block {k}")
    return scene.compile()


def struck(system: sp.System) -> sp.State:
    """The start, with waves in the blocks."""
    state = system.initial_state()
    state.v += 0.1 * np.sin(40.0 * state.x)
    return state


def momenta(system: sp.System, state: sp.State) -> np.ndarray:
    """Linear momentum and angular momentum about its own centre of mass of each body (2, 2, 3)."""
    kin, found = system.propagate(state.t, state.x, state.v), []
    for slot in system.bodies:
        mass = next(mass for _, at, mass in system.masses if at is slot)
        m = mass.momentum(kin.local(slot))
        found.append([m[:3], m[3:] - np.cross(system.centre_of_mass(kin, slot), m[:3])])
    return np.array(found)


@pytest.mark.parametrize("steps", [1, 10])
@pytest.mark.parametrize("young", [1e4, 1e7])
def test_momentum_does_not_depend_on_what_solves_the_step(steps: int, young: float) -> None:
    """Nor on the tolerance of iterations, nor on their preconditioner."""
    ways: list[dict[str, Any]] = [{"linear": "direct"}, {"linear": "cg", "preconditioner": "aggregation"}]
    ways += [{"linear": "cg", "tolerance": 10.0**-k} for k in (3, 6, 10)]
    ends, velocities = [], []
    for way in ways:
        system = tumbling(young)
        state, solver = struck(system), sp.ImplicitEuler(DT, **way)
        for _ in range(steps):
            solver.step(system, state)
        ends.append(momenta(system, state))
        velocities.append(state.v)
    for end in ends[1:]:
        for one, other in zip(end.reshape(-1, 3), ends[0].reshape(-1, 3)):
            assert np.linalg.norm(one - other) < EXACT * np.linalg.norm(other)
    assert np.abs(velocities[2] - velocities[0]).max() > 1e-8  # the solutions are not the same


@pytest.mark.parametrize("law", ["corotational", "stvk", "neo-hookean"])
@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_a_free_body_keeps_its_spin_and_gains_no_energy(law: str, mass: str) -> None:
    system = tumbling(1e6, law, mass, stiffness_damping=1e-3)
    state, solver, energies = struck(system), sp.ImplicitEuler(DT), []
    start = momenta(system, state)
    for _ in range(60):
        solver.step(system, state)
        kin = system.propagate(state.t, state.x, state.v)
        energies.append(system.kinetic_energy(kin) + system.potential_energy(kin))
    end = momenta(system, state)
    np.testing.assert_allclose(end[:, 1], start[:, 1], atol=10 * EXACT * np.abs(start[:, 1]).max())
    assert max(np.diff(energies)) < 1e-10 * energies[0]


def test_mass_damping_takes_spin_at_its_own_rate() -> None:
    """By 1 + h alpha in each step, as implicit Euler takes any velocity."""
    system = tumbling(mass_damping=2.0)
    state, solver = struck(system), sp.ImplicitEuler(DT)
    start = momenta(system, state)
    for _ in range(10):
        solver.step(system, state)
    np.testing.assert_allclose(momenta(system, state)[:, 1] * (1 + 2.0 * DT) ** 10, start[:, 1], rtol=1e-11)


@pytest.mark.parametrize("spin", [(20.0, 1.0, 5.0), (2.0, 30.0, 2.0)])
def test_a_stiff_body_tumbles_as_a_rigid_one(spin: tuple[float, float, float]) -> None:
    """Steel: along straight lines its spin would be gone after ten steps. To the second order of the step."""
    mesh, size = sp.box_tets(size=(0.1, 0.08, 0.04), cells=(4, 3, 2)), np.array([0.1, 0.08, 0.04])
    steel = sp.FemBody(mesh, sp.Material(2e11, 0.3, 7800.0), mass="consistent")
    apart = np.linalg.norm(mesh.nodes[:, None] - mesh.nodes, axis=2)
    errors = []
    for dt in (DT / 4, DT / 8):
        scene = sp.Scene()
        scene.add(steel, spin=spin, name="bar")
        system = scene.compile()
        state, solver = system.initial_state(), sp.ImplicitEuler(dt)
        for _ in range(round(0.3 / dt)):
            solver.step(system, state)
        x = state.x.reshape(-1, 3)
        np.testing.assert_allclose(np.linalg.norm(x[:, None] - x, axis=2), apart, atol=1e-6)
        rigid = sp.Scene()
        rigid.add(sp.RigidBody.box(tuple(size), density=7800.0), spin=spin, name="bar")
        other = rigid.compile()
        there, fine = other.initial_state(), sp.Midpoint(1e-4)
        for _ in range(3000):
            fine.step(other, there)
        R = rotations.to_matrix(there.x[3:7])
        errors.append(np.abs(x - x.mean(axis=0) - (mesh.nodes - mesh.nodes.mean(axis=0)) @ R.T).max())
    assert errors[0] < 0.02 * size[0]
    assert errors[1] < 0.4 * errors[0]  # second order


def test_a_spinning_disc_is_as_wide_as_its_stress_makes_it() -> None:
    """Turning it as a whole leaves it the stretch by its spin: r + u of the same mesh in statics of the turning frame,
    rho w² r on K, to the first order of the step."""
    w, young = 20.0, 1e6
    scene = sp.Scene()
    mesh = sp.box_tets(size=(0.2, 0.2, 0.02), cells=(8, 8, 1))
    scene.add(sp.FemBody(mesh, sp.Material(young, 0.3, 1000.0), law="stvk"), spin=(0, 0, w), name="plate")
    system = scene.compile()
    state, solver = system.initial_state(), sp.ImplicitEuler(2e-3)
    for _ in range(1500):
        solver.step(system, state)
    x, v = state.x.reshape(-1, 3), state.v.reshape(-1, 3)
    now = momentum_spin(system, state)
    pulled = system.force(system.propagate(state.t, state.x, state.v)).reshape(-1, 3)
    m = next(mass for _, _, mass in system.masses).node_mass[:, None]
    inward = -m * now**2 * (x - x.mean(axis=0)) * [1, 1, 0]
    assert np.abs(v[:, 2]).max() < 1e-4 * np.abs(v).max()
    assert np.linalg.norm(pulled - inward) < 0.05 * np.linalg.norm(inward)


def momentum_spin(system: sp.System, state: sp.State) -> float:
    """Angular momentum about z over the moment of inertia [rad/s]."""
    x, m = state.x.reshape(-1, 3), next(mass for _, _, mass in system.masses).node_mass
    r = x - (m @ x) / m.sum()
    return float(momenta(system, state)[0, 1, 2] / (m @ (r[:, 0] ** 2 + r[:, 1] ** 2)))
