"""Records that show some points of a tree: the whole surface is made again, and a run that goes on keeps to it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import supple as sp
from supple.bodies.tree import TreeBody
from supple.errors import InputError, RecordError
from supple.examples.shapes import flower
from supple.record import open_record

SHOWN = 400


def make_scene() -> sp.Scene:
    """The flower with the surfaces of its domains, which has seams, beside a box."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.Partitioned(1 / 120))
    scene.add(TreeBody(flower(), stiffness_damping=0.004), name="flower")
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(1, 0, 0), name="box")
    return scene


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    """A record of some points, and one of all."""
    thin, whole = tmp_path_factory.mktemp("thin"), tmp_path_factory.mktemp("whole")
    sp.run(make_scene(), until=0.2, out=thin, surface_points=SHOWN)
    sp.run(make_scene(), until=0.2, out=whole, surface_points=None)
    return thin, whole


def test_the_whole_surface_is_made_again(folders) -> None:
    thin, whole = map(open_record, folders)
    assert len(thin) == len(whole) == 7
    assert np.array_equal(thin.triangles("flower"), whole.triangles("flower"))
    for frame in range(7):
        one, two = thin.points("flower", frame), whole.points("flower", frame)
        assert one.dtype == np.float32
        assert np.abs(one - two).max() < 1e-6 * np.ptp(two)  # single precision
        assert np.array_equal(thin.points("box", frame), whole.points("box", frame))


def test_other_programs_see_some_of_the_points(folders) -> None:
    thin, whole = folders
    with h5py.File(thin / "record.vtkhdf") as few, h5py.File(whole / "record.vtkhdf") as all_of_them:
        n = int(few["VTKHDF/flower/NumberOfPoints"][0])
        assert SHOWN / 2 < n <= SHOWN
        triangles = few["VTKHDF/flower/Polygons/Connectivity"][:].reshape(-1, 3)
        assert 0 <= triangles.min() <= triangles.max() < n
        assert len(triangles) > n / 2
        last = few["VTKHDF/flower/Points"][-n:]
        surface = all_of_them["VTKHDF/flower/Points"][-int(all_of_them["VTKHDF/flower/NumberOfPoints"][0]) :]
        distance = np.linalg.norm(last[:, None] - surface[None], axis=2).min(axis=1)
        assert distance.max() < 1e-3  # [m]; on seams the whole surface has the mean of two domains
        assert len(few["VTKHDF/flower/Points"]) == 7 * n
        assert all_of_them["supple/carried/flower"].attrs["shown"] == "all"


def test_a_run_goes_on_with_the_surface_of_its_record(folders, tmp_path: Path) -> None:
    sp.run(make_scene(), until=0.1, out=tmp_path, surface_points=SHOWN)
    sp.run(make_scene(), until=0.2, out=tmp_path, resume=True)
    one, two = open_record(tmp_path), open_record(folders[0])
    assert one.times.tolist() == two.times.tolist()
    assert all(np.array_equal(one.points("flower", k), two.points("flower", k)) for k in range(7))
    with h5py.File(one.path) as again, h5py.File(two.path) as once:
        assert np.array_equal(again["VTKHDF/flower/Points"], once["VTKHDF/flower/Points"])


def tear(frame) -> None:
    if frame.step == 12:
        frame.system.break_off(frame.state, "flower", 3, name="flower, torn off")


def test_a_record_goes_back_before_a_break(folders, tmp_path: Path) -> None:
    sp.run(make_scene(), until=0.06, out=tmp_path, surface_points=SHOWN)
    kept = (tmp_path / "checkpoint.npz").read_bytes()
    sp.run(make_scene(), until=0.15, out=tmp_path, observers=[tear], resume=True)
    (tmp_path / "checkpoint.npz").write_bytes(kept)
    again, whole = sp.run(make_scene(), until=0.2, out=tmp_path, resume=True).frames, open_record(folders[1])
    assert again.times.tolist() == whole.times.tolist()
    for k in range(7):
        assert np.abs(again.points("flower", k) - whole.points("flower", k)).max() < 1e-6


def test_a_tree_that_breaks_is_recorded_whole_from_the_start(folders, tmp_path: Path) -> None:
    record = sp.run(make_scene(), until=0.2, out=tmp_path, surface_points=SHOWN, observers=[tear]).frames
    parts = [name for name in record.body_names if name.startswith("flower")]
    assert len(parts) == 2
    whole = open_record(folders[1])
    assert sum(len(record.points(name, 0)) for name in parts) == len(whole.points("flower", 0))
    for name in parts:
        distance = np.linalg.norm(record.points(name, 2)[:, None] - whole.points("flower", 2)[None], axis=2).min(axis=1)
        assert distance.max() < 1e-6
    with h5py.File(record.path) as file:
        assert not list(file["supple/carried"])


def test_a_number_of_points_is_a_number(tmp_path: Path) -> None:
    for wrong in (0, -3, 2.5, "many"):
        with pytest.raises(InputError, match="surface_points"):
            sp.run(make_scene(), until=0.1, out=tmp_path, surface_points=wrong)


def set_to(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[h5py.Group], None]:
    def craft(group: h5py.Group) -> None:
        values = change(group[name][()])
        del group[name]
        group[name] = values

    return craft


def look_at(folder: Path) -> None:
    record = open_record(folder)
    record.points("flower", 0)
    record.triangles("flower")


CRAFTED = {
    "more points than X": set_to("points", lambda a: a + 1),
    "fewer than no points": set_to("points", lambda a: a - 10**6),
    "many modes": set_to("modes", lambda a: a + 10**12),
    "a kind that is not there": set_to("kind", lambda a: a + 99),
    "a kind below none": set_to("kind", lambda a: a - 1),
    "corners elsewhere": set_to("triangles", lambda a: a + 10**6),
    "seams elsewhere": set_to("seams", lambda a: a + 10**9),
    "groups that run back": set_to("groups", lambda a: a[::-1]),
    "hidden elsewhere": set_to("hidden", lambda a: a + 10**9),
    "words": set_to("scale", lambda a: np.array([b"one"] * len(a))),
    "values too narrow": set_to("values", lambda a: a[:, :-1]),
    "values of another type": set_to("values", lambda a: a.astype(float)),
}


@pytest.mark.parametrize("craft", CRAFTED.values(), ids=CRAFTED.keys())
def test_a_crafted_surface_is_refused_in_a_sentence(folders, tmp_path: Path, craft) -> None:
    shutil.copy(folders[0] / "record.vtkhdf", tmp_path / "record.vtkhdf")
    with h5py.File(tmp_path / "record.vtkhdf", "r+") as file:
        craft(file["supple/carried/flower"])
    with pytest.raises(RecordError) as caught:
        look_at(tmp_path)
    assert caught.value.fix
    assert len(str(caught.value)) < 500
