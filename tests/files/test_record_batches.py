"""Frames of a record are written in batches: what is in the file then, and after a kill or a failure between."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import supple as sp
from supple.errors import RecordError
from supple.record import open_record
from supple.record.batch import Batch
from supple.record.files.layout import MOST_FRAMES
from supple.record.loop import Loop
from supple.record.record import UNWRITTEN

KILLED = """
import os, sys
from unittest import mock
sys.path.insert(0, sys.argv[2])
from test_record_batches import make_scene
from supple.record.files import vtkhdf
import supple as sp
append, calls = vtkhdf.append_points, []
def kill_in_the_second_batch(*given):
    calls.append(given)
    if len(calls) == 4:  # the first batch has two bodies: this is the second body of the second one
        os._exit(9)
    append(*given)
with mock.patch("supple.record.files.vtkhdf.append_points", kill_in_the_second_batch):
    sp.run(make_scene(), until=0.5, out=sys.argv[1], record_every=0.01)
"""


def make_scene() -> sp.Scene:
    """A box on a floor and a pendulum: contacts, obstacles and joints."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    box = scene.add(sp.RigidBody.box((0.2, 0.2, 0.2), density=500), at=(0, 0, 0.1), name="box")
    bob = scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(2, 0, 1), name="bob")
    scene.add(sp.HingeJoint(bob, at=(2.5, 0, 1), axis=(0, 1, 0)))
    scene.add(sp.Floor())
    scene.add(sp.Contact([box]))
    return scene


def contents(path: Path) -> dict[str, np.ndarray]:
    """All datasets of a record but its states."""
    found = {}
    with h5py.File(path / "record.vtkhdf") as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


def test_batches_hold_what_single_frames_do(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("supple.record.record.UNWRITTEN", 60.0)
    sp.run(make_scene(), until=0.3, out=tmp_path / "batches", record_every=0.01)
    monkeypatch.setattr("supple.record.record.UNWRITTEN", 0.0)
    sp.run(make_scene(), until=0.3, out=tmp_path / "single", record_every=0.01)
    one, two = contents(tmp_path / "batches"), contents(tmp_path / "single")
    assert one.keys() == two.keys()
    assert len(one["supple/frames/time"]) == 31
    assert len(one["supple/contacts/pair"]) > 31
    for name, values in one.items():
        assert np.array_equal(values, two[name]), name


def test_frames_wait_no_longer_than_they_may(tmp_path: Path, monkeypatch) -> None:
    clock, waited, write = [0.0], [], Batch.write
    monkeypatch.setattr("supple.record.record.perf_counter", lambda: clock[0])
    monkeypatch.setattr("supple.record.batch.perf_counter", lambda: clock[0])
    steady = property(lambda loop: 0.07, lambda loop, value: None)
    monkeypatch.setattr(Loop, "step_time", steady)
    monkeypatch.setattr(
        Batch, "write", lambda self, *given: waited.append(clock[0] - self.since) or write(self, *given)
    )

    def pass_time(state, report) -> None:
        clock[0] += 0.07  # seconds of wall time a step

    sp.run(make_scene(), until=0.5, out=tmp_path, record_every=0.01, on_step=pass_time)
    assert 0.4 < max(waited) <= UNWRITTEN
    assert len(waited) == pytest.approx(0.07 * 51 / UNWRITTEN, abs=3)


def test_a_kill_within_a_batch_leaves_the_frames_before(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(Path(__file__).parent)], check=False)
    assert done.returncode == 9
    record = open_record(tmp_path)
    assert record.times.tolist() == [0.0]  # the first frame is not kept waiting by a step of unknown length
    assert np.isfinite(record.points("bob", 0)).all()


def test_a_batch_that_fails_is_not_in_the_record(tmp_path: Path, monkeypatch) -> None:
    from supple.record import batch

    append, calls = batch.append_poses, []

    def fail_once(*given) -> None:
        calls.append(given)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        append(*given)

    monkeypatch.setattr("supple.record.batch.append_poses", fail_once)
    with pytest.raises(RecordError, match="no space left"):
        sp.run(make_scene(), until=0.1, out=tmp_path, record_every=0.01)
    record = open_record(tmp_path)
    assert record.times.tolist() == [0.0]
    with h5py.File(record.path) as file:
        assert len(file["supple/frames/time"]) == len(file["VTKHDF/box/Steps/Values"]) == 1


def test_a_batch_that_was_cut_short_by_a_kill_is_read_up_to_its_whole_frames(tmp_path: Path) -> None:
    sp.run(make_scene(), until=0.1, out=tmp_path, record_every=0.01)
    with h5py.File(tmp_path / "record.vtkhdf", "r+") as file:  # tables claim a batch whose points were not written
        count = 11 + MOST_FRAMES
        for table in (file["supple/frames"], *(file[f"VTKHDF/{body}/Steps"] for body in ("box", "bob"))):
            for dataset in table.values():
                dataset.resize(count, axis=0)
        for body in ("box", "bob"):
            file[f"VTKHDF/{body}/Steps"].attrs["NSteps"] = count
    assert len(open_record(tmp_path)) == 11
