"""export: formats by ending, what they hold, and pictures without a display."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import meshio
import numpy as np
import pytest

import supple as sp
from supple.errors import InputError, MissingExtraError, RecordError
from supple.exports.picture import choose_moments

LAZY = """
import sys
import supple.exports
late = [name for name in ("matplotlib", "pyvista", "vtkmodules", "PIL") if name in sys.modules]
assert not late, late
"""


def make_scene() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81), name="box and chain")
    scene.add(sp.RigidBody.box((0.5, 0.4, 0.3), density=500), at=(0, 0, 0.5), spin=(1, 2, 3), name="box")
    positions = np.c_[np.arange(4.0), np.zeros((4, 2))]
    node = scene.add(sp.Particles(positions, 0.1, springs=[(0, 1), (1, 2), (2, 3)], stiffness=500), name="chain")
    scene.add(sp.FixedPoints(node, [0, 3]))
    return scene


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return sp.run(make_scene(), until=0.3, out=tmp_path_factory.mktemp("export"), record_every=0.1)


@pytest.fixture(scope="module")
def without_folder():
    return sp.run(make_scene(), until=0.3, record_every=0.1)


def test_picture_shows_all_bodies(run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from PIL import Image

    path = sp.export(run, tmp_path / "new" / "picture.png")
    pixels = np.asarray(Image.open(path).convert("RGB")).astype(int)
    assert min(pixels.shape[:2]) >= 800
    view = pixels[130 : int(0.68 * len(pixels))]
    red, green, blue = view[..., 0], view[..., 1], view[..., 2]
    assert ((blue > red + 60) & (blue > green)).sum() > 500  # the box is blue
    assert ((red > blue + 60) & (red > green)).sum() > 300  # the chain is orange
    assert (view.min(axis=2) > 250).mean() > 0.3  # on a white ground
    corners = pixels[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert (corners == 255).all()


def test_picture_of_chosen_frames_and_of_one_state(run, without_folder, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    a = sp.export(run, tmp_path / "a.png", frames=[0, -1]).read_bytes()
    assert sp.export(without_folder, tmp_path / "b.png", frames=[0, 3]).read_bytes() == a
    still = sp.run(make_scene(), until=0.0)
    assert sp.export(still, tmp_path / "c.png").stat().st_size > 5000


class Moving:
    """A point that goes along x as a function of time."""

    body_names = ("point",)

    def __init__(self, times, path) -> None:
        self.times, self.path = np.asarray(times, dtype=float), path

    def points(self, body: str, frame: int) -> np.ndarray:
        return np.array([[self.path(self.times[frame]), 0.0, 0.0]])


def test_moments_are_spread_along_the_way() -> None:
    times = np.linspace(0, 1, 31)
    assert choose_moments(Moving(times, lambda t: t)) == [0, 10, 20, 30]
    assert choose_moments(Moving(times, lambda t: min(t, 0.3))) == [0, 3, 6, 9, 30]  # it rests from frame 9 on
    assert choose_moments(Moving(times, lambda t: 1.0)) == [0, 10, 20, 30]
    assert choose_moments(Moving([0.0], lambda t: t)) == [0]
    assert choose_moments(Moving(np.linspace(0, 1, 9001), lambda t: t))[-1] == 9000


def test_csv_reads_back_exactly(run, tmp_path: Path) -> None:
    with open(sp.export(run.folder, tmp_path / "table.csv"), encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0][:4] == ["time [s]", "kinetic [J]", "potential [J]", "total [J]"]
    values = np.array(rows[1:], dtype=float)
    assert np.array_equal(values[:, 0], run.energies.times)
    assert np.array_equal(values[:, 3], run.energies.total)
    assert np.array_equal(values[:, 4:], run.frames.columns["momentum"])


def test_markdown_is_a_table(run, tmp_path: Path) -> None:
    lines = sp.export(run, tmp_path / "table.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 + 4
    assert {line.count("|") for line in lines} == {11}


def test_vtk_files_hold_the_points_of_each_time(run, without_folder, tmp_path: Path) -> None:
    for name, source in (("a", run), ("b", without_folder)):
        index = sp.export(source, tmp_path / f"{name}.pvd")
        entries = ElementTree.parse(index).getroot().findall("./Collection/DataSet")
        assert len(entries) == 8
        assert [float(e.get("timestep")) for e in entries[::2]] == run.energies.times.tolist()
        mesh = meshio.read(index.parent / entries[-2].get("file"))
        assert np.array_equal(mesh.points, run.frames.points("box", 3))
        assert np.array_equal(mesh.cells_dict["triangle"], run.frames.triangles("box"))
        chain = meshio.read(index.parent / entries[-1].get("file"))
        assert chain.cells_dict["line"].tolist() == [[0, 1], [1, 2], [2, 3]]


def test_pyvista_reads_the_index(run, tmp_path: Path) -> None:
    pyvista = pytest.importorskip("pyvista")
    reader = pyvista.get_reader(sp.export(run, tmp_path / "a.pvd"))
    assert reader.time_values == run.energies.times.tolist()
    reader.set_active_time_value(reader.time_values[2])
    blocks = reader.read()
    assert np.allclose(blocks[0].points, run.frames.points("box", 2))


def test_format_is_chosen_by_name_into_a_folder(run, tmp_path: Path) -> None:
    assert sp.export(run, tmp_path, to="csv") == tmp_path / "box_and_chain.csv"
    assert sp.export(run, tmp_path / "sub", to="md") == tmp_path / "sub" / "box_and_chain.md"
    copy = sp.export(run, tmp_path / "copy.vtkhdf")
    assert copy.read_bytes() == (run.folder / "record.vtkhdf").read_bytes()


def test_what_cannot_be_exported_is_told(run, without_folder, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"vtk \(\.pvd\).*png.*csv"):
        sp.export(run, tmp_path / "scene.xyz")
    with pytest.raises(InputError, match="mp3"):
        sp.export(run, tmp_path / "a.png", to="mp3")
    with pytest.raises(InputError, match=r"0\.\.3"):
        sp.export(run, tmp_path / "a.csv", frames=[4])
    with pytest.raises(InputError, match="out="):
        sp.export(without_folder, tmp_path / "a.vtkhdf")
    with pytest.raises(RecordError, match="no record"):
        sp.export(tmp_path / "nowhere", tmp_path / "a.csv")
    with pytest.raises(InputError, match="a Run"):
        sp.export(3, tmp_path / "a.csv")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RecordError, match="file"):
        sp.export(run, tmp_path / "file" / "a.csv")


def test_picture_without_matplotlib_names_the_extra(run, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"supple\[render\]"):
        sp.export(run, tmp_path / "a.png")


def test_heavy_libraries_are_loaded_late() -> None:
    assert subprocess.run([sys.executable, "-c", LAZY]).returncode == 0


def test_pictures_lie_on_the_ground_that_bodies_stand_on(tmp_path: Path) -> None:
    """The plane of the contacts, for runs in memory and on disk; what is under it is not drawn."""
    from supple.exports.camera import Camera
    from supple.exports.layers import Place
    from supple.exports.view import View

    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(0.01))
    scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 0, 0.4), name="above")
    scene.add(sp.RigidBody.sphere(0.1, density=500), at=(1, 0, 0.0), name="half under")
    slope = sp.Plane((0.0, -0.6, 0.8), 0.0)
    scene.add(sp.Plane((1, 0, 0), -5.0))
    scene.add(slope)
    scene.add(sp.Contact(exclude=[("half under", "plane"), ("half under", "plane-2")]))
    kept = [sp.run(scene, until=0.01).frames, sp.run(scene, until=0.01, out=tmp_path / "a").frames]
    for frames in kept:
        view = View(frames, (0,), Camera())
        np.testing.assert_allclose(view.ground[0], (0, -0.6, 0.8))
        np.testing.assert_allclose(view.on_ground(np.array([2.0, 4.0, 9.0])), (2, 4, 3))
        picture = np.ones((400, 600, 3), dtype=np.float32)
        view.lay_moment(picture, 0)
        window, n = view.window(Place(0, 0, 600, 400)), view.ground[0]
        out = n - (n @ view.camera.eye) * view.camera.eye  # from the middle of a ball to its edge in the picture
        edge = 0.095 * out / np.linalg.norm(out)
        for middle, side, is_seen in (((1.0, 0, 0), 1, True), ((1.0, 0, 0), -1, False), ((0, 0, 0.4), -1, True)):
            column, row = window.pixels_of(np.array(middle) + side * edge).astype(int)
            assert (np.ptp(picture[row, column]) > 0.1) == is_seen  # a colour, or the white and grey of the ground
        assert view.bounds[0][1] < view.camera.project(np.array([0.0, 0.0, -0.1]))[1]
    plain = sp.Scene()
    plain.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 0, 0.4))
    assert View(sp.run(plain, until=0.01).frames, (0,), Camera()).ground[1] == pytest.approx(0.3, abs=1e-6)
