"""Speed and strain of surfaces: against known motions, as colours with a scale, as arrays in VTK."""

from __future__ import annotations

from pathlib import Path

import meshio
import numpy as np
import pytest

import supple as sp
from supple.cli import main
from supple.errors import InputError
from supple.exports.fields import Colouring, speed, strain
from supple.geometry.surfaces.strain import strain_at_points, surface_strain

TRIANGLES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


class Stretched:
    """A tetrahedron that grows along x by 1 % a frame and turns, and a spring that does."""

    body_names = ("solid", "spring")
    times = np.array([0.0, 0.1, 0.2, 0.4])

    def points(self, body: str, frame: int) -> np.ndarray:
        angle = 0.3 * frame
        R = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        return (CORNERS[: 4 if body == "solid" else 2] * (1 + 0.01 * frame, 1, 1)) @ R.T

    def triangles(self, body: str) -> np.ndarray:
        return TRIANGLES if body == "solid" else TRIANGLES[:0]

    def lines(self, body: str) -> np.ndarray:
        return np.zeros((0, 2), dtype=int) if body == "solid" else np.array([[0, 1]])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A ball that flies at 2 m/s beside a box that rests."""
    scene = sp.Scene(gravity=(0, 0, 0), name="two", solver=sp.ImplicitEuler(0.02))
    scene.add(sp.RigidBody.sphere(0.2, density=1), velocity=(2, 0, 0), name="ball")
    scene.add(sp.RigidBody.box((0.4, 0.4, 0.4), density=1), at=(0, 1, 0), name="box")
    return sp.run(scene, until=0.2, out=tmp_path_factory.mktemp("fields"), record_every=0.04)


def test_surface_strain_is_that_of_the_deformation_gradient() -> None:
    """Against eigenvalues of E in the plane of each triangle, for random triangles and gradients."""
    random = np.random.default_rng(1)
    X, F = random.normal(size=(50, 3, 3)), np.eye(3) + 0.3 * random.normal(size=(3, 3))
    found, area = surface_strain(X, X @ F.T)
    E = (F.T @ F - np.eye(3)) / 2
    for corners, value, size in zip(X, found, area):
        a, b = corners[1] - corners[0], corners[2] - corners[0]
        plane, _ = np.linalg.qr(np.stack([a, b], axis=1))
        assert value == pytest.approx(np.abs(np.linalg.eigvalsh(plane.T @ E @ plane)).max(), rel=1e-9)
        assert size == pytest.approx(np.linalg.norm(np.cross(a, b)) / 2)


def test_strain_at_a_point_is_the_mean_of_its_triangles_by_their_areas() -> None:
    """Two triangles with a common edge, of which one, three times as large as the other, is stretched."""
    X, triangles = np.array([[0.0, 0, 0], [-1, 0, 0], [0, 1, 0], [3, 0, 0]]), np.array([[0, 2, 1], [0, 3, 2]])
    x = X * np.where(X[:, :1] > 0, [1.02, 1, 1], 1.0)
    e = (1.02**2 - 1) / 2
    found = strain_at_points(X, x, triangles, np.zeros((0, 2), dtype=int))
    assert found == pytest.approx([3 / 4 * e, 0, 3 / 4 * e, e], abs=1e-12)


def test_strain_sees_no_rigid_motion_and_the_stretch_along_x() -> None:
    frames = Stretched()
    assert strain(frames, "solid", 0) == pytest.approx(np.zeros(4), abs=1e-7)  # a root of round-off
    most = (1.03**2 - 1) / 2
    whole = [
        surface_strain(frames.points("solid", 0)[t][None], frames.points("solid", 3)[t][None])[0][0] for t in TRIANGLES
    ]
    assert sorted(whole)[0] == pytest.approx(0, abs=1e-12)  # the face across x
    assert sorted(whole)[-1] == pytest.approx(most, rel=1e-6)
    assert strain(frames, "spring", 3) == pytest.approx([0.03, 0.03])


def test_speed_is_by_the_frames_around(run) -> None:
    for k in range(len(run.frames.times)):
        assert speed(run.frames, "ball", k) == pytest.approx(2.0, rel=1e-4)
        assert speed(run.frames, "box", k) == pytest.approx(0.0, abs=1e-6)
    uneven = Stretched()
    moved = np.linalg.norm(uneven.points("spring", 3)[1] - uneven.points("spring", 1)[1])
    assert speed(uneven, "spring", 2)[1] == pytest.approx(moved / 0.3)


def test_colours_lie_on_the_scale(run) -> None:
    colouring = Colouring.of(run.frames, "speed", [0, 3])
    assert colouring.highest == pytest.approx(2.0, abs=0.11)
    from matplotlib import colormaps

    assert colouring("box", 2) == pytest.approx(np.tile(colormaps["viridis"](0.0)[:3], (8, 1)), abs=0.01)
    fast = 2.0 / colouring.highest
    assert colouring("ball", 2)[0] == pytest.approx(colormaps["viridis"](fast)[:3], abs=0.02)


def test_pictures_and_videos_show_them(run, tmp_path: Path) -> None:
    from PIL import Image

    pixels = np.asarray(Image.open(sp.export(run, tmp_path / "a.png", colour="speed"))).astype(int)
    red, green, blue = np.moveaxis(pixels[130 : int(0.68 * len(pixels))], 2, 0)
    assert ((red > blue + 100) & (green > blue + 100)).sum() > 500  # the ball is yellow
    assert ((red > green + 20) & (blue > green + 20)).sum() > 500  # the box is violet
    with Image.open(sp.export(run, tmp_path / "a.gif", colour="speed", size=(320, 240))) as video:
        assert video.n_frames == len(run.frames.times)
    plain = sp.export(run, tmp_path / "b.png").read_bytes()
    assert plain != (tmp_path / "a.png").read_bytes()


def test_vtk_holds_them_as_arrays(run, tmp_path: Path) -> None:
    index = sp.export(run, tmp_path / "a.pvd", colour="strain")
    mesh = meshio.read(index.with_suffix("") / "ball_000003.vtu")
    assert mesh.point_data["strain"] == pytest.approx(strain(run.frames, "ball", 3))
    assert not meshio.read(sp.export(run, tmp_path / "b.pvd").with_suffix("") / "ball_000003.vtu").point_data


@pytest.mark.parametrize("ending", ["png", "gif", "pvd"])
def test_unknown_fields_are_refused(run, tmp_path: Path, ending: str) -> None:
    with pytest.raises(InputError, match="speed, strain"):
        sp.export(run, tmp_path / f"a.{ending}", colour="warmth")


def test_tables_and_modes_have_no_colours(run, tmp_path: Path, capsys) -> None:
    with pytest.raises(InputError, match="no option 'colour'"):
        sp.export(run, tmp_path / "a.csv", colour="speed")
    with pytest.raises(SystemExit) as ended:
        main(["export", str(run.folder), "--to", "png", "--colour", "warmth", "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert "speed, strain" in capsys.readouterr().err
