"""Rigid cells of lattices: their shape, momenta, a free spin, flesh around a bone, obstacles beneath them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.mass import CubeMass
from supple.record.files.contacts import contacts_of

Array = np.ndarray
G, SIZE = 9.81, 0.01
SOFT = sp.VoxelMaterial(young=1e5, density=1000.0, bond_damping=0.1)
BONE = sp.VoxelMaterial(young=1e6, density=2000.0, rigid=True)


def half_bony() -> VoxelBody:
    """A soft block with a box of bone in it, also on its surface."""
    cells = np.ones((6, 4, 3), dtype=int)
    cells[1:5, 1:3, :2] = 2
    return VoxelBody(sp.VoxelGrid(cells, SIZE), {1: SOFT, 2: BONE})


def bar(shape: tuple[int, int, int] = (6, 3, 2), **changes: float) -> VoxelBody:
    """A bar that is all bone."""
    bone = sp.VoxelMaterial(young=1e5, density=2000.0, rigid=True, **changes)
    return VoxelBody(sp.VoxelGrid(np.ones(shape, dtype=int), SIZE), bone)


def momenta(body: VoxelBody, x: Array, v: Array) -> Array:
    """Linear and angular momentum (6,)."""
    return CubeMass(body.model.mass, body.model.inertia).momentum(LocalState(0.0, x, v))


def tumbling(body: VoxelBody) -> tuple[Array, Array]:
    """Frames and velocities of a body that turns, moves and shivers."""
    model, rng, w = body.model, np.random.default_rng(0), np.array([3.0, 5.0, -4.0])
    v = np.zeros((model.voxel_count, 6))
    v[:, :3] = np.cross(w, model.centres) + [0.1, 0, 0.2] + 0.02 * rng.normal(size=(len(v), 3))
    v[:, 3:] = w
    return model.rest_frames, v


def apart(x: Array) -> Array:
    """Distances of all pairs."""
    return np.asarray(np.linalg.norm(x[:, None, :3] - x[None, :, :3], axis=2))


def test_a_tumbling_body_keeps_the_shape_of_its_bone_and_its_momenta() -> None:
    body = half_bony()
    x, v = tumbling(body)
    end = body.advance(LocalState(0.0, x, v), body.stable_step(), 3000)
    bony, before = body.model.group == 0, momenta(body, x, v)
    assert np.abs(apart(end.x[bony]) - apart(x[bony])).max() < 1e-15
    assert np.ptp(end.x[bony, 3:], axis=0).max() == 0.0
    assert np.abs(apart(end.x[~bony]) - apart(x[~bony])).max() > 1e-6
    assert np.abs(momenta(body, end.x, end.v) - before).max() < 1e-12 * np.abs(before).max()


def test_bone_takes_no_smaller_steps() -> None:
    soft = VoxelBody(sp.VoxelGrid(np.ones((6, 4, 3), dtype=int), SIZE), SOFT)
    assert half_bony().stable_step() > 0.7 * soft.stable_step()  # links from bone to flesh are twice as stiff, at most


@pytest.mark.parametrize("damping", [0.0, 0.1, 1.0])
def test_the_stable_step_holds_with_bone(damping: float) -> None:
    """At the limit that is found without the links in the bone, in one stage of damping or in three."""
    cells = np.ones((5, 4, 4), dtype=int)
    cells[1:3, :, 1:3], cells[4, :, 0] = 2, 2
    soft = sp.VoxelMaterial(young=1e5, density=1000.0, bond_damping=damping)
    body = VoxelBody(sp.VoxelGrid(cells, SIZE), {1: soft, 2: BONE})
    mass, v = CubeMass(body.model.mass, body.model.inertia), np.random.default_rng(0).normal(size=(80, 6))
    h = body.stable_step(safety=0.999)
    state = body.advance(LocalState(0.0, body.model.rest_frames, 1e-4 * v), 0.01 * h, 1)

    def energy() -> float:
        return mass.kinetic_energy(state) + body.lattice_force.energy(state)

    before = energy()
    for _ in range(4):
        state = body.advance(state, h, 500)
        assert energy() < 2 * before


def test_a_bone_spins_freely_as_a_rigid_body_does() -> None:
    """Against midpoint steps of a rigid body; the energy swings by the square of the step and does not drift."""
    w, body = (8.0, 6.0, 15.0), bar()
    free = sp.Scene(gravity=(0, 0, 0), solver=sp.Midpoint(1e-3))
    free.add(sp.RigidBody.box((0.06, 0.03, 0.02), density=2000.0), spin=w)
    scene = sp.Scene(gravity=(0, 0, 0), solver=sp.LatticeSolver(1e-3))
    scene.add(body, spin=w)
    ends = [sp.run(one, until=2.0, progress=False).state.x for one in (free, scene)]
    turned = rotations.multiply(rotations.conjugate(ends[0][3:7]), ends[1][3:7])
    assert np.linalg.norm(rotations.log(turned)) < 5e-4
    mass, x = CubeMass(body.model.mass, body.model.inertia), body.model.rest_frames
    v = np.hstack([np.cross(w, x[:, :3] - x[:, :3].mean(axis=0)), np.tile(w, (len(x), 1))])
    swings = []
    for dt in (2e-3, 1e-3):
        state, energy = LocalState(0.0, x, v), []
        for _ in range(40):
            state = body.advance(state, dt / 8, round(0.4 / dt))
            energy.append(mass.kinetic_energy(state))
        swings.append(np.array(energy) / mass.kinetic_energy(LocalState(0.0, x, v)) - 1)
    assert np.abs(swings[0]).max() < 1e-6
    assert np.abs(swings[1]).max() == pytest.approx(np.abs(swings[0]).max() / 4, rel=0.1)
    assert np.abs(swings[1][20:]).max() < 1.05 * np.abs(swings[1][:20]).max()


def test_a_bone_in_a_beam_bends_the_flesh_alone() -> None:
    """A beam that is held at its end, soft for five cells and then bone, sags as one with a thousand times as stiff a
    material in place of the bone does in equilibrium."""
    cells = np.ones((12, 3, 3), dtype=int)
    cells[5:] = 2
    flesh = sp.VoxelMaterial(young=1e6, density=1000.0, bond_damping=1.0, ground_damping=0.03)
    places = []
    for rigid in (True, False):
        hard = sp.VoxelMaterial(young=1e9, density=1000.0, rigid=rigid)
        scene = sp.Scene(gravity=(0, 0, -G))
        body = VoxelBody(sp.VoxelGrid(cells, SIZE), {1: flesh, 2: hard})
        scene.add(body, name="beam", fix="x_min")
        if rigid:
            run = sp.run(scene, until=2.0, progress=False)
            assert isinstance(run.solver, sp.LatticeSolver)
            places.append(run.state.x.reshape(-1, 7))
        else:
            places.append(sp.solve_statics(scene.compile()).x.reshape(-1, 7))
    sag = np.abs(places[1][:, 2] - body.model.centres[:, 2]).max()
    assert sag > 1e-4
    assert np.abs(places[0][:, :3] - places[1][:, :3]).max() < 0.01 * sag
    assert np.ptp(places[0][body.materials == 2, 3:], axis=0).max() == 0.0


def slope(share: float, *, friction: float = 0.6, shape: tuple[int, int, int] = (4, 4, 4)) -> sp.Scene:
    """A block of bone on a plane that leans by a share of the angle at which static friction still holds it."""
    a = np.arctan(share * friction)
    scene = sp.Scene(gravity=(G * np.sin(a), 0, -G * np.cos(a)), solver=sp.LatticeSolver(0.01))
    block = bar(shape, static_friction=friction, kinetic_friction=0.8 * friction, contact_damping=0.8)
    scene.add(block, name="block")
    return scene


@pytest.mark.parametrize("ground", ["floor", "box", "ground"])
def test_a_block_of_bone_rests_on_a_slope(ground: str) -> None:
    """It does not creep, and its cells push what is beneath by its weight."""
    scene = slope(0.5)
    if ground == "ground":
        scene.add(sp.HeightField(np.zeros((9, 9)), spacing=0.02, origin=(-0.05, -0.05)), name="floor")
    else:
        scene.add(sp.Floor() if ground == "floor" else sp.Box((0, 0, -0.1), (1.0, 1.0, 0.2)), name="floor")
    half, whole = (sp.run(scene, until=t, progress=False) for t in (0.5, 1.0))
    assert np.abs(whole.state.x - half.state.x).max() < 1e-10
    found = contacts_of(whole.system, whole.state)
    weight = 2000.0 * 64 * SIZE**3 * np.array(scene.gravity)
    np.testing.assert_allclose(found.between("block", "floor"), -weight, atol=1e-6 * np.linalg.norm(weight))


def test_a_block_of_bone_slides_as_a_point_does() -> None:
    """a = g (sin - mu_k cos); the first step has no push yet."""
    scene = slope(1.2)
    scene.add(sp.Floor())
    v = sp.run(scene, until=1.0, progress=False).state.v.reshape(-1, 6)
    a = np.arctan(1.2 * 0.6)
    assert v[:, 0] == pytest.approx(G * (np.sin(a) - 0.48 * np.cos(a)), rel=2e-3)
    assert np.abs(v[:, 1:]).max() < 1e-6


def test_a_belt_carries_a_block_of_bone_along() -> None:
    """Kinetic friction until it is as fast as the belt, v/(mu_k g) later."""
    scene = slope(0.0)
    scene.add(sp.Floor(friction=0.3, motion=sp.Motion(velocity=(0.2, 0, 0))))
    early, late = (sp.run(scene, until=t, progress=False).state.v.reshape(-1, 6) for t in (0.04, 0.3))
    assert early[:, 0].mean() == pytest.approx(0.3 * G * 0.04, rel=0.05)
    assert late[:, 0] == pytest.approx(0.2, rel=1e-4)


@pytest.mark.parametrize("kind", ["free", "floor"])
def test_threads_do_not_change_the_bits(kind: str) -> None:
    cells = np.ones((16, 16, 12), dtype=int)
    cells[4:12, 3:14, :9], cells[4:12, 3:14, 9:11] = 2, 3
    body = VoxelBody(sp.VoxelGrid(cells, SIZE), {1: SOFT, 2: BONE, 3: BONE})
    ends = []
    for threads in (1, 2):
        scene = sp.Scene(gravity=(0, 1.0, -G))
        scene.add(body, spin=(0, 1.0, 0))
        if kind == "floor":
            scene.add(sp.Floor())
        ends.append(sp.run(scene, until=0.02, dt=0.005, threads=threads, progress=False).state)
    assert ends[0].x.tobytes() == ends[1].x.tobytes()
    assert ends[0].v.tobytes() == ends[1].v.tobytes()


def test_a_run_that_is_resumed_has_the_same_bits(tmp_path: Path) -> None:
    def scene() -> sp.Scene:
        made = sp.Scene(gravity=(0.5, 0, -G))
        made.add(half_bony(), name="body", spin=(0, 2.0, 1.0), at=(0, 0, 0.01))
        made.add(sp.Floor())
        return made

    whole = sp.run(scene(), until=0.2, progress=False)
    sp.run(scene(), until=0.1, out=tmp_path / "run", progress=False)
    parts = sp.run(scene(), until=0.2, out=tmp_path / "run", resume=True, progress=False)
    assert parts.state.x.tobytes() == whole.state.x.tobytes()
    assert parts.state.v.tobytes() == whole.state.v.tobytes()
