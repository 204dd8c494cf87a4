"""Colours of materials, voxels, domains and bodies: given, recorded, read by ParaView, and seen in pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.bodies.tree import Domain, DomainInterface, DomainTemplate, DomainTree, TreeBody
from supple.errors import InputError
from supple.exports.camera import Camera
from supple.exports.view import View, body_colours
from supple.files import load, save
from supple.geometry.meshes.region import Region
from supple.material.colour import PALETTE, check_colour, rgb
from supple.record.files.contacts import Contacts

RED, GREEN, BLUE = "#e02020", "#20c040", "#2040e0"


def stuff(colour: str | None = None, **more: float) -> sp.Material:
    return sp.Material(**({"young": 1e6, "poisson": 0.3, "density": 1000} | more), colour=colour)


def make_scene() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, 0), name="colours")
    mesh = sp.box_tets((1.0, 0.2, 0.2), (4, 1, 1))
    halves = mesh.with_regions(
        {
            "left": Region(elements=np.flatnonzero(mesh.nodes[mesh.tets].mean(axis=1)[:, 0] < 0.5)),
            "right": Region(elements=np.flatnonzero(mesh.nodes[mesh.tets].mean(axis=1)[:, 0] > 0.5)),
        }
    )
    scene.add(sp.FemBody(halves, {"left": stuff(RED), "right": stuff(BLUE)}), name="two")
    scene.add(sp.RigidBody.box((0.3, 0.3, 0.3), density=1), at=(0, 0, 1), name="box", colour=GREEN)
    scene.add(sp.RigidBody.box((0.3, 0.3, 0.3), density=1), at=(1, 0, 1), name="plain")
    positions = np.array([[0.0, 0, 2], [1, 0, 2]])
    scene.add(sp.Particles(positions, 0.1, springs=[(0, 1)], stiffness=5), name="string", colour=(1, 0, 0))
    return scene


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("colours")
    return [sp.run(make_scene(), until=0.02, out=where) for where in (None, folder)]


def test_a_colour_is_written_in_two_ways() -> None:
    assert check_colour("#FF8000", where="x") == check_colour((1, 0.5, 0), where="x") == "#ff8000"
    assert rgb("#ff0080") == pytest.approx((1, 0, 128 / 255))


@pytest.mark.parametrize("given", ["red", "#12345", "#gggggg", (1, 0), (1, 0, 2), (1, 0, float("nan")), 3, ("a",) * 3])
def test_what_is_no_colour_is_refused(given) -> None:
    with pytest.raises(InputError, match="not a colour"):
        stuff(given)
    scene = sp.Scene()
    with pytest.raises(InputError, match="not a colour"):
        scene.add(sp.RigidBody.sphere(0.1, density=1), name="a", colour=given)


def test_records_hold_the_colours(runs) -> None:
    for run in runs:
        two = run.frames.colours("two")
        assert two.shape == run.frames.triangles("two").shape
        middles = run.frames.points("two", 0)[run.frames.triangles("two")].mean(axis=1)
        assert two[middles[:, 0] < 0.5] == pytest.approx(np.tile(rgb(RED), (np.sum(middles[:, 0] < 0.5), 1)))
        assert two[middles[:, 0] > 0.5] == pytest.approx(np.tile(rgb(BLUE), (np.sum(middles[:, 0] > 0.5), 1)))
        assert run.frames.colours("box")[0] == pytest.approx(rgb(GREEN))
        assert run.frames.colours("plain") is None
        assert run.frames.colours("string") == pytest.approx(np.array([[1.0, 0, 0]]))
        assert body_colours(run.frames)["plain"] == pytest.approx(rgb(PALETTE[2])[None])


def test_paraview_reads_them_as_cell_data(runs) -> None:
    pytest.importorskip("vtkmodules")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(runs[1].folder / "record.vtkhdf"))
    reader.UpdateInformation()
    for step in (0, reader.GetNumberOfSteps() - 1):
        reader.SetStep(step)
        reader.Update()
        found = reader.GetOutputDataObject(0).GetPartitionedDataSet(0).GetPartition(0)
        colours = vtk_to_numpy(found.GetCellData().GetArray("colour"))
        assert colours / 255 == pytest.approx(runs[1].frames.colours("two"))


def test_pixels_have_the_colours(runs) -> None:
    """Hues at the middles of faces that the eye sees."""
    view = View(runs[0].frames, (0,), Camera())
    picture = np.ones((600, 800, 3), dtype=np.float32)
    view.lay_moment(picture, 0)
    from supple.exports.layers import Place

    window = view.window(Place(0, 0, 800, 600))
    for place, colour in (
        ((0.25, 0.0, 0.1), RED),
        ((0.75, 0.0, 0.1), BLUE),
        ((0.0, 0.0, 1.15), GREEN),
        ((1.0, 0.0, 1.15), PALETTE[2]),
        ((0.5, 0.0, 2.0), "#ff0000"),
    ):
        column, row = window.pixels_of(np.array(place)).astype(int)
        found = picture[row, column]
        assert found / np.linalg.norm(found) == pytest.approx(rgb(colour) / np.linalg.norm(rgb(colour)), abs=0.02)


def test_voxels_have_the_colours_of_their_palette() -> None:
    numbers = np.ones((2, 1, 1), dtype=int)
    numbers[1] = 2
    palette = [sp.VoxelMaterial(1e6, 1000, colour=(1.0, 0, 0, 1)), sp.VoxelMaterial(1e6, 1000)]
    body = sp.VoxelBody(sp.VoxelGrid(numbers, 0.1), palette)
    shown = body.render_surface()
    middles = shown.skin.positions(np.c_[body.rest_points, np.tile([1.0, 0, 0, 0], (2, 1))])[shown.triangles].mean(1)
    assert shown.colours[middles[:, 0] < 0.0999] == pytest.approx(np.tile((1.0, 0, 0), (10, 1)))
    assert shown.colours[middles[:, 0] > 0.1001] == pytest.approx(np.tile(rgb(PALETTE[1]), (10, 1)))
    alone = sp.VoxelBody(sp.VoxelGrid(numbers, 0.1), sp.VoxelMaterial(1e6, 1000)).render_surface()
    assert alone.colours is None


def test_domains_have_the_colours_of_their_materials() -> None:
    mesh = sp.box_tets((1.0, 0.2, 0.2), (3, 1, 1))
    tip = mesh.node_region("x_max")
    ends = {"held": mesh.node_region("x_min"), "interfaces": {"end": DomainInterface(tip, np.ones(len(tip)))}}
    kinds = {name: DomainTemplate(name, mesh, stuff(c), 2, **ends) for name, c in (("a", RED), ("b", GREEN))}
    body = TreeBody(DomainTree(kinds, [Domain("a"), Domain("b", 0, "end")]))
    colours = body.render_surface().colours
    rest = body.skin.rest[body.skin.triangles].mean(axis=1)
    assert colours[rest[:, 0] < 0.9].max(axis=0) == pytest.approx(rgb(RED))
    assert colours[rest[:, 0] > 1.1].max(axis=0) == pytest.approx(rgb(GREEN))


def test_a_record_of_some_points_keeps_the_colours_of_all(tmp_path: Path) -> None:
    mesh = sp.box_tets((1.0, 0.2, 0.2), (6, 2, 2))
    tip = mesh.node_region("x_max")
    ends = {"held": mesh.node_region("x_min"), "interfaces": {"end": DomainInterface(tip, np.ones(len(tip)))}}
    kinds = {name: DomainTemplate(name, mesh, stuff(c), 2, **ends) for name, c in (("a", RED), ("b", GREEN))}
    scene = sp.Scene()
    scene.add(TreeBody(DomainTree(kinds, [Domain("a"), Domain("b", 0, "end")])), name="tree")
    in_memory = sp.run(scene, until=0.01, dt=0.01).frames
    for most in (None, 120):
        frames = sp.run(scene, until=0.01, dt=0.01, out=tmp_path / f"{most}", surface_points=most).frames
        assert frames.triangles("tree").tolist() == in_memory.triangles("tree").tolist()
        assert frames.colours("tree") == pytest.approx(in_memory.colours("tree"))
    import h5py

    with h5py.File(tmp_path / "120" / "record.vtkhdf") as file:  # what other programs see: fewer points
        block = file["VTKHDF/tree"]
        assert block["NumberOfPoints"][0] <= 120
        assert block["CellData/colour"].shape == (block["Polygons/NumberOfCells"][0], 3)
        assert len(np.unique(block["CellData/colour"][:], axis=0)) == 2


def test_scene_files_keep_them(tmp_path: Path) -> None:
    save(make_scene(), tmp_path / "scene.toml")
    scene = load(tmp_path / "scene.toml")
    nodes = {node.name: node for node in scene.nodes}
    assert nodes["box"].colour == GREEN
    assert nodes["plain"].colour is None
    assert [m.colour for m in nodes["two"].body.materials] == [RED, BLUE]


def test_an_arrow_begins_at_the_mean_place_of_its_forces_by_their_sizes() -> None:
    """One for each pair that touches, the longest 12 % of what is seen; those of others by their force."""
    scene = make_scene()
    view = View(sp.run(scene, until=0.0).frames, (0,), Camera())
    places = np.array([[0.0, 0, 0], [1, 0, 0], [0.2, 0.1, 0.5], [0, 0, 2]])
    forces = np.array([[0.0, 0, 3], [0, 0, 1], [0, 2, 0], [0, 0, 0]])
    pairs = [("two", "box"), ("two", "box"), ("two", "plain"), ("box", "plain")]
    drawn = []

    class Axes:
        def annotate(self, text: str, *, xy: np.ndarray, xytext: np.ndarray, **look: object) -> None:
            drawn.append((xytext, xy))

    touching = Contacts(pairs, places, np.zeros((4, 3)), forces)
    assert view.draw_contacts(touching, Axes()) == pytest.approx(4.0)
    step = 0.12 * view.extent / 4.0
    wanted = [((0.25, 0, 0), (0, 0, 4.0)), ((0.2, 0.1, 0.5), (0, 2.0, 0))]
    assert len(drawn) == 2
    for (start, tip), (place, force) in zip(drawn, wanted):
        np.testing.assert_allclose(start, view.camera.project(np.array(place)), atol=1e-12)
        np.testing.assert_allclose(tip, view.camera.project(np.array(place) + step * np.array(force)), atol=1e-12)
