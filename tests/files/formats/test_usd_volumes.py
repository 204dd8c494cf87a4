"""Tets in USD stages and in records: usd-core finds the mesh of the body, its nodes are those of the state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.requiring import needed

import supple as sp
from supple.bodies.floating import FloatingBody
from supple.modal import ElasticSolid
from supple.record import open_record

Usd, UsdGeom = needed("pxr.Usd"), needed("pxr.UsdGeom")

SINGLE = 2.0**-23
"""Relative rounding of single precision."""


def make_bodies() -> dict[str, object]:
    rubber = sp.Material(density=1000, young=1e5, poisson=0.3, colour="#c2477f")
    rod = ElasticSolid(sp.box_tets((1.0, 0.2, 0.2), (5, 2, 2)), rubber)
    return {
        "ball": sp.FemBody(sp.sphere_tets(0.2, 3), rubber),
        "thin": sp.FemBody(sp.box_tets((0.5, 0.1, 0.1), (3, 1, 1)), rubber),  # all its nodes lie on the surface
        "rod": FloatingBody.from_solid(rod, modes=4, q=0.02 * np.ones(4)),
        "bricks": sp.FemBody(sp.box_hexes((0.4, 0.2, 0.2), (4, 2, 2)), rubber),
    }


def nodes_of(body, x) -> np.ndarray:
    mapping = body.point_mapping(None)
    return x if mapping is None else mapping.apply(x)


class Watched:
    """A run, and the nodes of its bodies in each frame, out of the state."""

    def __init__(self, folder: Path | None) -> None:
        self.bodies, self.nodes = make_bodies(), []
        scene = sp.Scene(gravity=(0, 0, -9.81), name="solids")
        for k, (name, body) in enumerate(self.bodies.items()):
            held = {} if name == "rod" else {"fix": lambda x: x[:, 2] > x[:, 2].max() - 1e-9}
            scene.add(body, name=name, at=(1.5 * k, 0.3, 1), rotation=(0.3, -0.2, 0.5), **held)
        options = {} if folder is None else {"out": folder, "fields": ["volume"]}
        self.run = sp.run(scene, until=0.1, dt=0.005, record_every=0.05, observers=[self.watch], **options)

    def watch(self, frame) -> None:
        slots = {slot.name: slot for slot in frame.system.bodies}
        self.nodes.append({n: nodes_of(b, slots[n].view_x(frame.state.x)).copy() for n, b in self.bodies.items()})


@pytest.fixture(scope="module", params=["memory", "folder"])
def watched(request, tmp_path_factory) -> Watched:
    return Watched(tmp_path_factory.mktemp("record") if request.param == "folder" else None)


@pytest.fixture(scope="module")
def stage(watched, tmp_path_factory):
    return Usd.Stage.Open(str(sp.export(watched.run, tmp_path_factory.mktemp("stage") / "solids.usdc")))


def tets_of(stage, name):
    return UsdGeom.TetMesh(stage.GetPrimAtPath(f"/World/{name}/volume"))


def order_of(mesh) -> np.ndarray:
    """Nodes of a mesh as a stage has them: those of the surface first."""
    outer = mesh.boundary.node_indices
    return np.concatenate([outer, np.setdiff1d(np.arange(len(mesh.nodes)), outer)])


def oriented(faces) -> set[tuple[int, ...]]:
    """Faces that are the same whatever their first corner."""
    return {tuple(np.roll(face, -int(np.argmin(face))).tolist()) for face in np.array(faces)}


def volumes(x, tets) -> np.ndarray:
    a, b, c = (x[tets[:, k]] - x[tets[:, 0]] for k in (1, 2, 3))
    return np.linalg.det(np.stack([a, b, c], axis=1)) / 6


@pytest.mark.parametrize("name", ["ball", "thin", "rod"])
def test_nodes_are_those_of_the_state_in_each_frame(watched, stage, name: str) -> None:
    tets, order = tets_of(stage, name), order_of(watched.bodies[name].mesh)
    codes = tets.GetPointsAttr().GetTimeSamples()
    assert len(codes) == len(watched.nodes) == len(watched.run.frames.times)
    for code, nodes in zip(codes, watched.nodes):
        x = np.array(tets.GetPointsAttr().Get(code))
        assert np.abs(x - nodes[name][order]).max() <= SINGLE * np.abs(x).max()
        assert np.array_equal(tets.GetExtentAttr().Get(code), [x.min(axis=0), x.max(axis=0)])


@pytest.mark.parametrize("name", ["ball", "thin", "rod"])
def test_tets_are_those_of_the_mesh_and_right_handed(watched, stage, name: str) -> None:
    tets, mesh = tets_of(stage, name), watched.bodies[name].mesh
    corners = np.array(tets.GetTetVertexIndicesAttr().Get())
    assert np.array_equal(order_of(mesh)[corners], mesh.tets)
    assert tets.GetOrientationAttr().Get() == UsdGeom.Tokens.rightHanded
    start = np.array(tets.GetPointsAttr().Get(tets.GetPointsAttr().GetTimeSamples()[0]), dtype=float)
    found = volumes(start, corners)
    assert (found > 0).all()
    if name != "rod":  # which begins bent
        assert np.isclose(found.sum(), mesh.volumes.sum(), rtol=1e-5)
    assert len(UsdGeom.TetMesh.FindInvertedElements(tets, tets.GetPointsAttr().GetTimeSamples()[0])) == 0


@pytest.mark.parametrize("name", ["ball", "thin", "rod"])
def test_surface_faces_are_those_that_usd_finds(watched, stage, name: str) -> None:
    tets = tets_of(stage, name)
    faces = oriented(tets.GetSurfaceFaceVertexIndicesAttr().Get())
    assert faces == oriented(UsdGeom.TetMesh.ComputeSurfaceFaces(tets))
    surface = UsdGeom.Mesh(stage.GetPrimAtPath(f"/World/{name}/surface"))
    assert faces == oriented(np.reshape(surface.GetFaceVertexIndicesAttr().Get(), (-1, 3)))


def test_the_surface_is_seen_and_the_volume_on_demand(watched, stage) -> None:
    for name in ("ball", "thin", "rod"):  # a record has frames of the rod in single precision
        surface = UsdGeom.Mesh(stage.GetPrimAtPath(f"/World/{name}/surface"))
        assert surface.ComputePurpose() == UsdGeom.Tokens.default_
        assert tets_of(stage, name).ComputePurpose() == UsdGeom.Tokens.guide
        x = np.array(surface.GetPointsAttr().Get(stage.GetEndTimeCode()))
        assert np.abs(x - watched.run.frames.points(name, -1)).max() <= 4 * SINGLE * np.abs(x).max()


def test_hexes_are_surfaces(watched, stage) -> None:
    assert watched.run.frames.tets("bricks") is None
    assert stage.GetPrimAtPath("/World/bricks").IsA(UsdGeom.Mesh)


def test_a_still_and_chosen_frames_have_tets(watched, tmp_path: Path) -> None:
    stage = Usd.Stage.Open(str(sp.export(watched.run, tmp_path / "last.usda", frames=[-1])))
    tets = tets_of(stage, "ball")
    assert len(tets.GetPointsAttr().GetTimeSamples()) == 1
    x = np.array(tets.GetPointsAttr().Get(stage.GetEndTimeCode()))
    order = order_of(watched.bodies["ball"].mesh)
    assert np.abs(x - watched.nodes[-1]["ball"][order]).max() <= SINGLE * np.abs(x).max()


def test_a_record_that_was_not_asked_holds_surfaces(tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(make_bodies()["ball"], name="ball")
    run = sp.run(scene, until=0.02, dt=0.01, out=tmp_path / "run")
    assert open_record(tmp_path / "run").tets("ball") is None
    stage = Usd.Stage.Open(str(sp.export(run, tmp_path / "ball.usdc")))
    assert not [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.TetMesh)]
