"""glTF scenes: rigid parts and copies move as in the record, stills are exact, and Khronos' validator has no word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from tests.files.formats.glb_reader import GlbFile, z_up
from tests.files.formats.khronos import validate
from tests.files.formats.mixed_scene import make_run, make_tree_run

import supple as sp
from supple.algebra.dense import rotations
from supple.errors import ExportNotice, InputError
from supple.exports.formats.parts import Stage

SINGLE = 1e-6
"""Rounding of places and turns in single precision, over the distance from the origin."""


@pytest.fixture(scope="module")
def run():
    return make_run()


@pytest.fixture(scope="module")
def path(run, tmp_path_factory):
    with pytest.warns(ExportNotice, match="'beam' deform"):
        return sp.export(run, tmp_path_factory.mktemp("gltf") / "mixed.glb")


def test_validator_finds_nothing(run, path, tmp_path: Path) -> None:
    info = validate(path)
    assert info["animationCount"] == 1
    assert info["generator"].startswith("Supple")
    still = validate(sp.export(run, tmp_path / "still.glb", frames=[-1]))
    assert still["animationCount"] == 0


def test_rigid_bodies_move_as_recorded(run, path) -> None:
    file = GlbFile(path)
    for frame, time in enumerate(run.frames.times):
        for name in ("box 0", "box 1", "box 2"):
            x = run.frames.points(name, frame)
            assert np.abs(z_up(file.points(file.node(name), time)) - x).max() < SINGLE * np.abs(x).max()


def test_bodies_of_one_shape_share_its_vertices(path) -> None:
    file = GlbFile(path)
    meshes = [file.json["meshes"][file.nodes[file.node(f"box {k}")]["mesh"]] for k in range(3)]
    assert len({mesh["primitives"][0]["attributes"]["POSITION"] for mesh in meshes}) == 1
    assert len({mesh["primitives"][0]["material"] for mesh in meshes}) == 3  # each has its own colour


def test_particles_move_and_springs_reach_from_one_to_the_next(run, path) -> None:
    file = GlbFile(path)
    for frame, time in enumerate(run.frames.times):
        x = run.frames.points("chain", frame).astype(float)
        balls = [z_up(file.points(file.node(f"chain {k}"), time)) for k in range(4)]
        assert np.abs([ball.mean(axis=0) for ball in balls] - x).max() < 4 * SINGLE
        for k in range(3):
            tube = z_up(file.points(file.node(f"chain spring {k}"), time))
            ends = tube[:6].mean(axis=0), tube[6:].mean(axis=0)
            assert np.abs(np.array(ends) - x[[k, k + 1]]).max() < 4 * SINGLE


def test_springs_are_as_thick_as_they_are_drawn(run, path) -> None:
    """The rims of a tube lie at the radius of springs around the line, whatever its length."""
    file, radius = GlbFile(path), Stage.of(run.frames, list(range(len(run.frames.times)))).spring_radius
    for time in (run.frames.times[0], run.time):
        tube = z_up(file.points(file.node("chain spring 1"), time)).astype(float)
        rims = [end - end.mean(axis=0) for end in (tube[:6], tube[6:])]
        assert np.allclose(np.linalg.norm(rims, axis=2), radius, rtol=2e-3)


def test_obstacles_are_there(run, path) -> None:
    file = GlbFile(path)
    ball, pose = z_up(file.points(file.node("pusher"), run.time)), run.frames.poses(-1)[1]
    centre = pose[:3] + rotations.rotate(pose[3:], np.array([0.0, -3, 0.2]))
    assert np.allclose(np.linalg.norm(ball - centre, axis=1), 0.2, atol=1e-5)
    assert np.allclose(file.points(file.node("floor"), run.time)[:, 1], 0, atol=1e-6)  # y is up


def test_what_deforms_stands_as_in_the_first_frame(run, path) -> None:
    file = GlbFile(path)
    assert np.abs(z_up(file.points(file.node("beam"), 0.3)) - run.frames.points("beam", 0)).max() < 2 * SINGLE


def test_a_still_holds_everything_at_its_frame(run, tmp_path: Path) -> None:
    """Read by trimesh, which knows nothing of ours."""
    file = sp.export(run, tmp_path / "still.glb", frames=[2])
    scene = trimesh.load(file)
    for name in ("box 1", "beam"):
        x = run.frames.points(name, 2)
        matrix, mesh = scene.graph[name]
        seen = z_up(trimesh.transform_points(scene.geometry[mesh].vertices, matrix))
        assert np.allclose([seen.min(axis=0), seen.max(axis=0)], [x.min(axis=0), x.max(axis=0)], atol=1e-5)


def test_copied_domains_move_as_stiff_copies(tmp_path: Path) -> None:
    path, run = tmp_path / "tree.glb", make_tree_run()
    carriers = run.frames.carriers("tree")
    assert carriers is not None
    assert len(carriers.kinds) < len(carriers.kind)
    with pytest.warns(ExportNotice, match="stiff copies"):
        sp.export(run, path)
    info, file = validate(path), GlbFile(path)
    assert info["animationCount"] == 1
    row = run.frames.carriage("tree", -1)
    for domain, kind in enumerate(carriers.kind):
        frame = row[12 * domain : 12 * domain + 12].astype(float)
        X = carriers.kinds[kind].X
        x = frame[:3] + carriers.scale[domain] * X @ frame[3:].reshape(3, 3).T
        assert np.abs(z_up(file.points(file.node(f"tree {domain}"), run.time)) - x).max() < 1e-5


def test_nothing_rigid_is_a_still_of_the_last_frame(tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    body = sp.FemBody(sp.box_tets((1.0, 0.2, 0.2), (4, 1, 1)), sp.Material(density=1000, young=1e5, poisson=0.3))
    scene.add(body, fix=lambda x: x[:, 0] < 1e-9, name="beam")
    run = sp.run(scene, until=0.2, dt=0.02)
    with pytest.warns(ExportNotice, match="still of its last frame"):
        file = GlbFile(sp.export(run, tmp_path / "beam.glb"))
    assert np.abs(z_up(file.points(file.node("beam"))) - run.frames.points("beam", -1)).max() < SINGLE


def test_what_cannot_be_written_is_told(run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.glb"):
        sp.export(run, tmp_path / "a.gltf", to="gltf")
    with pytest.raises(InputError, match="ascend"):
        sp.export(run, tmp_path / "a.glb", frames=[2, 1])
    with pytest.raises(InputError, match=r"0\.\.3"):
        sp.export(run, tmp_path / "a.glb", frames=[4])
    assert not list(tmp_path.iterdir())
