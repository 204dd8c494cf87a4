"""A tree that flies freely: its momentum changes by what acts on it, and its energy does not grow."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bodies.tree.kinematics import TreeMeasures
from supple.record.measures import measure
from supple.solvers.coupling.trees.momentum import rigid_inertia
from supple.validation.contact_kinds import MASS, RUBBER, SIDE, collide, cube

H = 0.002


def flying(*obstacles: sp.Plane, gravity: float = 0.0) -> tuple[sp.Scene, sp.System, sp.State]:
    """A soft cube that flies and turns, without damping of its own."""
    scene = sp.Scene(gravity=(0, 0, -gravity), solver=sp.Partitioned(H))
    domain_tree = sp.DomainTree({"cube": sp.DomainTemplate("cube", cube(), RUBBER, 8)}, [sp.Domain("cube")])
    soft = sp.TreeBody(domain_tree, stiffness_damping=0.0)
    scene.add(soft, at=(0.3, 0.2, 0.5), velocity=(1.0, 0.5, -0.3), spin=(3.0, 5.0, -2.0), name="soft")
    for obstacle in obstacles:
        scene.add(obstacle)
    scene.add(sp.Contact(friction=0.3))
    system = scene.compile()
    return scene, system, system.initial_state()


def measured(system: sp.System, state: sp.State) -> TreeMeasures:
    slot = system.body("soft")
    return slot.node.body.measures(slot.view_x(state.x), slot.view_v(state.v))


@pytest.mark.parametrize("other", ["rigid", "voxel", "tree"])
def test_a_collision_changes_the_momentum_of_each_by_the_recorded_impulse(other: str) -> None:
    whole, off, size = collide(other, "tree")
    assert size > 0.05
    assert max(whole, off) < 1e-12


def test_two_trees_that_collide_as_they_fall_are_turned_by_their_weight_alone() -> None:
    """dL = h c x m g of both, c: the mean of the places of a centre before and after a step; without friction, since
    the sides of a contact are a gap apart."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.Partitioned(H))
    domain_tree = sp.DomainTree({"cube": sp.DomainTemplate("cube", cube(), RUBBER, 8)}, [sp.Domain("cube")])
    scene.add(sp.TreeBody(domain_tree), at=(0.3, 0.2, 0.5), velocity=(3.0, 2.0, 0.0), name="one")
    above, v = (0.32, 0.21, 0.5 + SIDE + 5e-4), (3.0, 2.0, -0.5)
    scene.add(sp.TreeBody(domain_tree), at=above, velocity=v, spin=(3.0, 5.0, -2.0), name="two")
    scene.add(sp.Contact(friction=0.0))
    system = scene.compile()
    state, g, touched, given = system.initial_state(), np.array([0, 0, -9.81]), 0, np.zeros(3)
    first = measure(system, state)
    for _ in range(25):
        before = measure(system, state).centre_of_mass
        scene.solver.step(system, state)
        touched += len(system.contacts[0].touching(state.memory).force) > 0
        given += H * np.cross((before + measure(system, state).centre_of_mass) / 2, 2 * MASS * g)
    last = measure(system, state)
    assert touched > 3
    np.testing.assert_allclose(last.momentum[:3] - first.momentum[:3], 25 * H * 2 * MASS * g, atol=1e-12)
    np.testing.assert_allclose(last.momentum[3:] - first.momentum[3:], given, atol=1e-10)


def test_the_inertia_of_the_whole_is_that_of_a_rigid_cube() -> None:
    _, system, state = flying()
    slot = system.body("soft")
    A, c = rigid_inertia(slot.node.body, slot.view_x(state.x)), np.array([0.3, 0.2, 0.5])
    own = MASS * SIDE**2 / 6
    np.testing.assert_allclose(A[:3, :3], MASS * np.eye(3), atol=1e-12)
    np.testing.assert_allclose(A[3:, :3], MASS * np.cross(c, np.eye(3)).T, atol=1e-12)
    np.testing.assert_allclose(A[3:, 3:].diagonal(), own, rtol=0.2)  # the mesh's mass is lumped at its nodes


def test_a_free_flight_keeps_momentum_and_does_not_gain_energy() -> None:
    """The angular momentum about the centre of mass as well, in gravity."""
    scene, system, state = flying(gravity=9.81)
    first, g = measured(system, state), np.array([0, 0, -9.81])

    def about_centre(m: TreeMeasures) -> np.ndarray:
        return m.momentum[3:] - np.cross(m.first_moment / MASS, m.momentum[:3])

    energy = [first.energy(g)]
    for _ in range(300):
        scene.solver.step(system, state)
        energy.append(measured(system, state).energy(g))
    last = measured(system, state)
    np.testing.assert_allclose(last.momentum[:3], first.momentum[:3] + 300 * H * MASS * g, atol=1e-11)
    turning = np.abs(about_centre(first)).max()
    np.testing.assert_allclose(about_centre(last), about_centre(first), atol=1e-10 * turning)
    moving = first.kinetic - np.sum(first.momentum[:3] ** 2) / (2 * MASS)
    assert max(energy) - energy[0] < 0.02 * moving


def test_a_tree_that_bounces_between_walls_does_not_gain_energy() -> None:
    upper = [sp.Plane((-1, 0, 0), -0.5), sp.Plane((0, -1, 0), -0.4), sp.Plane((0, 0, -1), -0.7)]
    lower = [sp.Plane((1, 0, 0), 0.1), sp.Plane((0, 1, 0), 0.0), sp.Plane((0, 0, 1), 0.3)]
    scene, system, state = flying(*upper, *lower)
    start, touched, largest = measured(system, state).energy(np.zeros(3)), 0, 0.0
    for _ in range(800):
        scene.solver.step(system, state)
        touched += len(system.contacts[0].touching(state.memory).force) > 0
        largest = max(largest, measured(system, state).energy(np.zeros(3)))
    assert touched > 20
    assert largest < 1.001 * start
