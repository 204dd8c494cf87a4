"""Contact forces are in the record at every frame, on disk and in memory, and a resumed run has the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.record import open_record

G = 9.81
WEIGHT = 500 * 0.1**3 * G


def two_boxes() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.ImplicitEuler(0.01))
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 0, 0.05), name="low")
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0.01, 0, 0.1501), name="high")
    scene.add(sp.Floor())
    scene.add(sp.Contact())
    return scene


def test_forces_by_pair_carry_the_weights(tmp_path: Path) -> None:
    on_disk = sp.run(two_boxes(), until=0.6, out=tmp_path / "run").frames
    in_memory = sp.run(two_boxes(), until=0.6).frames
    for frames in (on_disk, in_memory):
        last = frames.contacts(len(frames.times) - 1)
        assert last.between("low", "floor")[2] == pytest.approx(2 * WEIGHT, rel=1e-3)  # at rest, in single precision
        np.testing.assert_allclose(last.between("high", "low"), [0, 0, WEIGHT], atol=1e-3 * WEIGHT)
        np.testing.assert_allclose(last.between("low", "high"), -last.between("high", "low"))
        assert not last.between("high", "floor").any()
        assert len(frames.contacts(0).pairs) == 0  # nothing has pushed before the first step


def test_a_resumed_run_has_the_contacts_of_a_whole_one(tmp_path: Path) -> None:
    sp.run(two_boxes(), until=0.25, out=tmp_path / "parts")
    sp.run(two_boxes(), until=0.5, out=tmp_path / "parts", resume=True)
    sp.run(two_boxes(), until=0.5, out=tmp_path / "whole")
    parts, whole = open_record(tmp_path / "parts"), open_record(tmp_path / "whole")
    assert len(parts) == len(whole)
    for frame in range(len(whole)):
        one, two = parts.contacts(frame), whole.contacts(frame)
        assert one.pairs == two.pairs
        np.testing.assert_array_equal(one.force, two.force)
