"""Blocks of a record that have the same steps and cells share them in the file; records whose blocks do not go on."""

from pathlib import Path

import h5py
import numpy as np

import supple as sp
from supple.record import open_record
from supple.record.surfaces import RigidPoints, make_surfaces


def make_scene() -> sp.Scene:
    """Three boxes that spin, two of one shape, a ball, and a point that is drawn as such."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    for k, name in enumerate(("one", "two")):
        scene.add(sp.RigidBody.box((0.2, 0.1, 0.3), density=500), at=(k, 0, 1), spin=(1, 2 + k, 3), name=name)
    scene.add(sp.RigidBody.box((0.2, 0.2, 0.2), density=500), at=(3, 0, 1), spin=(0, 2, 0), name="other")
    scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 2, 1), spin=(0, 0, 1), name="ball")
    scene.add(sp.Particles(np.array([[0.0, 3.0, 1.0], [0.5, 3.0, 1.0]]), 0.1), name="dust")
    return scene


def unshare(path: Path) -> None:
    """Groups of its own for each block, as records had them."""
    with h5py.File(path, "r+") as file:
        for block in file["VTKHDF"].values():
            for name in ("Steps", "Vertices", "Lines", "Polygons", "Strips"):
                if isinstance(block, h5py.Group) and name in block:
                    file.copy(block[name], block, "of its own")
                    del block[name]
                    block.move("of its own", name)


def test_bodies_of_as_many_points_share_their_steps(tmp_path: Path) -> None:
    sp.run(make_scene(), until=0.1, out=tmp_path, record_every=0.02)
    with h5py.File(tmp_path / "record.vtkhdf") as file:
        root = file["VTKHDF"]
        assert root["one/Steps"] == root["two/Steps"] == root["other/Steps"]
        assert root["one/Polygons"] == root["two/Polygons"]
        assert root["one/Steps"] != root["ball/Steps"]
        assert root["one/Points"] != root["two/Points"]
        for name in ("one", "two", "other", "ball", "dust"):
            n, steps = root[f"{name}/NumberOfPoints"][0], root[f"{name}/Steps"]
            assert steps.attrs["NSteps"] == len(steps["Values"]) == 6
            assert steps["PointOffsets"][:].tolist() == [n * k for k in range(6)]
            assert len(root[f"{name}/Points"]) == 6 * n


def test_points_of_rigid_bodies_are_those_of_each(tmp_path: Path) -> None:
    done = sp.run(make_scene(), until=0.1, out=tmp_path, record_every=0.05)
    surfaces = make_surfaces(done.system)
    found = RigidPoints.of(surfaces).points(done.state)
    assert sorted(found) == [0, 1, 2, 3]  # the dust has no frame
    record = open_record(tmp_path)
    for k, points in found.items():
        alone = surfaces[k].shown.skin.positions(surfaces[k].slot.view_x(done.state.x))
        assert points.dtype == np.float32
        assert np.abs(points - alone).max() <= 2e-7 * np.abs(alone).max()  # half a unit of single precision, and less
        assert np.array_equal(record.points(surfaces[k].name, -1), points)


def test_a_record_whose_blocks_share_nothing_goes_on(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        sp.run(make_scene(), until=0.1, out=folder, record_every=0.02)
    unshare(old / "record.vtkhdf")
    for folder in (old, new):
        sp.run(make_scene(), until=0.2, out=folder, record_every=0.02, resume=True)
    one, two = open_record(old), open_record(new)
    assert one.times.tolist() == two.times.tolist()
    assert len(one.times) == 11
    for name in ("one", "two", "other", "ball", "dust"):
        for frame in range(11):
            assert np.array_equal(one.points(name, frame), two.points(name, frame))
