"""Records that show all points of a tree or a floating body hold what carries them too: a page draws from it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import supple as sp
from supple.bodies.tree import TreeBody
from supple.canvas import CarriedShape
from supple.decompose import decompose
from supple.errors import RecordError
from supple.exports.staging import Staging
from supple.modal.solid import ElasticSolid
from supple.record import open_record

FRAMES = 7


def make_scene() -> sp.Scene:
    """A branch of four domains under a finer surface, whose vertices are means over two of them; a floating beam, and
    bodies whose points are all there is to keep."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    mesh, fine = sp.box_tets((1.6, 0.1, 0.1), (16, 1, 1)), sp.box_tets((1.6, 0.1, 0.1), (24, 2, 2))
    labels = (mesh.nodes[mesh.elements].mean(axis=1)[:, 0] // 0.4).astype(int)
    held = np.flatnonzero(mesh.nodes[:, 0] < 1e-9)
    tree = decompose(mesh, labels, material=sp.Material(1e6, 0.3, 1000), modes=6, fixed=held)
    scene.add(TreeBody(tree, stiffness_damping=0.01, surface=fine.boundary.surface), name="branch")
    solid = ElasticSolid(sp.box_tets((1.0, 0.1, 0.1), (12, 2, 2)), sp.Material(1e6, 0.3, 1000))
    scene.add(sp.FloatingBody.from_solid(solid, modes=6), at=(0, 1, 0), spin=(0, 2, 1), name="beam")
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 2, 0), spin=(1, 2, 3), name="box")
    return scene


def run(out: Path, until: float = 0.12, **more: object) -> sp.Run:
    return sp.run(make_scene(), until=until, dt=0.01, record_every=0.02, out=out, **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    run(out)
    return out


@pytest.mark.parametrize("body", ["branch", "beam"])
def test_points_follow_from_what_carries_them(folder: Path, body: str) -> None:
    record = open_record(folder)
    carriers = record.carriers(body)
    assert carriers is not None
    for frame in range(FRAMES):
        corners = carriers.positions(record.carriage(body, frame))[carriers.triangles]
        given = record.points(body, frame)[record.triangles(body)]
        assert np.abs(corners - given).max() < 1e-6 * np.ptp(given)  # single precision


def test_what_moves_as_one_needs_no_table(folder: Path) -> None:
    record = open_record(folder)
    assert record.carriers("box") is None
    with h5py.File(record.path) as file:
        assert set(file["supple/carried"]) == {"branch", "beam"}


def test_a_frame_grows_little(folder: Path) -> None:
    with h5py.File(open_record(folder).path) as file:
        for body in ("branch", "beam"):
            row = file[f"supple/carried/{body}/values"].shape[1]
            assert 4 * row <= 3 * file[f"VTKHDF/{body}/NumberOfPoints"][0]


def test_a_page_draws_from_it(folder: Path) -> None:
    staging = Staging(open_record(folder), list(range(FRAMES)))
    assert all(isinstance(shape, CarriedShape) for shape in staging.shapes)


def test_a_resumed_run_goes_on_with_it(folder: Path, tmp_path: Path) -> None:
    run(tmp_path, 0.06)
    run(tmp_path, resume=True)
    one, two = open_record(tmp_path), open_record(folder)
    for frame in range(FRAMES):
        for body in ("branch", "beam"):
            assert np.array_equal(one.carriage(body, frame), two.carriage(body, frame))


def change(frame: sp.Frame) -> None:
    if frame.step == 6:
        frame.system.change(frame.state, "branch", domain=1, modes=5)


def test_other_modes_leave_the_points_alone(folder: Path, tmp_path: Path) -> None:
    """Frames before and after have other coordinates: no one table carries both. A resumed run, too, has points only,
    and goes back before the change all the same."""
    run(tmp_path, 0.04)
    kept = (tmp_path / "checkpoint.npz").read_bytes()
    run(tmp_path, 0.12, observers=[change], resume=True)
    record, whole = open_record(tmp_path), open_record(folder)
    assert len(record) == FRAMES
    assert record.carriers("branch") is None
    assert np.array_equal(record.carriage("beam", 6), whole.carriage("beam", 6))
    assert np.array_equal(record.points("branch", 2), whole.points("branch", 2))
    (tmp_path / "checkpoint.npz").write_bytes(kept)
    run(tmp_path, resume=True)
    again = open_record(tmp_path)
    assert again.carriers("branch") is None
    assert all(np.array_equal(again.points("branch", k), whole.points("branch", k)) for k in range(FRAMES))


def tear(frame: sp.Frame) -> None:
    if frame.step == 6:
        frame.system.break_off(frame.state, "branch", 2, name="twig")


def test_a_tree_that_breaks_leaves_points(tmp_path: Path) -> None:
    record = run(tmp_path, observers=[tear]).frames
    assert record.carriers("branch") is record.carriers("twig") is None
    assert record.carriers("beam") is not None
    assert len(Staging(record, list(range(FRAMES))).rows(6)) == 4


def test_a_record_without_tables_still_opens(folder: Path, tmp_path: Path) -> None:
    for name in ("record.vtkhdf", "checkpoint.npz"):
        shutil.copy(folder / name, tmp_path / name)
    with h5py.File(tmp_path / "record.vtkhdf", "r+") as file:
        del file["supple/carried"]
    assert open_record(tmp_path).carriers("branch") is None
    run(tmp_path, 0.16, resume=True)
    record = open_record(tmp_path)
    assert len(record) == FRAMES + 2
    assert record.carriers("branch") is None


def set_to(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[h5py.Group], None]:
    def craft(group: h5py.Group) -> None:
        values = change(group[name][()])
        del group[name]
        group[name] = values

    return craft


def look_at(folder: Path) -> None:
    record = open_record(folder)
    record.carriers("branch")
    record.points("branch", 0)


CRAFTED = {
    "faces elsewhere": set_to("faces", lambda a: a + 10**6),
    "faces below none": set_to("faces", lambda a: a - 1),
    "faces of two corners": set_to("faces", lambda a: a[:, :2]),
    "weights of fewer seams": set_to("weights", lambda a: a[1:]),
    "weights that are none": set_to("weights", lambda a: np.full_like(a, np.nan)),
    "weights of another type": set_to("weights", lambda a: a.astype(float)),
    "points shown in another way": lambda group: group.attrs.update(shown="few"),
}


@pytest.mark.parametrize("craft", CRAFTED.values(), ids=CRAFTED.keys())
def test_a_crafted_table_is_refused_in_a_sentence(folder: Path, tmp_path: Path, craft) -> None:
    shutil.copy(folder / "record.vtkhdf", tmp_path / "record.vtkhdf")
    with h5py.File(tmp_path / "record.vtkhdf", "r+") as file:
        craft(file["supple/carried/branch"])
    with pytest.raises(RecordError) as caught:
        look_at(tmp_path)
    assert caught.value.fix
    assert len(str(caught.value)) < 500
