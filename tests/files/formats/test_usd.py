"""USD stages: opened by usd-core, they hold the record's positions, units, colours and copies; Blender opens them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.files.formats.mixed_scene import make_run

import supple as sp
from supple.algebra.dense import rotations
from supple.errors import InputError, MissingExtraError, RecordError
from supple.exports.formats.parts import Stage

pytest.importorskip("pxr")
from pxr import Sdf, Usd, UsdGeom, UsdShade

BODIES = ["box 0", "box 1", "box 2", "beam"]
SINGLE = 4 * 2.0**-23
"""Relative rounding of positions that a frame in single precision carries."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("usd"))


@pytest.fixture(scope="module")
def stage(run, tmp_path_factory):
    return Usd.Stage.Open(str(sp.export(run, tmp_path_factory.mktemp("stage") / "mixed.usdc")))


def prim_of(stage, name):
    return next(prim for prim in stage.Traverse() if prim.GetDisplayName() == name)


def mesh_of(stage, name):
    """The mesh of a body, within instances too."""
    below = Usd.PrimRange(prim_of(stage, name), Usd.TraverseInstanceProxies())
    return next(UsdGeom.Mesh(prim) for prim in below if prim.IsA(UsdGeom.Mesh))


def world_points(shape, code):
    M = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(shape.GetPrim()))
    return np.array(shape.GetPointsAttr().Get(code)) @ M[:3, :3] + M[3, :3]


def test_positions_are_those_of_the_record(run, stage) -> None:
    for frame, time in enumerate(run.frames.times):
        code = time * stage.GetTimeCodesPerSecond()
        for name in BODIES:
            mesh, x = mesh_of(stage, name), run.frames.points(name, frame)
            assert np.abs(world_points(mesh, code) - x).max() <= SINGLE * np.abs(x).max()
            corners = np.reshape(mesh.GetFaceVertexIndicesAttr().Get(), (-1, 3))
            assert np.array_equal(corners, run.frames.triangles(name))


def test_points_and_springs(run, stage) -> None:
    group = prim_of(stage, "chain").GetPath()
    balls = UsdGeom.Points.Get(stage, group.AppendChild("points"))
    lines = UsdGeom.BasisCurves.Get(stage, group.AppendChild("lines"))
    code, x = stage.GetEndTimeCode(), run.frames.points("chain", -1)
    assert np.array_equal(np.array(balls.GetPointsAttr().Get(code)), x)
    assert np.array_equal(np.array(lines.GetPointsAttr().Get(code)), x[[0, 1, 1, 2, 2, 3]])
    assert (np.array(balls.GetExtentAttr().Get(code))[0] < x.min(axis=0)).all()
    radius = Stage.of(run.frames, range(len(run.frames.times))).particle_radius
    np.testing.assert_allclose(balls.GetWidthsAttr().Get(), 2 * radius, rtol=1e-6)  # in single precision
    np.testing.assert_allclose(
        np.array(balls.GetExtentAttr().Get(code)), [x.min(axis=0) - radius, x.max(axis=0) + radius], rtol=1e-5
    )


def test_units_axes_and_times(run, stage) -> None:
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert stage.GetDefaultPrim().GetPath() == "/World"
    ends = np.array([stage.GetStartTimeCode(), stage.GetEndTimeCode()]) / stage.GetTimeCodesPerSecond()
    assert np.allclose(ends, run.frames.times[[0, -1]], atol=1e-12)
    samples = np.array(UsdGeom.Mesh(prim_of(stage, "beam")).GetPointsAttr().GetTimeSamples())
    assert np.allclose(samples / stage.GetTimeCodesPerSecond(), run.frames.times, atol=1e-12)


def test_extents_bound_the_points_at_all_times(stage) -> None:
    for name in BODIES:
        for code in UsdGeom.Mesh(prim_of(stage, "beam")).GetPointsAttr().GetTimeSamples():
            mesh = mesh_of(stage, name)
            low, high = np.array(mesh.GetExtentAttr().Get(code))
            x = np.array(mesh.GetPointsAttr().Get(code))
            assert np.array_equal([low, high], [x.min(axis=0), x.max(axis=0)])


def test_bodies_of_one_shape_are_instances(stage) -> None:
    boxes = [prim_of(stage, f"box {k}") for k in range(3)]
    assert all(box.IsInstance() for box in boxes)
    assert len({box.GetPrototype().GetPath() for box in boxes}) == 1
    assert not prim_of(stage, "beam").IsInstance()


def test_colours_are_shown_and_bound(stage) -> None:
    beam = prim_of(stage, "beam")
    red = (0xC2 / 255 + 0.055) / 1.055
    assert np.isclose(UsdGeom.Mesh(beam).GetDisplayColorAttr().Get()[0][0], red**2.4)
    for name in BODIES:
        material, _ = UsdShade.MaterialBindingAPI(mesh_of(stage, name)).ComputeBoundMaterial()
        surface = material.ComputeSurfaceSource()[0]
        assert surface.GetIdAttr().Get() == "UsdPreviewSurface"
        shown = UsdGeom.PrimvarsAPI(mesh_of(stage, name)).FindPrimvarWithInheritance("displayColor")
        assert np.allclose(surface.GetInput("diffuseColor").Get(), shown.Get()[0])


def test_several_colours_are_subsets(tmp_path: Path) -> None:
    grid = sp.VoxelGrid(np.arange(1, 4).reshape(3, 1, 1), 0.1)
    colours = ((1.0, 0, 0, 1), (0, 1.0, 0, 1), (0, 0, 1.0, 1))
    kinds = [sp.VoxelMaterial(young=1e6, density=1000, colour=c) for c in colours]
    scene = sp.Scene(gravity=(0, 0, 0))
    scene.add(sp.VoxelBody(grid, kinds), name="bar")
    run = sp.run(scene, until=0.01)
    stage = Usd.Stage.Open(str(sp.export(run, tmp_path / "bar.usda")))
    mesh = mesh_of(stage, "bar")
    subsets = UsdShade.MaterialBindingAPI(mesh).GetMaterialBindSubsets()
    faces = np.sort(np.concatenate([s.GetIndicesAttr().Get() for s in subsets]))
    assert len(subsets) == 3
    assert np.array_equal(faces, np.arange(len(mesh.GetFaceVertexCountsAttr().Get())))
    shown = np.array(mesh.GetDisplayColorPrimvar().ComputeFlattened())
    assert np.allclose(shown, run.frames.colours("bar"), atol=1e-6)  # full or no light is the same on all scales


def test_obstacles_move_and_planes_have_an_end(run, stage) -> None:
    code = stage.GetEndTimeCode()
    ball = world_points(mesh_of(stage, "pusher"), code)
    pose = run.frames.poses(-1)[1]
    centre = pose[:3] + rotations.rotate(pose[3:], np.array([0.0, -3, 0.2]))
    assert np.allclose(np.linalg.norm(ball - centre, axis=1), 0.2, atol=1e-6)
    floor = world_points(mesh_of(stage, "floor"), code)
    assert np.allclose(floor[:, 2], 0, atol=1e-12)
    assert np.ptp(floor[:, 0]) > np.ptp(run.frames.points("beam", 0)[:, 0])


def test_chosen_frames_and_text(run, tmp_path: Path) -> None:
    path = sp.export(run, tmp_path / "few.usda", frames=[1, 3])
    assert path.read_text(encoding="utf-8").startswith("#usda 1.0")
    stage = Usd.Stage.Open(str(path))
    samples = UsdGeom.Mesh(prim_of(stage, "beam")).GetPointsAttr().GetTimeSamples()
    assert np.allclose(np.array(samples) / stage.GetTimeCodesPerSecond(), run.frames.times[[1, 3]])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["few.usda"]  # nothing is left beside it


def test_names_of_any_kind_and_an_overwritten_file(tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, 0))
    for k, name in enumerate(("Looks", "1 β/..", "1 β_..")):
        scene.add(sp.RigidBody.box((1, 1, 1), density=1), name=name, at=(3 * k, 0, 0))
    run = sp.run(scene, until=0.1)
    for _ in range(2):
        stage = Usd.Stage.Open(str(sp.export(run, tmp_path / "named.usd")))
    for name in ("Looks", "1 β/..", "1 β_.."):
        assert Sdf.Path.IsValidIdentifier(prim_of(stage, name).GetName())


def test_what_cannot_be_written_is_told(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"\.usdc, \.usda"):
        sp.export(run, tmp_path / "a.xyz", to="usd")
    with pytest.raises(InputError, match=r"0\.\.3"):
        sp.export(run, tmp_path / "a.usdc", frames=[9])
    with pytest.raises(InputError, match="no frame"):
        sp.export(run, tmp_path / "a.usdc", frames=[])
    with pytest.raises(InputError, match="no option"):
        sp.export(run, tmp_path / "a.usdc", fps=3)
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        with pytest.raises(RecordError):
            sp.export(run, tmp_path / "a.usdc")
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'supple\[usd\]'"):
        sp.export(run, tmp_path / "a.usdc")


BLENDER = """
import sys
import bpy
import numpy as np
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.usd_import(filepath=sys.argv[1])
bpy.context.scene.frame_set(int(sys.argv[2]))
found = {}
for instance in bpy.context.evaluated_depsgraph_get().object_instances:
    if instance.object.type == "MESH":
        M = np.array(instance.matrix_world)
        x = np.array([vertex.co[:] for vertex in instance.object.to_mesh().vertices]) @ M[:3, :3].T + M[:3, 3]
        found.setdefault(str(len(x)), []).append(x)
np.savez(sys.argv[3], **{name: np.array(x) for name, x in found.items()})
"""


@pytest.mark.parametrize("fields", [(), ("volume",)])
def test_blender_opens_it(tmp_path: Path, fields: tuple[str, ...]) -> None:
    """SUPPLE_BLENDER: a Python that has bpy, which asks for another numpy than ours."""
    python = os.environ.get("SUPPLE_BLENDER") or (sys.executable if importlib.util.find_spec("bpy") else None)
    if python is None:
        pytest.skip("there is no bpy")
    run = make_run(tmp_path / "run", fields=fields)
    path = sp.export(run, tmp_path / "a.usdc")
    code = Usd.Stage.Open(str(path)).GetEndTimeCode()
    assert code == int(code)
    command = [python, "-c", BLENDER, str(path), str(int(code)), str(tmp_path / "seen.npz")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": ""})
    assert done.returncode == 0, done.stderr
    seen = np.load(tmp_path / "seen.npz")
    for name in BODIES:
        x = run.frames.points(name, -1)
        assert min(np.abs(found - x).max() for found in seen[str(len(x))]) < 1e-5
