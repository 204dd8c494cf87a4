"""What is changed while a scene runs is in its record, with its time; resumed runs have the same."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

import supple as sp
from supple.errors import RecordError, SuppleError
from supple.record import open_record
from supple.record.checkpoint import Checkpoint, save_checkpoint
from supple.scene.changes import changes_of


def run(out: Path | None, until: float = 0.3, *, resume: bool = False) -> sp.Run:
    """Gravity changes in the third frame, a joint comes in the fifth and goes in the seventh."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.Midpoint(0.01))
    hand = scene.add(sp.RigidBody.sphere(0.1, density=500), name="hand")
    ball = scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0.3, 0, 0), name="ball")

    def observer(frame) -> None:
        system, state, count = frame.system, frame.state, len(frame.changes)
        if frame.step == 8 and count == 0:
            system.change(state, "gravity", value=(0, 0, -1.62))
            system.change(state, "gravity", value=(0, 0, -1.0))
        if frame.step == 16 and count == 2:
            system.add(state, sp.FixedJoint(hand, ball, at=state.x[:3]), name="grip")
        if frame.step == 24 and count == 3:
            system.remove(state, "grip")

    return sp.run(scene, until=until, record_every=0.04, out=out, observers=[observer], resume=resume)


def test_changes_are_read_back_by_frame(tmp_path: Path) -> None:
    ended = run(tmp_path / "run")
    for frames in (ended.frames, open_record(tmp_path / "run"), run(None).frames):
        done = frames.changes()
        assert done == changes_of(ended.state)
        assert [(round(change.t, 2), change.name) for change in done] == [
            (0.08, "gravity"),
            (0.08, "gravity"),
            (0.16, "grip"),
            (0.24, "grip"),
        ]
        assert done[0].values == {"value": [0.0, 0.0, -1.62]}
        by_frame = [[change.name for change in frames.changes(k)] for k in range(len(frames.times))]
        assert by_frame == [[], [], [], ["gravity", "gravity"], [], ["grip"], [], ["grip"], []]
        assert frames.changes(-2) == done[3:]


@pytest.mark.parametrize("stop", [0.05, 0.13, 0.22, 0.27])
def test_a_resumed_run_has_the_same_changes(stop: float, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole")
    run(tmp_path / "parts", stop)
    parts = run(tmp_path / "parts", resume=True)
    assert whole.state.x.tobytes() == parts.state.x.tobytes()
    for k in range(len(whole.frames.times)):
        assert parts.frames.changes(k) == whole.frames.changes(k)


def test_a_record_without_changes_has_none(tmp_path: Path) -> None:
    run(tmp_path / "run", 0.05)
    with h5py.File(tmp_path / "run" / "record.vtkhdf", "r+") as file:
        del file["supple/changes"]
    assert open_record(tmp_path / "run").changes() == []
    assert run(tmp_path / "run", resume=True).frames.changes(3)[0].name == "gravity"


@pytest.mark.parametrize("text", [b"{}\n", b"[1, 2, 3]\n", b'["x", "y", {}]\n', b'[NaN, "y", {}]\n', b"\xff\xfe\n"])
def test_crafted_changes_are_refused(text: bytes, tmp_path: Path) -> None:
    run(tmp_path / "run", 0.05)
    with h5py.File(tmp_path / "run" / "record.vtkhdf", "r+") as file:
        group = file["supple/changes"]
        group["text"].resize(len(text), axis=0)
        group["text"][:] = np.frombuffer(text, dtype=np.uint8)
    with pytest.raises(RecordError, match="change"):
        open_record(tmp_path / "run").changes()


@pytest.mark.parametrize(
    "text",
    [
        b"5\n",
        b"{}\n",
        b"[1, 2]\n",
        b"\xff\n",
        b'[0.0, "moon", {"value": 1}]\n',
        b'[0.0, "grip", {"added": {}}]\n',
        b'[0.0, "grip", {"added": {"kind": "BallJoint", "a": {"body": "ball", "whole": true}, "b": 5}}]\n',
        b'[0.0, "ball", {"broken_off": 1}]\n',
        b'[0.0, "gravity", 7]\n',
    ],
)
def test_crafted_changes_of_a_checkpoint_are_refused(text: bytes, tmp_path: Path) -> None:
    ended = run(tmp_path / "run", 0.05)
    state = ended.state.copy()
    state.memory["changes"] = np.frombuffer(text, dtype=np.uint8).copy()
    path = tmp_path / "run" / "checkpoint.npz"
    save_checkpoint(path, Checkpoint(state, ended.steps, 2), ended.system, ended.solver)
    with pytest.raises(SuppleError):
        run(tmp_path / "run", resume=True)
