"""Joints of lattices with other bodies, held inside the sweep: rest, readings, momenta, energy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.validation.contact_kinds import KINDS, MASS, SIDE
from supple.validation.couplings import SPIN, scene_of
from supple.validation.voxel.blocks import block

G, SIZE, EDGE, H = 9.81, 0.01, 0.02, 1 / 60
LATTICE = 2


def hanging(joint: str, density: float, **material: Any) -> sp.Scene:
    """A box below a bar of voxels that is held at its upper end."""
    scene = sp.Scene(gravity=(0, 0, -G))
    cells = np.ones((2, 2, 3), dtype=int)
    stuff = sp.VoxelMaterial(1e6, density=1000.0, bond_damping=1.0, **material)
    bar = scene.add(sp.VoxelBody(sp.VoxelGrid(cells, SIZE), stuff), fix="z_max", name="bar")
    box = sp.RigidBody.box((EDGE, EDGE, EDGE), density=density)
    made = sp.FixedJoint if joint == "fixed" else sp.BallJoint
    scene.add(made(bar, scene.add(box, at=(SIZE, SIZE, -EDGE / 2), name="box"), at=(SIZE, SIZE, 0.0)), name="hook")
    return scene


def after(scene: sp.Scene, solver: Any, steps: int) -> tuple[sp.System, sp.State]:
    system = scene.compile()
    state = system.initial_state()
    for _ in range(steps):
        assert solver.step(system, state).is_solved
    return system, state


@pytest.mark.parametrize("joint", ["ball", "fixed"])
@pytest.mark.parametrize("density", [1.0, 1000.0, 1e5])
def test_a_weight_of_any_size_comes_to_rest_where_an_implicit_lattice_has_it(joint: str, density: float) -> None:
    """From 1/1500 of the bar's mass to 70 times; the joint reads as the weight."""
    solver = sp.Partitioned(H)
    system, state = after(hanging(joint, density), solver, 60)
    assert solver._across.part["bar"] == LATTICE
    rival, at_rest = after(hanging(joint, density), sp.ImplicitEuler(0.05), 30)
    drop = system.positions(state, "box")[0, 2] + EDGE / 2
    assert drop < 0
    assert drop == pytest.approx(rival.positions(at_rest, "box")[0, 2] + EDGE / 2, rel=1e-3)
    weight = density * EDGE**3 * G
    assert system.joint_readings(state)["hook"].on("box").force == pytest.approx([0, 0, weight], abs=2e-3 * weight)


def test_links_that_break_may_hold_a_weight() -> None:
    system, state = after(hanging("ball", 1e5, fail_strain=0.005), sp.Partitioned(H), 20)
    assert system.positions(state, "box")[0, 2] < -0.1


def test_what_is_joined_may_touch_too() -> None:
    """A box on a hinge strikes the lattice that carries it: momentum is kept, the joint holds, and it turns back."""
    spins = []
    for contacts in ([], [sp.Contact(friction=0.3)]):
        scene = scene_of("rigid", "voxel", "hinge")
        for contact in contacts:
            scene.add(contact)
        system = scene.compile()
        state, solver = system.initial_state(), sp.Partitioned(H)
        system.body("one").view_v(state.v)[0, 5] = -SPIN
        before = system.momentum(system.propagate(0.0, state.x, state.v))
        for _ in range(12):
            assert solver.step(system, state).is_solved
            kin = system.propagate(state.t, state.x, state.v)
            assert np.abs(system.momentum(kin) - before)[:3].max() < 1e-12 * MASS * SPIN * SIDE
            assert np.abs(system.violation(kin)).max() < 1e-6 * SIDE
        spins.append(system.body("one").view_v(state.v)[0, 5])
    assert abs(spins[1] - spins[0]) > 0.2 * SPIN


@pytest.mark.parametrize("joint", ["ball", "hinge", "fixed"])
def test_a_tree_and_a_lattice_turn_on_as_one(joint: str) -> None:
    """What was against the joint at the start is lost at once; then 1 % in half a second: the sweep damps nothing, and
    a tree's fast motions alone are damped."""
    scene = scene_of("voxel", "tree", joint)
    system = scene.compile()
    state, solver, energies = system.initial_state(), sp.Partitioned(H), []
    for _ in range(36):
        assert solver.step(system, state).is_solved
        kin = system.propagate(state.t, state.x, state.v)
        energies.append(system.kinetic_energy(kin) + system.potential_energy(kin))
    assert max(energies[6:]) < 1.002 * energies[6]
    assert energies[-1] > 0.99 * energies[6]


def test_a_lattice_carries_several_kinds_by_joints_at_once() -> None:
    """Bodies that respond to one another by joints of their own, as well: a box hangs on a box that hangs on voxels."""
    scene = sp.Scene(gravity=(0, 0, -G))
    beam = scene.add(block((8, 2, 2), size=SIZE, young=1e6, bond_damping=1.0), fix="x_min", name="beam")
    boxes = [
        scene.add(sp.RigidBody.box((EDGE, EDGE, EDGE), density=500), at=(0.07, SIZE, z), name=f"box {k}")
        for k, z in enumerate((-EDGE / 2, -1.5 * EDGE))
    ]
    tree = scene.add(KINDS["tree"](), at=(0.03, SIZE, -SIDE / 2), name="tree")
    scene.add(sp.HingeJoint(beam, boxes[0], at=(0.07, SIZE, 0), axis=(0, 1, 0)))
    scene.add(sp.BallJoint(*boxes, at=(0.07, SIZE, -EDGE)))
    scene.add(sp.FixedJoint(beam, tree, at=(0.03, SIZE, 0)))
    solver = sp.Partitioned(H)
    system, state = after(scene, solver, 12)
    kin = system.propagate(state.t, state.x, state.v)
    assert solver._across.part["beam"] == LATTICE
    assert np.abs(system.violation(kin)).max() < 1e-6 * SIDE
    forces = [reading.force for reading in system.joint_readings(state).values()]
    assert all(np.isfinite(force).all() for force in forces)
