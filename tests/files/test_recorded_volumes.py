"""The nodes inside bodies made of tets: recorded where a run is asked for them, held in memory where all frames fit."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

import supple as sp
from supple.errors import InputError, RecordError
from supple.record import memory, open_record


def make_scene() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81), name="jelly")
    body = sp.FemBody(sp.box_tets((0.3, 0.2, 0.2), (3, 3, 3)), sp.Material(young=1e4, poisson=0.3, density=1000))
    scene.add(body, fix=lambda x: x[:, 0] < 1e-9, name="block")
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(2, 0, 0), name="box")
    return scene


def run(folder: Path | None, until: float = 0.08, **options) -> sp.Run:
    asked = {} if folder is None else {"out": folder, "fields": ["volume"]}
    return sp.run(make_scene(), until=until, dt=0.01, record_every=0.02, **asked, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return run(tmp_path_factory.mktemp("whole")).folder


def inside(record) -> np.ndarray:
    return np.array([record.inner_points("block", frame) for frame in range(len(record.times))])


def test_inner_nodes_are_those_of_the_state(whole: Path) -> None:
    record, body = open_record(whole), make_scene().compile().bodies[0].body
    inner = np.setdiff1d(np.arange(len(body.mesh.nodes)), body.mesh.boundary.node_indices)
    assert len(inner) == 8
    assert np.array_equal(record.inner_points("block", 0), body.mesh.nodes[inner].astype(np.float32))
    last = record.state(record.state_steps[-1]).x.reshape(-1)[: 3 * len(body.mesh.nodes)].reshape(-1, 3)
    assert np.array_equal(record.inner_points("block", -1), last[inner].astype(np.float32))
    assert record.inner_points("box", 0).shape == (0, 3)
    assert record.tets("box") is None


def test_a_resumed_run_records_the_same(whole: Path, tmp_path: Path) -> None:
    run(tmp_path / "run", until=0.04)
    resumed = run(tmp_path / "run", resume=True)
    assert np.array_equal(inside(resumed.frames), inside(open_record(whole)))
    assert np.array_equal(resumed.frames.tets("block"), open_record(whole).tets("block"))


def test_frames_in_memory_keep_theirs_as_they_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MAX_FRAMES", 5)
    seen = {}
    body = make_scene().compile().bodies[0].body
    outer = body.mesh.boundary.node_indices
    inner = np.setdiff1d(np.arange(len(body.mesh.nodes)), outer)

    def watch(frame) -> None:
        seen[frame.time] = frame.state.x.reshape(-1)[: 3 * len(body.mesh.nodes)].reshape(-1, 3).astype(np.float32)

    held = run(None, until=0.3, observers=[watch]).frames
    assert len(held.times) < len(seen)
    for frame, time in enumerate(held.times):
        assert np.array_equal(held.inner_points("block", frame), seen[time][inner])
        assert np.array_equal(held.points("block", frame), seen[time][outer])


def test_surfaces_alone_are_held_where_not_all_frames_would_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = len(make_scene().compile().bodies[0].body.mesh.nodes)
    monkeypatch.setattr(memory, "MAX_BYTES", 256 * 12 * nodes)  # the box is too much
    held = run(None).frames
    assert held.tets("block") is None
    assert held.inner_points("block", -1).shape == (0, 3)


def test_it_is_no_field_of_the_surface(whole: Path) -> None:
    record = open_record(whole)
    assert record.fields == ("volume",)
    with pytest.raises(InputError, match="no such field"):
        record.field("block", "volume", 0)


def cut(group: h5py.Group) -> None:
    group["inner"].resize(1, axis=0)


def put(name: str, values) -> object:
    def craft(group: h5py.Group) -> None:
        del group[name]
        group[name] = values

    return craft


CRAFTED = {
    "tets name no nodes": put("tets", np.array([[0, 1, 2, 999]])),
    "tets are triangles": put("tets", np.array([[0, 1, 2]])),
    "no tets": put("tets", np.zeros((0, 4), dtype=np.int64)),
    "nodes in a plane": put("inner", np.zeros((5, 8, 2), dtype=np.float32)),
    "nodes are words": put("inner", np.array([b"a"])),
}


def read_volume(folder: Path) -> None:
    record = open_record(folder)
    record.tets("block")
    record.inner_points("block", len(record) - 1)


@pytest.mark.parametrize("craft", CRAFTED.values(), ids=CRAFTED.keys())
def test_a_crafted_volume_is_refused(whole: Path, tmp_path: Path, craft) -> None:
    shutil.copy(whole / "record.vtkhdf", tmp_path)
    with h5py.File(tmp_path / "record.vtkhdf", "r+") as file:
        craft(file["supple/volumes/block"])
    with pytest.raises(RecordError):
        read_volume(tmp_path)


def test_frames_count_where_their_volume_is_there(whole: Path, tmp_path: Path) -> None:
    shutil.copy(whole / "record.vtkhdf", tmp_path)
    with h5py.File(tmp_path / "record.vtkhdf", "r+") as file:
        cut(file["supple/volumes/block"])
    assert len(open_record(tmp_path)) == 1
