"""Rigid bodies of voxels that share faces: one face is a ball joint, a line of them a hinge. And a person's joints."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.groups.finding import spanning
from supple.bodies.voxel.groups.groups import faces_of
from supple.bodies.voxel.mass import CubeMass

Array = np.ndarray
G, SIZE = 9.81, 0.01
BONE = sp.VoxelMaterial(young=1e6, density=1000.0, rigid=True)


def two_bars(width: int = 2, height: int = 1) -> VoxelBody:
    """Two bars of eight cells, one after the other."""
    cells = np.ones((16, width, height), dtype=int)
    cells[8:] = 2
    return VoxelBody(sp.VoxelGrid(cells, SIZE), {1: BONE, 2: BONE})


def bent(body: VoxelBody, x: Array) -> Array:
    """Rotation vector (3,) of the second body against the first."""
    one, two = (x[np.flatnonzero(body.model.group == g)[0], 3:] for g in (0, 1))
    return np.asarray(rotations.log(rotations.multiply(rotations.conjugate(one), two)))


@pytest.mark.parametrize(("width", "height", "points"), [(1, 1, 1), (3, 1, 2), (1, 4, 2), (2, 2, 3)])
def test_as_many_points_as_faces_say(width: int, height: int, points: int) -> None:
    assert len(faces_of(two_bars(width, height).model).voxel) == points


def test_points_on_a_line_are_two() -> None:
    places = np.linspace(0, 1, 5)[:, None] * [1.0, 2.0, -1.0]
    assert sorted(spanning(places, 1e-9).tolist()) == [0, 4]


@pytest.mark.parametrize(("width", "height"), [(1, 1), (2, 1), (2, 2)])
def test_bodies_that_share_faces_turn_about_them_alone(width: int, height: int) -> None:
    """Kicked anyhow: a ball turns about all axes, a hinge about one, a face of a plane about none; momenta are kept."""
    body, rng = two_bars(width, height), np.random.default_rng(0)
    model, mass = body.model, CubeMass(body.model.mass, body.model.inertia)
    v = 0.3 * rng.normal(size=(model.voxel_count, 6))
    v[model.group == 1, :3] += [0.0, 0.2, 0.3]
    start = LocalState(0.0, model.rest_frames, v)
    begun = body.advance(start, 1e-4, 1)
    end = body.advance(begun, 1e-4, 2000)
    faces = faces_of(model)
    places = [
        end.x[faces.voxel[:, k], :3] + rotations.rotate(end.x[faces.voxel[:, k], 3:], faces.local[:, k]) for k in (0, 1)
    ]
    assert np.abs(places[0] - places[1]).max() < 1e-12
    before = mass.momentum(start)
    assert np.abs(mass.momentum(end) - before).max() < 1e-9 * np.abs(before).max()
    assert mass.kinetic_energy(end) == pytest.approx(mass.kinetic_energy(begun), rel=0.01)
    turned = np.abs(bent(body, end.x))
    assert (turned > 0.01).tolist() == {1: [True] * 3, 2: [False, True, False], 4: [False] * 3}[width * height]
    assert turned[~(turned > 0.01)].max(initial=0.0) < 1e-10


def test_two_bars_on_a_hinge_swing_as_rigid_bodies_do() -> None:
    """A double pendulum that begins at rest, 0.05 rad aside; its rival are two boxes on hinges, by midpoint steps."""
    a, middle, axis = 0.05, SIZE / 2, (0, 1, 0)
    gravity = (G * np.cos(a), 0, -G * np.sin(a))
    scene = sp.Scene(gravity=gravity, solver=sp.LatticeSolver(0.005))
    body = two_bars()
    bars = scene.add(body, name="bars")
    scene.add(sp.HingeJoint(bars, sp.World, at=(0, SIZE, middle), axis=axis))
    rival = sp.Scene(gravity=gravity, solver=sp.Midpoint(0.0025))
    one, two = (
        rival.add(sp.RigidBody.box((0.08, 0.02, SIZE), density=1000.0), at=(0.04 + 0.08 * k, SIZE, middle), name=f"{k}")
        for k in range(2)
    )
    rival.add(sp.HingeJoint(one, sp.World, at=(0, SIZE, middle), axis=axis))
    rival.add(sp.HingeJoint(one, two, at=(0.08, SIZE, middle), axis=axis))
    systems = [made.compile() for made in (scene, rival)]
    states, found = [system.initial_state() for system in systems], []
    for _ in range(200):
        assert scene.solver.step(systems[0], states[0]).is_solved
        for _ in range(2):
            rival.solver.step(systems[1], states[1])
        x = states[0].x.reshape(-1, 7)
        bars_now = [x[np.flatnonzero(body.model.group == g)[0]] for g in (0, 1)]
        found.append([[2 * np.arctan2(q[5], q[3]) for q in rows] for rows in (bars_now, states[1].x.reshape(-1, 7))])
    angle = np.array(found)
    assert np.abs(angle[:, 1]).max() > 0.1
    assert np.abs(angle[:, 0] - angle[:, 1]).max() < 0.01 * np.abs(angle[:, 1]).max()  # first order in small steps
    assert np.abs(states[0].memory["multipliers"]).max() > 0.0
    assert len(states[0].memory["multipliers"]) == 3 + 2  # of the person's hinge, not of that between the bars


def test_a_bone_is_held_by_joints() -> None:
    """A bar with a bone in it is held fast by the bone, however soft the flesh around it is."""
    cells = np.ones((8, 3, 3), dtype=int)
    cells[1:7, 1, 1] = 2
    flesh = sp.VoxelMaterial(young=1e5, density=1000.0, bond_damping=1.0)
    scene = sp.Scene(gravity=(0, 0, -G))
    bar = scene.add(VoxelBody(sp.VoxelGrid(cells, SIZE), {1: flesh, 2: BONE}), name="bar")
    bone = np.flatnonzero(bar.held_body.model.group == 0)
    scene.add(sp.FixedJoint(bar, sp.World, at=(0.04, 0.015, 0.015), patch_a=bone))
    run = sp.run(scene, until=0.2, progress=False)
    x = run.state.x.reshape(-1, 7)
    assert np.abs(x[bone, :3] - bar.held_body.model.centres[bone]).max() < 1e-12
    assert np.ptp(x[:, 2] - bar.held_body.model.centres[:, 2]) > 1e-6


def test_a_bone_hinges_on_a_rigid_body() -> None:
    """Across schemes: the joint is closed at the end of each step, and what one gives the other gets."""
    cells = np.ones((6, 3, 3), dtype=int)
    cells[:4] = 2
    body = VoxelBody(sp.VoxelGrid(cells, SIZE), {1: sp.VoxelMaterial(young=1e5, density=1000.0), 2: BONE})
    scene, side, v = sp.Scene(gravity=(0, 0, 0)), 0.03, 0.3
    bar = scene.add(body, name="bar")
    box = scene.add(
        sp.RigidBody.box((side,) * 3, density=2000.0), name="box", at=(-0.02, 0.015, 0.015), velocity=(0, 0, v)
    )
    end = np.flatnonzero(body.model.cells[:, 0] == 0)
    scene.add(sp.HingeJoint(bar, box, at=(-0.0025, 0.015, 0.015), axis=(0, 1, 0), patch_a=end))
    run = sp.run(scene, until=0.2, progress=False)
    assert isinstance(run.solver, sp.Partitioned)
    kin = run.system.propagate(run.state.t, run.state.x, run.state.v)
    assert np.abs(run.system.violation(kin)).max() < 1e-10
    x, moved = run.system.positions(run.state, "bar"), run.state.v[: 6 * body.model.voxel_count].reshape(-1, 6)
    assert np.ptp(x[body.model.group == 0, 3:], axis=0).max() == 0.0
    momentum = body.model.mass @ moved[:, :3] + 2000.0 * side**3 * run.state.v[-6:-3]
    assert momentum == pytest.approx([0, 0, 2000.0 * side**3 * v], abs=1e-9)
    assert moved[:, 2].mean() > 0.01
