"""Numbers that make no sense are refused where they are given, with their name."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bodies.protocols import LocalState
from supple.bodies.tree.dynamics import TreeSettings
from supple.errors import InputError


def ball() -> sp.Scene:
    scene = sp.Scene()
    scene.add(sp.RigidBody.sphere(0.1, density=500), name="ball")
    return scene


def hinged(**more):
    scene = ball()
    scene.add(sp.HingeJoint(scene.node("ball"), **more))
    return scene.compile()


NAN, INF = float("nan"), float("inf")
BAD = {
    "no safety": (lambda: sp.SymplecticEuler(safety=0.0), "safety"),
    "negative safety": (lambda: sp.SymplecticEuler(safety=-1.0), "safety"),
    "safety of a lattice": (lambda: sp.LatticeSolver(safety=NAN), "safety"),
    "bend limit": (lambda: sp.LatticeSolver(bend_limit=NAN), "bend_limit"),
    "tiny step": (lambda: sp.run(ball(), until=1.0, dt=1e-320), "step is not positive"),
    "step of a wrong type": (lambda: sp.ImplicitEuler("fast"), "step is not positive"),
    "checkpoints": (lambda: sp.run(ball(), until=1.0, dt=0.1, checkpoint_every=NAN), "checkpoint_every"),
    "torque": (lambda: hinged(motor_speed=1.0, motor_torque=NAN), "motor_torque"),
    "speed": (lambda: hinged(motor_speed=NAN), "motor_speed"),
    "negative tolerance": (lambda: sp.ImplicitEuler(tolerance=-1e-6), "tolerance"),
    "infinite tolerance": (lambda: sp.ImplicitEuler(newton_tolerance=INF), "newton_tolerance"),
    "midpoint": (lambda: sp.Midpoint(newton_tolerance=-1.0), "newton_tolerance"),
    "Newmark": (lambda: sp.Newmark(newton_tolerance=INF), "newton_tolerance"),
    "generalised alpha": (lambda: sp.GeneralizedAlpha(newton_tolerance=NAN), "newton_tolerance"),
    "theta": (lambda: TreeSettings(theta=INF), "theta"),
    "passes": (lambda: TreeSettings(passes=1.5), "passes is not a whole number"),
    "no particles": (lambda: sp.Particles(np.zeros((0, 3)), 1.0), "positions"),
    "a word as mass": (lambda: sp.Particles(np.zeros((1, 3)), "a"), "mass"),
    "a word as density": (lambda: sp.RigidBody.box((1, 1, 1), density="a"), "density"),
    "a word as rigid mass": (lambda: sp.RigidBody("a", (1, 1, 1)), "mass"),
    "a word as inertia": (lambda: sp.RigidBody(1.0, "a"), "inertia"),
    "a part of a rigid body": (lambda: sp.Scene().add(sp.RigidBody.sphere(0.1, density=1), fix="nope"), "as a whole"),
    "a word as rotation": (lambda: sp.Scene().add(sp.RigidBody.sphere(0.1, density=1), rotation="a"), "rotation"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_numbers_are_refused(case: str) -> None:
    make, says = BAD[case]
    with pytest.raises(InputError, match=says):
        make()


def test_predicates_see_world_positions() -> None:
    scene = sp.Scene()
    stuff = sp.Material(young=1e5, poisson=0.3, density=1000)
    node = scene.add(sp.FemBody(sp.box_hexes(size=(1, 1, 1), cells=(2, 2, 2)), stuff), at=(0, 0, 3.0))
    assert len(node.indices(lambda x: x[:, 2] > 3.25)) == 9


def test_a_layered_body_takes_wind() -> None:
    from supple.bodies.layered import LayeredBody

    scene = sp.Scene()
    stuff = sp.Material(young=1e5, poisson=0.35, density=1000)
    mesh = sp.box_tets(size=(0.4, 0.4, 0.4), cells=(4, 4, 4))
    body = LayeredBody.from_mesh(mesh, stuff, core=lambda x: np.abs(x - [0.2, 0, 0]).max(axis=1) < 0.11)
    node = scene.add(body, name="soft")
    scene.add(sp.Wind(node, (5.0, 0, 0)))
    system = scene.compile()
    state = system.initial_state()
    assert sp.ImplicitEuler(0.01).step(system, state).is_solved
    assert state.v[0] > 0


def test_a_lone_voxel_says_that_its_step_must_be_chosen() -> None:
    grid = sp.VoxelGrid(np.ones((1, 1, 1), dtype=int), 0.01)
    body = sp.VoxelBody(grid, sp.VoxelMaterial(young=1e6, density=1000))
    state = LocalState(0.0, body.model.rest_frames, np.zeros((1, 6)))
    assert body.stable_step() == np.inf
    with pytest.raises(InputError, match="has no largest stable step"):
        body.advance(state, np.inf, 1)
