"""A run as a USD stage, for Blender, Houdini, Omniverse, Unreal and usdview: exact shapes with time samples.

    /World                      metres, z up; default prim
      <body>                    rigid: an Xform with translate and orient over time around a Mesh; parts of one shape
                                are instances of one under /Prototypes. Deforming: a Mesh with points and extent over
                                time; springs are BasisCurves, particles Points. Made of tets that are recorded: an
                                Xform around a Mesh, surface, and a TetMesh, volume, which is a guide: shown on demand
      <obstacle>                as rigid parts; of a plane a square
      Looks                     a UsdPreviewSurface for each colour

A time code is a frame of the run where these are evenly spaced: code = t timeCodesPerSecond. Normals are left out: each
program makes them from the points.

Frames are written one after another. A binary stage goes to the disk whenever `CHUNK` bytes wait, and holds no more in
memory; a text is made from a binary one in the end.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

import supple
from supple.errors import InputError, MissingExtraError, RecordError
from supple.exports.formats.gltf import tell
from supple.exports.formats.parts import Part, Stage, Volume, linear, unique_names
from supple.exports.solids import distinct
from supple.record.progress import count_bar
from supple.record.reader import Trajectory

Array = np.ndarray
SUFFIXES = (".usdc", ".usda", ".usd")
"""Binary, text, binary."""
CHUNK = 64 << 20
"""Bytes of points that wait in memory, at most."""
LOOKS, ROUGHNESS = "/World/Looks", 0.6
Sample = Callable[[int, float], int]
"""Writes a part at a frame and a time code; returns the bytes."""


def save_usd(trajectory: Trajectory, path: Path, frames: Sequence[int] | None = None) -> None:
    """Write the stage; frames: numbers of those that it holds, by default all. path: ends in .usdc, .usda or .usd."""
    try:
        from pxr import Tf
    except ImportError as error:
        raise MissingExtraError("usd", needed_for="a USD stage") from error
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            "this is no ending of a USD file", where="export", value=path.name, allowed=", ".join(SUFFIXES)
        )
    chosen = list(range(len(trajectory.times))) if frames is None else list(frames)
    stage = Stage.of(trajectory, chosen)
    solids = trajectory.solids
    without = [part.name for part in stage.parts if part.volume is None and part.name in solids]
    if without:
        names = ", ".join(f"'{name}'" for name in without)
        tell(f"the stage has surfaces alone, no TetMesh, of {names}: the run did not record the nodes inside. Run it "
             "again with --field volume, or fields=[\"volume\"]")  # fmt: skip
    try:
        with _beside(path, ".usdc") as binary:
            UsdWriter(stage, binary).write(trajectory.name)
            if path.suffix.lower() == ".usda":
                with _beside(path, ".usda") as text:
                    _to_text(binary, text)
                    os.replace(text, path)
            else:
                os.replace(binary, path)
    except Tf.ErrorException as error:
        raise RecordError("the USD stage cannot be written", where=str(path), value=str(error)[:300]) from error


class UsdWriter:
    """A stage that is written, frame by frame."""

    def __init__(self, stage: Stage, path: Path) -> None:
        from pxr import Usd, UsdGeom

        self.stage, self.looks = stage, Looks()
        self.shares = Counter(part.prototype.number for part in stage.parts if part.prototype is not None)
        self.usd = Usd.Stage.CreateNew(str(path))
        self.rate = frame_rate(stage.times)
        self.codes = stage.times * self.rate
        self.usd.SetDefaultPrim(UsdGeom.Xform.Define(self.usd, "/World").GetPrim())
        UsdGeom.SetStageUpAxis(self.usd, UsdGeom.Tokens.z)
        UsdGeom.SetStageMetersPerUnit(self.usd, 1.0)
        self.usd.SetTimeCodesPerSecond(self.rate)
        self.usd.SetFramesPerSecond(self.rate)
        self.usd.SetStartTimeCode(float(self.codes[0]))
        self.usd.SetEndTimeCode(float(self.codes[-1]))

    def write(self, name: str) -> None:
        """All parts at all frames."""
        from pxr import Tf, UsdGeom

        layer = self.usd.GetRootLayer()
        layer.comment = f"'{name}', written by Supple {supple.__version__}"
        UsdGeom.Scope.Define(self.usd, LOOKS)
        names = list(unique_names(["Looks", *(part.name for part in self.stage.parts)], Tf.MakeValidIdentifier))[1:]
        samples: list[Sample] = []
        for part, own in zip(self.stage.parts, names):
            samples += self._samples(part, own)
        waiting = 0
        with count_bar("usd", len(self.codes)) as told:
            for number, (frame, code) in enumerate(zip(self.stage.frames, self.codes)):
                waiting += sum(sample(frame, float(code)) for sample in samples)
                if waiting > CHUNK:
                    layer.Save()
                    waiting = 0
                told(number + 1)
        layer.Save()

    def _samples(self, part: Part, name: str) -> list[Sample]:
        """What writes a part at every frame."""
        if part.volume is not None:
            return self._solid(part, part.volume, name)
        return self._rigid(part, name) if part.prototype is not None else self._deforming(part, name)

    def _solid(self, part: Part, volume: Volume, name: str) -> list[Sample]:
        """A surface, and the tets behind it. Faces of a tet look outward as USD wants it of a right-handed one,
        (1 2 3), (0 3 2), (0 1 3), (0 2 1), where its volume det(x1 - x0, x2 - x0, x3 - x0) / 6 is positive."""
        from pxr import UsdGeom, Vt

        body = UsdGeom.Xform.Define(self.usd, f"/World/{name}")
        body.GetPrim().SetDisplayName(part.name)
        surface = self._mesh(f"/World/{name}/surface", part.triangles)
        tets = UsdGeom.TetMesh.Define(self.usd, f"/World/{name}/volume")
        tets.CreateTetVertexIndicesAttr(Vt.Vec4iArray.FromNumpy(volume.tets.astype(np.int32)))
        tets.CreateSurfaceFaceVertexIndicesAttr(Vt.Vec3iArray.FromNumpy(part.triangles.astype(np.int32)))
        tets.CreateOrientationAttr(UsdGeom.Tokens.rightHanded)
        tets.CreatePurposeAttr(UsdGeom.Tokens.guide)
        self.looks.give(surface.GetPrim(), part.colours)
        self.looks.give(tets.GetPrim(), part.colours[:1])
        return [_sampled(surface, part.points), _sampled(tets, volume.nodes)]

    def _rigid(self, part: Part, name: str) -> list[Sample]:
        """A frame over time, with the mesh in it or an instance of it."""
        from pxr import Gf, UsdGeom

        assert part.prototype is not None
        assert part.motion is not None
        path = f"/World/{name}"
        frame = UsdGeom.Xform.Define(self.usd, path)
        frame.GetPrim().SetDisplayName(part.name)
        if self.shares[part.prototype.number] > 1:
            shape = f"/Prototypes/shape_{part.prototype.number}"
            if not self.usd.GetPrimAtPath(shape):
                self.usd.CreateClassPrim("/Prototypes")
                UsdGeom.Xform.Define(self.usd, shape)
                _set_points(self._mesh(f"{shape}/mesh", part.triangles), part.prototype.X)
            frame.GetPrim().GetReferences().AddInternalReference(shape)
            frame.GetPrim().SetInstanceable(True)
            self.looks.give(frame.GetPrim(), part.colours)
        else:
            mesh = self._mesh(f"{path}/mesh", part.triangles)
            _set_points(mesh, part.prototype.X)
            self.looks.give(mesh.GetPrim(), part.colours)
        place, turn = frame.AddTranslateOp(), frame.AddOrientOp()
        for code, pose in zip([None] if len(part.motion) == 1 else self.codes, part.motion):
            when = () if code is None else (float(code),)
            place.Set(Gf.Vec3d(*pose[:3].tolist()), *when)
            turn.Set(Gf.Quatf(*pose[3:].tolist()), *when)
        return []

    def _deforming(self, part: Part, name: str) -> list[Sample]:
        """A surface, or springs and particles, at every frame."""
        from pxr import UsdGeom

        if len(part.triangles):
            mesh = self._mesh(f"/World/{name}", part.triangles)
            self.looks.give(mesh.GetPrim(), part.colours)
            mesh.GetPrim().SetDisplayName(part.name)
            return [_sampled(mesh, part.points)]
        group = UsdGeom.Xform.Define(self.usd, f"/World/{name}").GetPrim()
        group.SetDisplayName(part.name)
        balls = UsdGeom.Points.Define(self.usd, f"/World/{name}/points")
        count = len(part.points(self.stage.frames[0]))
        balls.CreateWidthsAttr(np.full(count, 2 * self.stage.particle_radius, dtype=np.float32))
        found, prims = [_sampled(balls, part.points)], [balls.GetPrim()]
        if len(part.lines):
            curves = UsdGeom.BasisCurves.Define(self.usd, f"/World/{name}/lines")
            curves.CreateTypeAttr(UsdGeom.Tokens.linear)
            curves.CreateCurveVertexCountsAttr(np.full(len(part.lines), 2, dtype=np.int32))
            curves.CreateWidthsAttr(np.array([2 * self.stage.spring_radius], dtype=np.float32))
            curves.SetWidthsInterpolation(UsdGeom.Tokens.constant)
            ends = part.lines.ravel()
            found.append(_sampled(curves, lambda frame: part.points(frame)[ends]))
            prims.append(curves.GetPrim())
        for prim in prims:
            self.looks.give(prim, part.colours[:1])
        return found

    def _mesh(self, path: str, triangles: Array) -> Any:
        from pxr import UsdGeom, Vt

        mesh = UsdGeom.Mesh.Define(self.usd, path)
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(triangles), 3, dtype=np.int32)))
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(triangles.astype(np.int32).ravel()))
        return mesh


class Looks:
    """Materials of a stage, one a colour."""

    def give(self, prim: Any, colours: Array) -> None:
        """Colour a prim: one colour (1, 3), or one of each of its triangles (t, 3), as subsets of these."""
        from pxr import Sdf, UsdGeom, UsdShade, Vt

        kinds, kind = (colours, None) if len(colours) == 1 else distinct(colours)
        light = linear(kinds).astype(np.float32)
        interpolation = UsdGeom.Tokens.constant if kind is None else UsdGeom.Tokens.uniform
        shown = UsdGeom.PrimvarsAPI(prim).CreatePrimvar("displayColor", Sdf.ValueTypeNames.Color3fArray, interpolation)
        shown.Set(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(light)))
        if kind is None:
            UsdShade.MaterialBindingAPI.Apply(prim).Bind(self._look(prim.GetStage(), kinds[0]))
            return
        shown.SetIndices(Vt.IntArray.FromNumpy(kind.astype(np.int32)))
        binding = UsdShade.MaterialBindingAPI.Apply(prim)
        for number, colour in enumerate(kinds):
            own = Vt.IntArray.FromNumpy(np.flatnonzero(kind == number).astype(np.int32))
            part = binding.CreateMaterialBindSubset(f"colour_{number}", own, UsdGeom.Tokens.face)
            UsdShade.MaterialBindingAPI.Apply(part.GetPrim()).Bind(self._look(prim.GetStage(), colour))
        binding.SetMaterialBindSubsetsFamilyType(UsdGeom.Tokens.partition)

    def _look(self, usd: Any, colour: Array) -> Any:
        from pxr import Gf, Sdf, UsdShade

        path = f"{LOOKS}/c_" + "".join(f"{round(255 * float(c)):02x}" for c in colour)
        if usd.GetPrimAtPath(path):
            return UsdShade.Material.Get(usd, path)
        look, shader = UsdShade.Material.Define(usd, path), UsdShade.Shader.Define(usd, f"{path}/surface")
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(*linear(colour).tolist()))
        shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(ROUGHNESS)
        shader.CreateInput("metallic", Sdf.ValueTypeNames.Float).Set(0.0)
        look.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        return look


def frame_rate(times: Array) -> float:
    """Time codes a second, such that frames at these times [s] have whole numbers where they are evenly spaced.

    >>> frame_rate(np.arange(4) / 30), frame_rate(np.array([0.0])), frame_rate(np.array([0.0, 0.25, 0.5]))
    (30.0, 30.0, 24.0)
    """
    gap = float(np.median(np.diff(times))) if len(times) > 1 else 1 / 30
    rate = 1 / gap if gap > 0 else 30.0
    return round(rate * 1000) / 1000 if rate >= 12 else round(rate * np.ceil(24 / rate - 1e-6) * 1000) / 1000


def _set_points(shape: Any, x: Array, *when: float) -> int:
    """Points and extent of a shape at a time code, or at all times; returns the bytes."""
    from pxr import Vt

    points = np.ascontiguousarray(x, dtype=np.float32)
    shape.GetPointsAttr().Set(Vt.Vec3fArray.FromNumpy(points), *when)
    width = shape.GetWidthsAttr().Get() if hasattr(shape, "GetWidthsAttr") else None
    reach = np.float32(max(width) / 2 if width else 0)
    box = np.stack([points.min(axis=0) - reach, points.max(axis=0) + reach])
    shape.GetExtentAttr().Set(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(box)), *when)
    return points.nbytes


def _sampled(shape: Any, points: Callable[[int], Array]) -> Sample:
    return lambda frame, code: _set_points(shape, points(frame), code)


def _to_text(binary: Path, text: Path) -> None:
    """The same stage as text; values are read from the disk as they are written."""
    from pxr import Sdf

    Sdf.Layer.FindOrOpen(str(binary)).Export(str(text), args={"format": "usda"})


@contextmanager
def _beside(path: Path, suffix: str) -> Iterator[Path]:
    """A file of a new name in the same folder, which is gone in the end."""
    found = path.with_name(f".{path.stem}-{uuid4().hex[:12]}{suffix}")
    try:
        yield found
    finally:
        found.unlink(missing_ok=True)
