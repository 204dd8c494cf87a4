"""Modes and equilibria of scenes with trees, joints and contacts, against closed forms and rival methods."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bodies.tree import LinearizedTree
from supple.validation.tree.coupling import beam_domain_tree

G = 9.81


def hz(k: float, m: float) -> float:
    return float(np.sqrt(k / m) / (2 * np.pi))


def tree(**more) -> sp.TreeBody:
    return sp.TreeBody(beam_domain_tree(3, 6), stiffness_damping=0.01, **more)


def test_frequencies_of_a_tree_are_those_of_its_linearised_dynamics() -> None:
    scene, body = sp.Scene(), tree()
    scene.add(body, name="branch")
    found = sp.vibration_modes(scene.compile(), 5)
    assert found.frequencies == pytest.approx(LinearizedTree.of(body.dynamics).frequencies(5), rel=1e-6)
    assert found.is_stable


def test_a_pendulum_on_a_hinge() -> None:
    """w² = m g d / (I + m d²)."""
    scene, a, d = sp.Scene(gravity=(0, 0, -G)), 0.1, 0.2
    bob = scene.add(sp.RigidBody.box((a, a, a), density=500), at=(0, 0, -d), name="bob")
    scene.add(sp.HingeJoint(bob, axis=(0, 1, 0), at=(0, 0, 0)))
    modes = sp.vibration_modes(scene.compile(), 1)
    assert modes.frequencies[0] == pytest.approx(hz(G * d, a * a / 6 + d * d), rel=1e-6)


def test_a_pendulum_upside_down_grows() -> None:
    scene, a, d = sp.Scene(gravity=(0, 0, -G)), 0.1, 0.2
    bob = scene.add(sp.RigidBody.box((a, a, a), density=500), at=(0, 0, d), name="bob")
    scene.add(sp.HingeJoint(bob, axis=(0, 1, 0), at=(0, 0, 0)))
    with pytest.warns(sp.errors.StabilityWarning, match="grow"):
        modes = sp.vibration_modes(scene.compile(), 1)
    assert modes.growth[0] == pytest.approx(np.sqrt(G * d / (a * a / 6 + d * d)), rel=1e-6)


def plate(friction: float) -> tuple[sp.Scene, float, float]:
    """A plate on a penalty floor; its mass [kg] and the stiffness [N/m] of the floor below it."""
    scene, size, modulus = sp.Scene(gravity=(0, 0, -G)), (0.2, 0.1, 0.02), 1e7
    body = sp.RigidBody.box(size, density=1000)
    scene.add(body, at=(0, 0, 0.01 - body.total_mass * G / (modulus * 0.02)), name="plate")
    scene.add(sp.Floor())
    scene.add(sp.Contact(stiffness=modulus, friction=friction))
    return scene, body.total_mass, modulus * size[0] * size[1]


def test_a_plate_on_a_floor_bounces_at_its_frequency() -> None:
    scene, m, k = plate(0.0)
    modes = sp.vibration_modes(scene.compile(), 6)
    assert np.count_nonzero(modes.frequencies < 1e-3) == 3  # it slides and turns on the floor
    assert min(abs(modes.frequencies - hz(k, m))) < 1e-6 * hz(k, m)


def test_a_plate_that_sticks_is_held_along_the_floor() -> None:
    scene, m, k = plate(0.5)
    modes = sp.vibration_modes(scene.compile(), 6)
    assert modes.frequencies[0] > 1.0
    assert min(abs(modes.frequencies - hz(k, m))) < 1e-6 * hz(k, m)
    # about the upright axis: I = m (a² + b²) / 12, four corners at (a² + b²) / 4 of k/8 each along the floor
    twist = hz(3 * 0.5 * k, m)
    assert min(abs(modes.frequencies - twist)) < 1e-6 * twist


def test_a_ball_that_sticks_rolls_freely_and_is_held_against_sliding() -> None:
    """Friction holds the point below by k/2: w² = k/2 (1/m + a²/I), I = 2/5 m r², a: from the centre to the middle of
    the overlap d. It rolls and spins without a force."""
    scene, r, modulus = sp.Scene(gravity=(0, 0, -G)), 0.1, 1e6
    body, k = sp.RigidBody.sphere(r, density=1000), modulus * np.pi * r**2
    m, d = body.total_mass, body.total_mass * G / k
    scene.add(body, at=(0, 0, r - d), name="ball")
    scene.add(sp.Floor())
    scene.add(sp.Contact(stiffness=modulus, friction=0.5))
    modes = sp.vibration_modes(scene.compile(), 6)
    bounces, slides = hz(k, m), hz(0.5 * k * (1 + 5 / 2 * (1 - d / (2 * r)) ** 2), m)
    assert modes.frequencies == pytest.approx([0, 0, 0, bounces, slides, slides], rel=1e-6, abs=1e-3)


def test_a_tree_on_a_spring_lies_between_free_and_held() -> None:
    """A spring at the tip raises the first frequency: less than to that of a tip held fast, more than not at all."""

    def first(stiffness: float) -> float:
        scene = sp.Scene()
        node = scene.add(tree(), name="branch")
        tip = node.points([int(np.argmax(node.body.rest_points[:, 0]))])
        if stiffness:
            scene.add(sp.Springs(tip, sp.World.points(tip.rest), stiffness=stiffness))
        return float(sp.vibration_modes(scene.compile(), 1).frequencies[0])

    bare, soft, stiff, held = (first(k) for k in (0.0, 1.0, 100.0, 1e8))
    assert bare < soft < stiff < held
    assert first(1e9) == pytest.approx(held, rel=1e-3)


def test_the_sag_of_a_tree_is_where_it_comes_to_rest() -> None:
    """Against its own steps, damped until nothing moves."""
    scene = sp.Scene(gravity=(0, 0, -0.5 * G))
    node = scene.add(tree(mass_damping=8.0), name="branch")
    scene.add(sp.Load(node.points(at=[(0.3, 0, 0)]), (0, 0.002, 0)))
    system = scene.compile()
    rest = sp.solve_statics(system)
    run = sp.run(scene, until=40.0, dt=1 / 60, record_every=1.0)
    skin = node.body.skin
    sagged, swung = (skin.positions(system.positions(state, "branch")) for state in (rest, run.state))
    sag = np.abs(sagged - node.rest).max()
    assert sag > 1e-3
    assert np.abs(sagged - swung).max() < 1e-5 * sag


@pytest.mark.parametrize("above", [0.0, 0.005])
def test_a_plate_sinks_by_its_weight_over_the_stiffness(above: float) -> None:
    scene, m, k = plate(0.3)
    system = scene.compile()
    state = system.initial_state()
    state.x[2] = 0.01 + above
    rest = sp.solve_statics(system, state)
    assert 0.01 - rest.x[2] == pytest.approx(m * G / k, rel=1e-6)


def test_a_pendulum_comes_to_hang() -> None:
    scene, d = sp.Scene(gravity=(0, 0, -G)), 0.2
    node = scene.add(tree(), at=(0, 1, 0), name="branch")
    bob = scene.add(sp.RigidBody.sphere(0.02, density=500), at=(d * np.sin(0.5), 0, -d * np.cos(0.5)), name="bob")
    scene.add(sp.BallJoint(bob, sp.World, at=(0, 0, 0)))
    system = scene.compile()
    rest = sp.solve_statics(system)
    assert system.positions(rest, "bob")[0, :3] == pytest.approx([0, 0, -d], abs=1e-6)
    assert node.body.total_mass > 0


def test_a_tree_on_a_spring_on_a_block() -> None:
    """The block carries the share of the tree's weight that the spring takes: forces of all three balance."""
    scene = sp.Scene(gravity=(0, 0, -G))
    node = scene.add(tree(), name="branch")
    tip = int(np.argmax(node.body.rest_points[:, 0]))
    end = node.body.rest_points[tip]
    mesh = sp.box_hexes(size=(0.1, 0.1, 0.1), cells=(2, 2, 2))
    block = scene.add(sp.FemBody(mesh, sp.Material(1e5, 0.3, 100)), at=end - (0.05, 0, 0.3), fix="z_min", name="block")
    top = block.points(at=[end - (0, 0, 0.25)])
    scene.add(sp.Springs(node.points([tip]), top, stiffness=20.0), name="spring")
    system = scene.compile()
    rest = sp.solve_statics(system, tolerance=1e-10)
    kin = system.propagate(0.0, rest.x, rest.v)
    f = system.force(kin)
    system.filter.project(f)
    branch = system.body("branch")
    slot = next(force.slot for force in system.forces if force.label == "spring")
    stretched = np.linalg.norm(kin.x[slot.index][0] - kin.x[slot.index][1])
    assert np.abs(branch.view_v(f)[0, 6:]).max() < 1e-6
    assert np.abs(system.body("block").view_v(f)).max() < 1e-6
    assert stretched > 0.0
    assert sp.vibration_modes(system, 3, state=rest).is_stable
