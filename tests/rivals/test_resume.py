"""A run that was cut short and resumed is the run that was never interrupted, bit for bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError, RecordError
from supple.record import Run, load_checkpoint, open_record

KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_resume import make_scene
import supple as sp
sp.run(make_scene(), until=100.0, out=sys.argv[1], record_every=0.02, checkpoint_every=0.05)
"""


def make_scene(**changes) -> sp.Scene:
    scene = sp.Scene(gravity=changes.pop("gravity", (0, 0, -9.81)))
    scene.add(sp.RigidBody.box((0.2, 0.1, 0.3), density=500), at=(0, 0, 1), spin=(1, 2, 3), name="box")
    chain = sp.Particles(
        np.c_[np.arange(5.0), np.zeros((5, 2))],
        0.1,
        springs=[(i, i + 1) for i in range(4)],
        stiffness=50,
        damping=0.1,
    )
    node = scene.add(chain, name=changes.pop("name", "chain"))
    scene.add(sp.FixedPoints(node, [0]))
    assert not changes
    return scene


def assert_same(a: Run, b: Run) -> None:
    assert a.state.t == b.state.t
    assert a.state.x.tobytes() == b.state.x.tobytes()
    assert a.state.v.tobytes() == b.state.v.tobytes()
    assert a.state.memory.keys() == b.state.memory.keys()
    assert all(a.state.memory[k].tobytes() == b.state.memory[k].tobytes() for k in a.state.memory)
    one, two = open_record(a.folder), open_record(b.folder)
    for name, column in one.columns.items():
        assert np.array_equal(column, two.columns[name]), name
    for body in one.body_names:
        for frame in range(len(one)):
            assert np.array_equal(one.points(body, frame), two.points(body, frame))
    assert np.array_equal(a.energies.total, b.energies.total)


@pytest.mark.parametrize(
    "solver",
    [
        lambda: sp.ImplicitEuler(0.01),
        lambda: sp.ImplicitEuler(0.01, newton=True),
        lambda: sp.Midpoint(0.01),
        lambda: sp.GeneralizedAlpha(0.01),
    ],
    ids=["implicit_euler", "newton", "midpoint", "generalized_alpha"],
)
def test_resumed_run_is_the_uninterrupted_one(tmp_path: Path, solver) -> None:
    whole = sp.run(make_scene(), until=0.6, out=tmp_path / "whole", solver=solver())
    sp.run(make_scene(), until=0.31, out=tmp_path / "parts", solver=solver())  # 0.31 s: between two frames
    parts = sp.run(make_scene(), until=0.6, out=tmp_path / "parts", solver=solver(), resume=True)
    assert parts.steps == whole.steps == 60
    assert_same(whole, parts)


def test_resumed_motor_is_the_uninterrupted_one(tmp_path: Path) -> None:
    def scene() -> sp.Scene:
        scene = sp.Scene(gravity=(0, 0, -9.81))
        rod = scene.add(sp.RigidBody.box((1.0, 0.1, 0.1), density=500), at=(0.5, 0, 0), name="rod")
        scene.add(sp.HingeJoint(rod, at=(0, 0, 0), axis=(0, 1, 0), motor_speed=lambda t: 4 + t, motor_torque=200))
        return scene

    whole = sp.run(scene(), until=2.0, out=tmp_path / "whole")
    sp.run(scene(), until=1.11, out=tmp_path / "parts")
    assert_same(whole, sp.run(scene(), until=2.0, out=tmp_path / "parts", resume=True))


@pytest.mark.parametrize("linear", ["cg", "direct"])
def test_resumed_finite_elements_are_the_uninterrupted_ones(tmp_path: Path, linear: str) -> None:
    rubber = sp.Material(young=1e5, poisson=0.3, density=1000, stiffness_damping=1e-3)

    def scene() -> sp.Scene:
        scene = sp.Scene(gravity=(0, 0, -9.81))
        scene.add(sp.FemBody(sp.box_tets(size=(0.4, 0.1, 0.1), cells=(4, 1, 1)), rubber), fix="x_min")
        return scene

    whole = sp.run(scene(), until=0.3, out=tmp_path / "whole", solver=sp.ImplicitEuler(0.01, linear=linear))
    sp.run(scene(), until=0.15, out=tmp_path / "parts", solver=sp.ImplicitEuler(0.01, linear=linear))
    parts = sp.run(
        scene(), until=0.3, out=tmp_path / "parts", solver=sp.ImplicitEuler(0.01, linear=linear), resume=True
    )
    assert_same(whole, parts)


def test_resuming_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    once = sp.run(make_scene(), until=0.31, out=tmp_path / "once")
    sp.run(make_scene(), until=0.31, out=tmp_path / "a")
    again = sp.run(make_scene(), until=0.31, out=tmp_path / "a", resume=True)
    assert again.outcome == "finished"
    assert open_record(tmp_path / "once").columns["residual"][-1] > 0
    assert_same(once, again)
    assert len(np.unique(open_record(tmp_path / "a").times)) == len(open_record(tmp_path / "a"))


def test_interrupted_run_resumes_to_the_same_bits(tmp_path: Path) -> None:
    def interrupt(state, report) -> None:
        if state.t > 0.25:
            raise KeyboardInterrupt

    whole = sp.run(make_scene(), until=0.5, out=tmp_path / "whole")
    cut = sp.run(make_scene(), until=0.5, out=tmp_path / "cut", on_step=interrupt)
    assert cut.outcome == "interrupted"
    assert cut.steps == 26
    assert open_record(tmp_path / "cut").times[-1] == cut.time
    assert_same(whole, sp.run(make_scene(), until=0.5, out=tmp_path / "cut", resume=True))


def test_killed_run_can_be_read_and_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(folder), str(Path(__file__).parent)])
    try:
        deadline = time.monotonic() + 60
        while not (folder / "checkpoint.npz").exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(0.2)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    record = open_record(folder)
    assert len(record) > 1
    assert np.isfinite(record.points("box", -1)).all()
    system = make_scene().compile()
    saved = load_checkpoint(folder / "checkpoint.npz", system, sp.ImplicitEuler(0.01))
    until = (saved.step + 30) * 0.01
    resumed = sp.run(make_scene(), until=until, out=folder, record_every=0.02, resume=True)
    whole = sp.run(make_scene(), until=until, out=tmp_path / "whole", record_every=0.02)
    assert_same(whole, resumed)


@pytest.mark.parametrize(
    ("changes", "arguments", "word"),
    [
        ({"name": "rope"}, {}, "bodies"),
        ({"gravity": (0, 0, -1.62)}, {}, "gravity"),
        ({}, {"dt": 0.005}, "dt"),
        ({}, {"solver": sp.Midpoint(0.01)}, "solver"),
    ],
)
def test_another_scene_is_refused(tmp_path: Path, changes, arguments, word) -> None:
    sp.run(make_scene(), until=0.1, out=tmp_path)
    frames = len(open_record(tmp_path))
    with pytest.raises(RecordError, match=word):
        sp.run(make_scene(**changes), until=0.2, out=tmp_path, resume=True, **arguments)
    assert len(open_record(tmp_path)) == frames


def test_resume_needs_a_folder_and_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="out="):
        sp.run(make_scene(), until=0.1, resume=True)
    with pytest.raises(RecordError, match="no checkpoint"):
        sp.run(make_scene(), until=0.1, out=tmp_path, resume=True)


def test_a_new_run_forgets_the_old_checkpoint(tmp_path: Path) -> None:
    sp.run(make_scene(), until=0.1, out=tmp_path)
    run = sp.run(make_scene(), until=0.05, out=tmp_path)
    saved = load_checkpoint(tmp_path / "checkpoint.npz", run.system, run.solver)
    assert saved.step == 5
