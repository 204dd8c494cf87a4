"""Obstacles that move carry, push and drag bodies of all kinds, whichever solver runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.contact.moving import MovingSides
from supple.errors import InputError
from supple.validation.contact_kinds import SIDE, G
from supple.validation.couplings import KINDS

BELT, MU = 0.3, 0.5


def centre(run: sp.Run, name: str = "body") -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass of a body and its velocity."""
    kin = run.system.propagate(run.state.t, run.state.x, run.state.v, run.state.memory)
    slot = run.system.body(name)
    momentum = sum(m.mass.momentum(kin.local(slot))[:3] for m in run.system.masses if m.slot is slot)
    return run.system.centre_of_mass(kin, slot), momentum / slot.body.total_mass


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_conveyor_drags_what_lies_on_it(kind: str) -> None:
    """mu g t until it moves along, after 0.06 s; voxels then swing a little on the springs that hold them."""
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(KINDS[kind](), at=(0, 0, SIDE / 2), name="body")
    scene.add(sp.Floor(friction=MU, motion=sp.Motion(velocity=(BELT, 0, 0))))
    x, v = centre(sp.run(scene, until=0.3, dt=0.005))
    assert v[0] == pytest.approx(BELT, abs=0.05 * BELT)
    assert x[0] == pytest.approx(BELT * 0.3 - BELT**2 / (2 * MU * G), abs=0.1 * BELT * 0.3)
    assert abs(x[2] - SIDE / 2) < 0.05 * SIDE


@pytest.mark.parametrize("kind", ["rigid", "fem", "voxel"])
def test_a_piston_lifts_what_lies_on_it(kind: str) -> None:
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(KINDS[kind](), at=(0, 0, SIDE / 2), name="body")
    lift = sp.Motion(times=[0.0, 0.1, 0.4], positions=[(0, 0, 0), (0, 0, 0), (0, 0, 0.06)])
    scene.add(sp.Box((0, 0, -0.05), (0.3, 0.3, 0.1), motion=lift))
    x, _ = centre(sp.run(scene, until=0.5, dt=0.005))
    assert x[2] == pytest.approx(SIDE / 2 + 0.06, abs=0.05 * SIDE)
    assert np.abs(x[:2]).max() < 0.01 * SIDE


@pytest.mark.parametrize("kind", ["rigid", "particles"])
def test_a_turntable_carries_what_lies_on_it_round(kind: str) -> None:
    """At 2 rad/s and 0.1 m the disc gives 0.4 m/s² towards its centre, far less than mu g."""
    table = sp.geometry.box_tets((0.5, 0.5, 0.05), (2, 2, 1)).boundary.surface
    for mesh in (False, True):
        scene = sp.Scene(gravity=(0, 0, -G))
        spin = sp.Motion(angular_velocity=(0, 0, 2.0))
        velocity = (0, 0.2, 0)
        scene.add(KINDS[kind](), at=(0.1, 0, SIDE / 2), velocity=velocity, spin=(0, 0, 2.0), name="body")
        shape: Any = sp.Box((0, 0, -0.025), (0.5, 0.5, 0.05), motion=spin)
        if mesh:
            moved = sp.SurfaceMesh(table.nodes - [0.25, 0, 0.025], table.triangles)
            shape = sp.MeshObstacle(moved, motion=spin)
        scene.add(shape)
        x, _ = centre(sp.run(scene, until=0.5, dt=0.005))
        np.testing.assert_allclose(x[:2], [0.1 * math.cos(1.0), 0.1 * math.sin(1.0)], atol=0.02 * SIDE)


def test_a_bat_strikes_with_its_own_speed() -> None:
    """Restitution 1 against a wall that comes at 1 m/s throws a ball at rest at 2 m/s."""
    scene = sp.Scene(solver=sp.ImplicitEuler(0.001))
    scene.add(sp.RigidBody.sphere(0.05, density=500), at=(0.1, 0, 0), name="body")
    scene.add(sp.Plane((1, 0, 0), 0.0, restitution=1.0, motion=sp.Motion(velocity=(1, 0, 0))))
    _, v = centre(sp.run(scene, until=0.1))
    assert v[0] == pytest.approx(2.0, rel=0.01)


def test_poses_and_velocities_belong_together() -> None:
    """The way in a short time is the velocity of the material, of all kinds of motion."""
    rng = np.random.default_rng(0)
    times = [0.0, 0.5, 1.2]
    sampled = sp.Motion(times=times, positions=rng.normal(size=(3, 3)), rotations=0.3 * rng.normal(size=(3, 3)))
    turning = sp.Motion((0.1, 0.2, 0.3), (1.0, -2.0, 0.5), (0.3, 0.1, 0.2))
    x, dt = rng.normal(size=(4, 3)), 1e-6
    for motion in (sampled, turning):
        way = motion.displacement(0.7, dt, x)
        np.testing.assert_allclose(way / dt, motion.velocity_at(0.7, x), atol=1e-4)
        t = np.array([-0.1, 0.0, 0.2, 0.5, 0.7, 1.2, 1.3])
        np.testing.assert_allclose(motion.poses(t), [motion.pose(time) for time in t], atol=1e-12)  # many at once
    np.testing.assert_allclose(sampled.velocity_at(1.3, x), 0.0)
    np.testing.assert_allclose(sampled.pose(5.0), sampled.pose(1.2))


@pytest.mark.parametrize(
    "motion",
    [
        sp.Motion((0.1, 0.2, 0.3), (1.0, -2.0, 0.5), (0.3, 0.1, 0.2)),
        sp.Motion(times=[0.0, 0.5, 1.2], positions=[(0, 0, 0), (0.2, 0, 0.1), (0.1, 0.4, 0)]),
    ],
    ids=["turning", "changing its speed"],
)
def test_the_sides_of_a_mesh_are_at_the_end_of_a_step_where_their_velocity_takes_them(motion: sp.Motion) -> None:
    """x(t) + h v = x(t + h), exactly: a step of 0.4 s turns by nearly a radian, or passes the change of speed at 0.5 s.
    Vertices of what stands still, and of bodies, have no velocity."""
    table = sp.geometry.box_tets((0.5, 0.3, 0.1), (2, 2, 1)).boundary.surface
    n, t, h = len(table.nodes), 0.3, 0.4
    obstacles = {"wall": sp.MeshObstacle(table), "bat": sp.MeshObstacle(table, motion=motion)}
    sides = MovingSides.of(["wall", "bat", "body"], obstacles, np.array([0, n, 2 * n, 3 * n]))
    start, end = (np.concatenate([table.nodes] * 3) for _ in range(2))
    v = sides.place_meshes(t, h, start)
    sides.place_meshes(t + h, h, end)
    assert np.abs(v[n : 2 * n]).max() > 0.1
    np.testing.assert_allclose(start + h * v, end, atol=1e-14)
    np.testing.assert_array_equal(v[np.r_[:n, 2 * n : 3 * n]], 0.0)


def test_bad_motions_are_refused() -> None:
    with pytest.raises(InputError, match="ascending"):
        sp.Motion(times=[0, 0], positions=np.zeros((2, 3)))
    with pytest.raises(InputError, match="three finite numbers"):
        sp.Motion(times=[0, 1], positions=np.zeros((3, 3)))
    with pytest.raises(InputError, match="no times"):
        sp.Motion(positions=np.zeros((2, 3)))
    with pytest.raises(InputError, match="both"):
        sp.Motion(velocity=(1, 0, 0), times=[0, 1], positions=np.zeros((2, 3)))
    with pytest.raises(InputError, match="not a motion"):
        sp.Floor(motion=(1, 0, 0))
