"""Joint reactions are in the record at every frame, on disk and in memory; resumed runs have the same, tables too."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.record import open_record

FIELDS = ("place", "force", "moment", "value", "speed", "motor", "power", "limit")


def crane() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(0.01))
    arm = scene.add(sp.RigidBody.box((1, 0.1, 0.1), density=100), at=(0.5, 0, 0), name="arm")
    load = scene.add(sp.RigidBody.sphere(0.1, density=500), at=(1, 0, -0.5), name="load")
    scene.add(sp.HingeJoint(arm, axis=(0, 1, 0), motor_speed=-0.5, motor_torque=200.0, limits=(-1, 1)), name="shoulder")
    scene.add(sp.BallJoint(arm, load, at=(1, 0, 0)))
    return scene


def test_joints_are_read_back_as_they_were(tmp_path: Path) -> None:
    run = sp.run(crane(), until=0.3, out=tmp_path / "run")
    in_memory = sp.run(crane(), until=0.3).frames
    last = len(run.frames.times) - 1
    now = run.system.joint_readings(run.state)
    for frames in (run.frames, in_memory):
        read = frames.joints(last)
        assert list(read) == ["shoulder", "ball"]
        for name, joint in read.items():
            assert joint.bodies == now[name].bodies
            for field in FIELDS:
                np.testing.assert_array_equal(getattr(joint, field), getattr(now[name], field))
        assert not frames.joints(0)["ball"].force.any()  # nothing has pushed before the first step
    assert now["shoulder"].power > 0
    with pytest.raises(InputError, match="no angle"):
        _ = now["ball"].angle


def test_a_resumed_run_has_the_joints_of_a_whole_one(tmp_path: Path) -> None:
    sp.run(crane(), until=0.15, out=tmp_path / "parts")
    sp.run(crane(), until=0.3, out=tmp_path / "parts", resume=True)
    sp.run(crane(), until=0.3, out=tmp_path / "whole")
    parts, whole = open_record(tmp_path / "parts"), open_record(tmp_path / "whole")
    assert len(parts) == len(whole)
    for frame in range(len(whole)):
        one, two = parts.joints(frame), whole.joints(frame)
        for name in two:
            for field in FIELDS:
                np.testing.assert_array_equal(getattr(one[name], field), getattr(two[name], field))


def test_a_table_has_a_column_for_what_each_joint_does(tmp_path: Path) -> None:
    run = sp.run(crane(), until=0.1)
    text = sp.export(run, tmp_path / "table.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(text.splitlines()))
    assert "shoulder angle [rad]" in rows[0]
    assert "ball angle [rad]" not in rows[0]
    last = dict(zip(rows[0], map(float, rows[-1])))
    reading = run.system.joint_readings(run.state)
    assert last["shoulder motor power [W]"] == reading["shoulder"].power
    assert last["ball F_z [N]"] == reading["ball"].force[2]


def test_names_of_joints_are_their_kinds_with_numbers_and_given_ones_are_used_once() -> None:
    scene = crane()
    arm = scene.node("arm")
    scene.add(sp.BallJoint(arm, at=(0, 0.05, 0)))
    assert list(scene.compile().joint_readings(scene.compile().initial_state())) == ["shoulder", "ball", "ball-2"]
    with pytest.raises(InputError, match="already used"):
        scene.add(sp.BallJoint(arm, at=(0, 0.05, 0)), name="shoulder")
