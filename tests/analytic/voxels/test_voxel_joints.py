"""Joints of voxels with the world and with voxels, held inside the sweep: errors, momenta, a pendulum, a rival."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.solvers.choosing import choose
from supple.solvers.report import Outcome
from supple.validation.contact_kinds import MASS, SIDE
from supple.validation.couplings import SPIN, coupled, scene_of
from supple.validation.voxel.blocks import block

G, SIZE = 9.81, 0.01


@pytest.mark.parametrize("two", ["voxel", "world"])
@pytest.mark.parametrize("joint", ["ball", "hinge", "slider", "fixed"])
def test_joints_stay_closed_and_keep_momenta(joint: str, two: str) -> None:
    assert isinstance(choose(scene_of("voxel", two, joint)).solver, sp.LatticeSolver)
    found = coupled("voxel", two, joint, until=0.2)
    assert found.failed == 0
    assert found.joint < 1e-11
    if two == "voxel":
        assert found.pushed > 0.1
        assert found.linear < 1e-12
        assert np.linalg.norm(found.angular) < 1e-9 * MASS * SPIN * SIDE**2


def pendulum(joint: str, solver: Any = None, *, young: float = 1e6) -> tuple[sp.Scene, Any]:
    """A bar of voxels that hangs from one end, drawn aside by 0.1 rad: level, while gravity leans."""
    scene = sp.Scene(gravity=(G * np.cos(0.1), 0, -G * np.sin(0.1)), solver=solver)
    bar = scene.add(block((12, 2, 2), size=SIZE, young=young, bond_damping=0.2), name="bar")
    at = (0.0, SIZE, SIZE)
    made = (
        sp.BallJoint(bar, sp.World, at=at) if joint == "ball" else sp.HingeJoint(bar, sp.World, at=at, axis=(0, 1, 0))
    )
    scene.add(made)
    return scene, bar


@pytest.mark.parametrize("joint", ["ball", "hinge"])
def test_a_bar_swings_with_the_period_of_a_pendulum(joint: str) -> None:
    """w² = m g c / I about the end, of a cuboid; the swing passes its middle after a quarter of a period."""
    scene, _ = pendulum(joint)
    L, b = 12 * SIZE, 2 * SIZE
    inertia = (L**2 + b**2) / 12 + (L / 2) ** 2
    w = np.sqrt(G * (L / 2) / inertia) * (1 - 0.1**2 / 16)
    system = scene.compile()
    state, found = system.initial_state(), []
    solver = sp.LatticeSolver(0.002)
    for _ in range(int(0.7 * np.pi / w / 0.002)):
        assert solver.step(system, state).is_solved
        kin = system.propagate(state.t, state.x, state.v)
        middle = system.centre_of_mass(kin) - [0, SIZE, SIZE]
        found.append((state.t, np.arctan2(-middle[2], middle[0]) - 0.1))
        assert np.abs(system.violation(kin)).max() < 1e-12
    t, angle = np.array(found).T
    crossing = t[np.argmax(angle > 0) - 1 : np.argmax(angle > 0) + 1]
    assert crossing[0] <= 1.01 * np.pi / (2 * w)
    assert crossing[1] >= 0.99 * np.pi / (2 * w)


def test_the_joint_carries_the_weight() -> None:
    """Of a bar that hangs straight down, read from the multipliers."""
    scene = sp.Scene(gravity=(G, 0, 0), solver=sp.LatticeSolver(0.005))
    bar = scene.add(block((6, 2, 2), size=SIZE, young=1e6, bond_damping=1.0), name="bar")
    scene.add(sp.BallJoint(bar, sp.World, at=(0.0, SIZE, SIZE)))
    system = scene.compile()
    state, forces = system.initial_state(), []
    for _ in range(60):
        scene.solver.step(system, state)
        forces.append(state.memory["multipliers"])
    weight = 24 * 1000.0 * SIZE**3 * G
    assert np.mean(forces[20:], axis=0) == pytest.approx([weight, 0, 0], rel=0.01, abs=0.01 * weight)


def test_the_general_way_ends_where_the_sweep_does() -> None:
    """Implicit Euler of the same lattice and joint, at small steps: the rival."""
    ends = []
    for solver in (sp.LatticeSolver(0.005), sp.ImplicitEuler(0.001)):
        scene, bar = pendulum("hinge", solver)
        run = sp.run(scene, until=0.05)
        ends.append(run.system.positions(run.state, "bar"))
    moved = np.abs(ends[0][:, :3] - bar.rest).max()
    assert np.abs(ends[0] - ends[1])[:, :3].max() < 0.03 * moved


def test_a_joint_that_begins_open_is_closed_along_the_first_step() -> None:
    scene = sp.Scene(solver=sp.LatticeSolver(0.01))
    bar = scene.add(block((3, 2, 2), size=SIZE, young=1e6, bond_damping=1.0), name="bar")
    points = bar.points(at=[[0.0, SIZE, SIZE]])
    scene.add(sp.BallJoint(points, sp.World.points(points.rest + np.array([0, 0, 1e-4]))))
    system = scene.compile()
    state = system.initial_state()
    scene.solver.step(system, state)
    kin = system.propagate(state.t, state.x, state.v)
    assert np.abs(system.violation(kin)).max() < 1e-13
    assert np.abs(state.v.reshape(-1, 6)[:, :3]).max() < 10 * 1e-4 / 0.01


def test_threads_do_not_change_the_bits() -> None:
    ends = []
    for threads in (1, 2):
        scene = sp.Scene(gravity=(0, 0, -G))
        one = scene.add(block((16, 16, 9), size=SIZE, young=1e6), name="one")
        two = scene.add(block((16, 16, 9), size=SIZE, young=1e6), at=(0.17, 0, 0), name="two")
        scene.add(sp.HingeJoint(one, two, at=(0.165, 0.08, 0.05), axis=(0, 1, 0)))
        scene.add(sp.BallJoint(one, sp.World, at=(0, 0, 0)))
        ends.append(sp.run(scene, until=0.005, dt=0.0025, threads=threads).state.x.tobytes())
    assert ends[0] == ends[1]


def test_lattices_with_joints_are_swept_beside_other_bodies() -> None:
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.Partitioned(0.005))
    bar = scene.add(block((6, 2, 2), size=SIZE, young=1e6, bond_damping=1.0), name="bar")
    scene.add(sp.BallJoint(bar, sp.World, at=(0.0, SIZE, SIZE)))
    box = scene.add(sp.RigidBody.box((0.05, 0.05, 0.05), density=100), at=(0.3, 0, 0), name="box")
    scene.add(sp.BallJoint(box, sp.World, at=(0.3, 0, 0.1)))
    scene.add(sp.Contact())
    system = scene.compile()
    state = system.initial_state()
    for _ in range(20):
        assert scene.solver.step(system, state).is_solved
    kin = system.propagate(state.t, state.x, state.v)
    assert np.abs(system.violation(kin)).max() < 1e-9
    assert scene.solver._across.part["bar"] == 2
    assert state.memory["multipliers"][3:] == pytest.approx([0, 0, -100 * 0.05**3 * G], abs=0.02)
    assert state.memory["multipliers"][2] < 0.0  # both pull up on their bodies


def test_a_bar_hangs_from_one_that_is_held() -> None:
    """Filters hold voxels of the one, a hinge the other; where its patch is held itself, it is the world's."""
    for held in (lambda X: X[:, 0] < SIZE, lambda X: X[:, 0] > 0):
        scene = sp.Scene(gravity=(0, 0, -G))
        one = scene.add(block((4, 2, 2), size=SIZE, young=1e7, bond_damping=1.0), fix=held, name="one")
        two = scene.add(block((4, 2, 2), size=SIZE, young=1e7, bond_damping=1.0), at=(0.05, 0, 0), name="two")
        scene.add(sp.HingeJoint(one, two, at=(0.045, SIZE, SIZE), axis=(0, 1, 0)))
        assert isinstance(choose(scene).solver, sp.LatticeSolver)
        run = sp.run(scene, until=0.1)
        kin = run.system.propagate(run.state.t, run.state.x, run.state.v)
        assert np.abs(run.system.violation(kin)).max() < 1e-12
        assert run.system.centre_of_mass(kin, run.system.body("two"))[2] < 0.5 * SIZE


def test_links_that_break_may_be_held_by_joints() -> None:
    """A bar that hangs from a joint tears where it carries most."""
    material = sp.VoxelMaterial(1e5, density=1000.0, bond_damping=1.0, fail_strain=0.005)
    scene = sp.Scene(gravity=(10 * G, 0, 0))
    bar = scene.add(sp.VoxelBody(sp.VoxelGrid(np.ones((6, 1, 1), dtype=int), SIZE), material), name="bar")
    scene.add(sp.BallJoint(bar, sp.World, at=(0.5 * SIZE, 0.5 * SIZE, 0.5 * SIZE)))
    run = sp.run(scene, until=0.1)
    x = run.system.positions(run.state, "bar")
    assert abs(x[0, 0] - 0.5 * SIZE) < 1e-9
    assert x[-1, 0] > 0.2


@pytest.mark.parametrize("how", ["limits", "slides"])
def test_what_the_sweep_does_not_hold_takes_the_general_way(how: str) -> None:
    scene = sp.Scene(gravity=(0, 0, -G))
    bar = scene.add(block((6, 2, 2), size=SIZE, young=1e6), name="bar")
    if how == "slides":
        scene.add(sp.SlidingPlane(bar, lambda X: X[:, 0] < SIZE, normal=(0, 1, 0)))
    limits: Any = {"limits": (-0.5, 0.5)} if how == "limits" else {}
    scene.add(sp.HingeJoint(bar, sp.World, at=(0.0, SIZE, SIZE), axis=(0, 1, 0), **limits))
    assert isinstance(choose(scene).solver, sp.ImplicitEuler)
    with pytest.raises(InputError, match="does not hold a joint"):
        sp.LatticeSolver(0.01).prepare(scene.compile())


def test_joints_that_say_the_same_share_their_force() -> None:
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.LatticeSolver(0.005))
    bar = scene.add(block((4, 2, 2), size=SIZE, young=1e6, bond_damping=1.0), name="bar")
    for _ in range(2):
        scene.add(sp.FixedJoint(bar, sp.World, at=(0.0, SIZE, SIZE)))
    system = scene.compile()
    state = system.initial_state()
    for _ in range(4):
        assert scene.solver.step(system, state).is_solved
    one, two = state.memory["multipliers"].reshape(2, -1)
    np.testing.assert_allclose(one, two, atol=1e-5 * np.abs(one).max())


def test_joints_that_contradict_each_other_are_reported() -> None:
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.LatticeSolver(0.005))
    bar = scene.add(block((4, 2, 2), size=SIZE, young=1e6, bond_damping=1.0), name="bar")
    points = bar.points(at=[[0.0, SIZE, SIZE]])
    for off in (0.0, 1e-3):
        scene.add(sp.BallJoint(points, sp.World.points(points.rest + np.array([0, 0, off]))))
    system = scene.compile()
    assert scene.solver.step(system, system.initial_state()).outcome is Outcome.JOINT_LIMIT
