"""Obstacles are in the record as data, with their poses at each frame, and are drawn and exported."""

from __future__ import annotations

from pathlib import Path

import meshio
import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.rigid.body import surface_of
from supple.errors import InputError, RecordError
from supple.exports.obstacles import drawn_obstacles, obstacle_surface
from supple.interaction.obstacles import distance
from supple.record import open_record

HILLS = 0.1 * np.eye(4) + 0.02 * np.arange(4) - 0.1


def playground() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(0.01))
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 0, 0.05), name="box")
    scene.add(sp.Floor(), name="ground")
    scene.add(sp.Plane((1, 0, 0.2), -1.0), name="wall")
    scene.add(sp.Sphere((0.5, 0, 0.1), 0.1), name="stone")
    scene.add(sp.Capsule((0, 0.5, 0.1), (0.3, 0.5, 0.2), 0.05), name="bar")
    lift = sp.Motion(velocity=(0, 0, 0.5), angular_velocity=(0, 0, 1.0), centre=(1, 0, 0))
    scene.add(sp.Box((1, 0, 0.1), (0.2, 0.3, 0.1), (0, 0, 0.3), motion=lift), name="lift")
    scene.add(sp.HeightField(HILLS, origin=(-2, 0), spacing=(0.2, 0.3)), name="hills")
    scene.add(sp.MeshObstacle(surface_of(sp.box_tets((0.1, 0.1, 0.1), (1, 1, 1)))), name="block")
    return scene


NAMES = ["ground", "wall", "stone", "bar", "lift", "hills", "block"]


def scene_without_block() -> sp.Scene:
    scene = playground()
    del scene.obstacles["block"]
    return scene


@pytest.mark.parametrize("name", NAMES[:-1])
def test_drawn_surfaces_lie_on_the_obstacles_and_face_outward(name: str) -> None:
    scene = playground()
    from supple.record.files.obstacles import obstacles_of

    recorded = {o.name: o for o in obstacles_of(scene.compile())}
    x, triangles = obstacle_surface(recorded[name], np.zeros(3), 2.0)
    gap, _ = distance(scene.obstacles[name], x)
    np.testing.assert_allclose(gap, 0.0, atol=1e-12)
    corners = x[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    outside, _ = distance(scene.obstacles[name], corners.mean(axis=1) + 0.02 * normals)
    assert (outside > 0).all()


def test_shapes_and_poses_are_read_back(tmp_path: Path) -> None:
    scene = scene_without_block()
    on_disk = sp.run(scene, until=0.2, out=tmp_path / "run").frames
    in_memory = sp.run(scene_without_block(), until=0.2).frames
    for frames in (on_disk, in_memory):
        assert [o.name for o in frames.obstacles] == NAMES[:-1]
        assert float(frames.obstacles[2].shape["radius"]) == 0.1
        np.testing.assert_array_equal(frames.obstacles[5].shape["heights"], HILLS)
        for k, t in enumerate(frames.times):
            expected = [o.pose(float(t)) for o in scene.obstacles.values()]
            np.testing.assert_allclose(frames.poses(k), expected, atol=1e-15)


def test_a_plane_that_moves_is_drawn_below_what_is_looked_at() -> None:
    """Its square has its middle on the plane, nearest to the place, however far and turned the plane is by then."""
    scene = sp.Scene(solver=sp.ImplicitEuler(0.1))
    scene.add(sp.Particles([(0.0, 0.0, 0.0)], 1.0), name="bead")
    tilt = sp.Motion(velocity=(3.0, 1.0, -2.0), angular_velocity=(0.3, -0.4, 0.0), centre=(0.5, 0.0, 0.0))
    scene.add(sp.Plane((0.1, 0.2, 1.0), -1.0, motion=tilt), name="tilting")
    frames = sp.run(scene, until=1.0, record_every=1.0).frames
    place = np.array([0.4, -0.2, 0.7])
    x, _ = drawn_obstacles(frames, -1, place, 2.0)["tilting"]
    pose = scene.obstacles["tilting"].pose(1.0)
    n = rotations.rotate(pose[3:], np.asarray(scene.obstacles["tilting"].normal))
    np.testing.assert_allclose(n @ (x - pose[:3]).T, -1.0, atol=1e-9)
    np.testing.assert_allclose(np.cross(x.mean(axis=0) - place, n), 0.0, atol=1e-9)


def test_a_resumed_run_has_the_poses_of_a_whole_one(tmp_path: Path) -> None:
    sp.run(scene_without_block(), until=0.1, out=tmp_path / "parts")
    sp.run(scene_without_block(), until=0.2, out=tmp_path / "parts", resume=True)
    sp.run(scene_without_block(), until=0.2, out=tmp_path / "whole")
    parts, whole = open_record(tmp_path / "parts"), open_record(tmp_path / "whole")
    assert len(parts) == len(whole)
    for k in range(len(whole)):
        np.testing.assert_array_equal(parts.poses(k), whole.poses(k))


def test_pictures_and_vtk_have_obstacles_and_contacts(tmp_path: Path) -> None:
    run = sp.run(scene_without_block(), until=0.2)
    plain, arrows = sp.export(run, tmp_path / "plain.png"), sp.export(run, tmp_path / "arrows.png", contacts=True)
    assert plain.read_bytes() != arrows.read_bytes()
    sp.export(run, tmp_path / "run.pvd", frames=[0, 3], contacts=True)
    moved = [meshio.read(tmp_path / "run" / f"lift_{k:06d}.vtu").points for k in (0, 3)]
    rise = 0.5 * float(run.frames.times[3])
    np.testing.assert_allclose(moved[1][:, 2] - moved[0][:, 2], rise, atol=1e-9)
    touching = meshio.read(tmp_path / "run" / "contacts_000003.vtu")
    np.testing.assert_allclose(touching.point_data["force"].sum(axis=0), run.frames.contacts(3).force.sum(axis=0))
    with pytest.raises(InputError, match="csv has no option 'contacts'"):
        sp.export(run, tmp_path / "table.csv", contacts=True)


@pytest.mark.parametrize("text", [b"[1]", b"{}", b'[{"name": "a", "kind": "Sphere"}]', b"nonsense"])
def test_crafted_obstacles_are_refused(text: bytes, tmp_path: Path) -> None:
    import h5py

    run = sp.run(scene_without_block(), until=0.02, out=tmp_path / "run")
    assert run.folder is not None
    with h5py.File(run.folder / "record.vtkhdf", "r+") as file:
        del file["supple/obstacles"]
        file["supple"].create_dataset("obstacles", data=np.frombuffer(text, dtype="u1"))
    with pytest.raises(RecordError, match="obstacle"):
        open_record(run.folder)
