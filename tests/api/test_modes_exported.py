"""Vibration modes as files: shapes as arrays, a picture of one, a table of frequencies."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import meshio
import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.solvers.methods.modes import Modes


@pytest.fixture(scope="module")
def modes() -> Modes:
    """Of a clamped beam, with a rigid body and a floor beside it that take no part but by their own motions."""
    scene = sp.Scene(name="beam and ball")
    steel = sp.Material(young=2e9, poisson=0.3, density=1000)
    scene.add(sp.FemBody(sp.box_tets((1.0, 0.1, 0.05), (8, 1, 1)), steel), fix="x_min", at=(0, 0, 1.0), name="beam")
    ball = scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0.5, 0.5, 1.0), name="ball")
    held = ball.points(local=[(0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.05)])
    scene.add(sp.Springs(held, sp.World.points(held.rest), stiffness=1e3, rest_length=0.0))
    scene.add(sp.Floor())
    return sp.vibration_modes(scene.compile(), 4)


def test_vtk_holds_an_array_a_mode(modes: Modes, tmp_path: Path) -> None:
    path = sp.export(modes, tmp_path / "modes.pvd")
    entries = ElementTree.parse(path).getroot().findall("Collection/DataSet")
    files = {entry.get("name"): path.parent / str(entry.get("file")) for entry in entries}
    assert set(files) == {"beam", "ball"}
    beam = meshio.read(files["beam"])
    assert len(beam.point_data) == 4
    system = modes.system
    slot = system.body("beam")
    nodes = slot.body.contact_surface().numbers
    for (name, found), shape in zip(sorted(beam.point_data.items()), modes.shapes):
        assert name.startswith("mode_")
        assert found == pytest.approx(slot.view_v(shape)[nodes], abs=1e-6 * np.abs(modes.shapes).max())
    ball = meshio.read(files["ball"])  # its points move as a rigid body does: v + w x r
    for (_, found), shape in zip(sorted(ball.point_data.items()), modes.shapes):
        centre = system.body("ball").view_x(system.x0)[0, :3]
        v, w = np.split(system.body("ball").view_v(shape)[0], 2)
        wanted = v + np.cross(w, ball.points - centre)
        assert found == pytest.approx(wanted, abs=1e-6 * np.abs(modes.shapes).max())


def test_some_modes_and_a_table_of_frequencies(modes: Modes, tmp_path: Path) -> None:
    path = sp.export(modes, tmp_path / "one.pvd", frames=[-1])
    assert len(meshio.read(path.with_suffix("") / "beam.vtu").point_data) == 1
    rows = sp.export(modes, tmp_path / "modes.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "mode,frequency [Hz],growth [1/s]"
    assert [float(row.split(",")[1]) for row in rows[1:]] == modes.frequencies.tolist()
    assert "| mode |" in sp.export(modes, tmp_path, to="md").read_text(encoding="utf-8")


def test_a_picture_shows_a_mode(modes: Modes, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from PIL import Image

    pictures = [np.asarray(Image.open(sp.export(modes, tmp_path / f"{k}.png", frames=[k]))) for k in (0, 1)]
    assert min(pictures[0].shape[:2]) >= 800
    assert (pictures[0] != pictures[1]).any(axis=2).sum() > 1000
    assert sp.export(modes, tmp_path / "first.png").read_bytes() == (tmp_path / "0.png").read_bytes()


def test_the_picture_of_a_free_body_shows_no_rigid_motion(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    scene = sp.Scene()
    stuff = sp.Material(young=1e6, poisson=0.3, density=1000)
    scene.add(sp.FemBody(sp.box_tets((1.0, 0.2, 0.1), (4, 1, 1)), stuff), name="bar")
    free = sp.vibration_modes(scene.compile(), 8)
    shown = sp.export(free, tmp_path / "shown.png").read_bytes()
    assert shown == sp.export(free, tmp_path / "seventh.png", frames=[6]).read_bytes()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"destination": "a.vtkhdf"}, "modes are not exported"),
        ({"destination": "a.png", "frames": [0, 1]}, "one mode"),
        ({"destination": "a.png", "frames": [4]}, "no such mode"),
        ({"destination": "a.pvd", "contacts": True}, "contacts"),
    ],
)
def test_what_modes_have_not_is_refused(modes: Modes, tmp_path: Path, given: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        sp.export(modes, **(given | {"destination": tmp_path / given["destination"]}))
