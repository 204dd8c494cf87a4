"""What is seen in the studio is kept as `supple run --out` keeps a run: frames, changes, pulls, checkpoints."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.studio.test_live_run import SCENES, fem, seen, towards

import supple as sp
from supple.errors import DivergenceError, RecordError
from supple.record.reader import open_record
from supple.scene.events import events_of
from supple.studio.live.live_run import LiveRun
from supple.studio.live.recording import Recording, next_folder

EVERY = 0.02


def recorded(folder: Path, **options: bool) -> LiveRun:
    live = LiveRun(fem())
    live.record(Recording(folder, EVERY, **options))
    return live


def advance(live: LiveRun, steps: int) -> None:
    """All of them: a call takes those to the next frame at most."""
    last = live.step + steps
    while live.step < last:
        live.take(last - live.step)


def test_a_record_is_that_of_a_run(tmp_path: Path) -> None:
    """Whatever the strides; and it goes on as a run does."""
    live = recorded(tmp_path / "seen")
    for steps in (1, 7, 30, 2, 20):
        advance(live, steps)
    live.end()
    until, seen_steps = live.state.t, live.step
    run = sp.run(fem(), until=until, out=tmp_path / "run", record_every=EVERY, progress=False)
    found, own = open_record(tmp_path / "seen"), open_record(tmp_path / "run")
    assert found.about == own.about
    for name, column in own.columns.items():
        assert np.array_equal(found.columns[name], column), name
    assert np.array_equal(found.points("beam", -1), own.points("beam", -1))
    assert np.array_equal(found.state(seen_steps).x, run.state.x)
    assert (tmp_path / "seen" / "checkpoint.npz").is_file()
    again = {"until": until + 0.1, "record_every": EVERY, "resume": True, "progress": False}
    on, whole = (sp.run(fem(), out=tmp_path / name, **again) for name in ("seen", "run"))  # type: ignore[arg-type]
    assert np.array_equal(on.state.x, whole.state.x)


@pytest.mark.parametrize("name", ["fem", "rigid"])
def test_changes_and_pulls_are_in_the_record(name: str, tmp_path: Path) -> None:
    make, title, value = SCENES[name]
    live = LiveRun(make())
    live.record(Recording(tmp_path, EVERY))
    seen(live, title, value)
    live.end()
    found = open_record(tmp_path)
    names = [change.name for change in found.changes()]
    assert names == [event.name for event in events_of(live.state, live.dt)]
    assert "gravity" in names
    assert sum(name.startswith("pull") for name in names) > 3
    last = found.state(live.step)
    assert np.array_equal(last.x, live.state.x)


def test_each_start_has_a_record_of_its_own(tmp_path: Path) -> None:
    live = recorded(tmp_path)
    live.reset()  # nothing has happened yet
    live.take(5)
    first = live.state.t
    live.reset()
    live.reset()
    assert next_folder(tmp_path) == tmp_path / "run-2"
    advance(live, 60)
    live.reset()
    live.take(1)
    live.end()
    assert open_record(tmp_path).times[-1] == first
    assert len(open_record(tmp_path / "run-2")) > 3
    assert len(open_record(tmp_path / "run-3")) == 2
    other = recorded(tmp_path, is_first=False)  # another scene in the same studio
    other.take(1)
    other.end()
    assert open_record(tmp_path).times[-1] == first
    assert (tmp_path / "run-4").is_dir()


def test_a_kill_leaves_the_frames_that_were_written(tmp_path: Path) -> None:
    live = recorded(tmp_path)
    advance(live, 60)
    assert live.recording is not None
    assert live.recording.writer is not None
    live.recording.writer.write()  # as after half a second
    left = shutil.copy(tmp_path / "record.vtkhdf", tmp_path / "left.vtkhdf")  # though nobody has closed it
    found = open_record(left)
    assert found.times[-1] == pytest.approx(live.state.t, abs=EVERY)
    live.end()


def test_a_run_that_diverges_keeps_its_last_good_state(tmp_path: Path) -> None:
    live = recorded(tmp_path)
    advance(live, 40)
    kept = live.step
    live.state.v[:] = 1e9
    with pytest.raises(DivergenceError):
        advance(live, 1000)
    assert live.step >= kept - 20
    live.end()
    found = open_record(tmp_path)
    assert found.times[-1] == live.state.t
    assert np.isfinite(found.points("beam", -1)).all()


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path) -> None:
    live = recorded(tmp_path)
    with pytest.raises(RecordError, match="another run is writing"):
        recorded(tmp_path)
    advance(live, 40)

    def refuse(*given: object) -> None:
        raise RecordError("the disk is full", where="here")

    assert live.recording is not None
    assert live.recording.writer is not None
    live.recording.writer.append = refuse  # type: ignore[method-assign]
    advance(live, 40)
    before = live.step
    advance(live, 40)  # it goes on
    assert live.step > before
    assert "the disk is full" in live.lost
    assert "goes on without it" in live.lost
    assert len(open_record(tmp_path)) > 1


def test_strength_is_kept_when_a_scene_begins_anew() -> None:
    live = LiveRun(fem())
    live.strengthen(5.0)
    live.reset()
    place = live.show.surfaces[0].points(live.state).astype(float).mean(axis=0)
    place[0] += 0.05
    live.grab(1, towards(place, place), live.state)
    force = next(bound.force for bound in live.system.forces if bound.label == live.pulls.held[1].name)
    live.strengthen(1.0)
    mass = live.show.surfaces[0].slot.body.total_mass
    assert force.stiffness == pytest.approx(5 * live.pulls.stiffness(mass))
