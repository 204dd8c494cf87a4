"""Springs on voxels, taken within the small steps of the sweep: stiffness, energy, momenta, closed forms and rivals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.scene.state import State
from supple.scene.system import System
from supple.validation.voxel.blocks import block

Array = np.ndarray
SIZE, DENSITY = 0.01, 1000.0
MASS = DENSITY * SIZE**3


def body(shape: tuple[int, int, int] = (3, 3, 3), **more: Any) -> sp.VoxelBody:
    values = {"young": 1e5, "bond_damping": 0.2, **more}
    return block(shape, size=SIZE, **values)


def energy(system: System, state: State) -> float:
    kin = system.propagate(state.t, state.x, state.v, state.memory)
    return system.kinetic_energy(kin) + system.potential_energy(kin)


def lone(stiffness: float, damping: float = 0.0, **more: Any) -> tuple[System, State]:
    """One voxel whose middle is attached to a place 1 cm aside."""
    scene = sp.Scene()
    node = scene.add(body((1, 1, 1)), name="voxel")
    middle = np.full((1, 3), SIZE / 2)
    scene.add(
        sp.Springs(
            node.points(at=middle[0]), sp.World.points(middle + np.array([SIZE, 0, 0])), stiffness, damping, **more
        )
    )
    system = scene.compile()
    return system, system.initial_state()


def small_steps(scene: sp.Scene) -> int:
    """In a step of 1/300 s."""
    system = scene.compile()
    return sp.LatticeSolver(bend_limit=None).step(system, system.initial_state()).iterations


@pytest.mark.parametrize("rest", [0.0, SIZE])
def test_a_heavy_pull_takes_no_more_small_steps(rest: float) -> None:
    """A spring for the mass of the whole body on a corner voxel, and one as stiff as a link with a length."""
    scenes = [sp.Scene(gravity=(0, 0, -9.81)) for _ in range(2)]
    for scene in scenes:
        node = scene.add(body((8, 8, 8)), name="body")
        scene.add(sp.Floor())
    corner = node.points(at=(8 * SIZE, 8 * SIZE, 8 * SIZE))
    k = 0.2 * 1e5 * SIZE if rest else 1e4 * 512 * MASS
    there = sp.World.points(corner.rest + np.array([rest, 0, 0]))
    scenes[1].add(sp.Springs(corner, there, k, 0.0 if rest else k / 6, rest_length=rest))
    assert small_steps(scenes[1]) == small_steps(scenes[0])


@pytest.mark.parametrize("rest", [0.0, SIZE / 2])
def test_a_voxel_swings_on_an_undamped_spring_for_ever(rest: float) -> None:
    """With period 2 pi sqrt(m/k) and the energy of the start, to the order of the square of the small step."""
    k = 0.2
    system, state = lone(k, rest_length=rest)
    period, first = 2 * np.pi * np.sqrt(MASS / k), energy(system, state)
    solver = sp.LatticeSolver(period / 40)
    for _ in range(30):
        solver.advance(system, state, 40)
        assert energy(system, state) == pytest.approx(first, rel=1e-3)
    assert state.x[0] == pytest.approx(SIZE / 2, abs=0.01 * SIZE)
    assert state.x[1:3] == pytest.approx([SIZE / 2, SIZE / 2], abs=1e-9)


def test_a_damped_voxel_comes_to_its_place_as_the_closed_form_says() -> None:
    """d = d0 (1 + w t) exp(-w t) at critical damping c = 2 m w."""
    w = 20.0
    system, state = lone(MASS * w**2, 2 * MASS * w, rest_length=0.0)
    solver, found = sp.LatticeSolver(1e-3), []
    for _ in range(100):
        solver.step(system, state)
        found.append((state.t, 1.5 * SIZE - state.x[0]))
    t, d = np.array(found).T
    np.testing.assert_allclose(d, SIZE * (1 + w * t) * np.exp(-w * t), atol=3e-3 * SIZE)


@pytest.mark.parametrize("stiffness", [1e3, 1e7, 1e11])
@pytest.mark.parametrize("damped", [False, True])
def test_no_spring_is_too_stiff(stiffness: float, *, damped: bool) -> None:
    """Energy does not grow beyond that of the start, on a corner of a body that spins; damped, it comes to rest."""
    scene = sp.Scene()
    node = scene.add(body(bond_damping=1.0), spin=(0, 5.0, 3.0), name="body")
    corner = node.points(at=(0, 0, 0))
    c = stiffness * 1e-3 if damped else 0.0
    scene.add(sp.Springs(corner, sp.World.points(corner.rest + np.array([1e-6, 0, 0])), stiffness, c, rest_length=0.0))
    system = scene.compile()
    state, solver = system.initial_state(), sp.LatticeSolver(bend_limit=None)
    first = energy(system, state)
    for _ in range(60):
        assert solver.step(system, state).is_solved
        assert energy(system, state) < 1.02 * first
    place = system.propagate(state.t, state.x, state.v).x[system.forces[-1].slot.index]
    assert np.linalg.norm(place[0] - place[1]) < 1.5 * np.sqrt(2 * first / stiffness)


@pytest.mark.parametrize("rest", [0.0, 2 * SIZE])
def test_two_bodies_on_springs_keep_their_momenta(rest: float) -> None:
    """What one gets the other gives: linear momentum to round-off, angular too where springs have a length; dampers
    take energy."""
    scene = sp.Scene()
    one = scene.add(body(), spin=(0, 3.0, 0), velocity=(0.1, 0, 0), name="one")
    two = scene.add(body((2, 4, 2), young=3e5), at=(0.05, 0.002, 0.003), velocity=(-0.2, 0.1, 0), name="two")
    ends = one.points(at=[(0.03, 0, 0), (0.03, 0.03, 0.03)]), two.points(at=[(0.05, 0.002, 0.003), (0.05, 0.04, 0.02)])
    scene.add(sp.Springs(*ends, [2.0, 3.0], [0.01, 0.0], rest_length=rest))
    system = scene.compile()
    state, solver = system.initial_state(), sp.LatticeSolver(bend_limit=None)

    def momentum() -> Array:
        return system.momentum(system.propagate(state.t, state.x, state.v))

    first, energies = momentum(), [energy(system, state)]
    for _ in range(60):
        solver.step(system, state)
        energies.append(energy(system, state))
    size = 27 * MASS * 0.2
    np.testing.assert_allclose(momentum()[:3], first[:3], atol=1e-12 * size)
    if rest:
        np.testing.assert_allclose(momentum()[3:], first[3:], atol=1e-12 * size * 0.1)
    assert energies[-1] < energies[0]
    assert max(np.diff(energies)) < 1e-3 * energies[0]


@pytest.mark.parametrize("rest", [0.0, SIZE])
def test_a_pulled_body_moves_as_in_fine_steps_of_the_general_solver(rest: float) -> None:
    scene = sp.Scene(gravity=(0, 0, -1.0))
    node = scene.add(body(young=2e4), name="body")
    top = node.points(at=(0.03, 0.015, 0.03))
    scene.add(sp.Springs(top, sp.World.points(top.rest + np.array([0.01, 0.004, 0.02])), 4.0, 0.1, rest_length=rest))
    system = scene.compile()
    states = []
    for solver, steps in ((sp.LatticeSolver(1e-2, bend_limit=None), 6), (sp.RungeKutta4(2e-5), 3000)):
        state = system.initial_state()
        solver.prepare(system)
        for _ in range(steps):
            solver.step(system, state)
        states.append(state.x.reshape(-1, 7)[:, :3])
    moved = np.abs(states[1] - system.initial_state().x.reshape(-1, 7)[:, :3]).max()
    assert moved > 1e-3
    np.testing.assert_allclose(states[0], states[1], atol=0.01 * moved)  # symplectic Euler, of first order in 2e-4 s


def test_an_attached_voxel_in_a_scene_of_several_kinds_moves_as_alone() -> None:
    found = []
    for others in (False, True):
        scene = sp.Scene(gravity=(0, 0, -9.81))
        node = scene.add(body(), name="body")
        corner = node.points(at=(0, 0, 0))
        scene.add(sp.Springs(corner, sp.World.points(corner.rest), 10.0, 0.1, rest_length=0.0))
        if others:
            scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(5.0, 0, 0), name="far")
        system = scene.compile()
        solver = replace(sp.Partitioned(1e-3)) if others else sp.LatticeSolver(1e-3)
        state = system.initial_state()
        for _ in range(20):
            solver.step(system, state)
        found.append(system.body("body").view_x(state.x).copy())
    np.testing.assert_allclose(found[1], found[0], atol=1e-12)


def test_springs_on_led_voxels_and_means_of_points_act_as_before() -> None:
    """The sweep leaves them; they act as loads, constant over parts of a step."""
    scene = sp.Scene()
    node = scene.add(body(), name="body")
    mean = node.points("x_min").centroid()
    scene.add(sp.Springs(mean, sp.World.points(mean.rest + np.array([0.01, 0, 0])), 1.0, 0.01, rest_length=0.0))
    system = scene.compile()
    state, solver = system.initial_state(), sp.LatticeSolver(1e-2)
    for _ in range(20):
        assert solver.step(system, state).is_solved
    assert state.v.reshape(-1, 6)[:, 0].mean() > 0
