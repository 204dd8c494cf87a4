"""Events in scene files: read, written again, and refused where they are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError, SuppleError
from supple.scene.changes import changes_of
from supple.scene.events import Event, events_of

SCENE = """
supple = 1
gravity = [0, 0, -9.81]

[[bodies]]
name = "ball"
kind = "rigid"
sphere = { radius = 0.05 }
density = 500

[solver]
kind = "midpoint"
dt = 0.01
"""
EVENTS = """
[[events]]
step = 3
change = "gravity"
values = { value = [0, 0, 0.1] }

[[events]]
step = 5
pull = "hand"
body = "ball"
local = [0, 0, 0.05]
end = [0, 0, 0.3]
stiffness = 20
damping = 0.1

[[events]]
step = 7
pull = "hand"
end = [0.1, 0.1234567890123456789, 0.3]

[[events]]
step = 9
release = "hand"
"""


def load(folder: Path, events: str) -> sp.Scene:
    path = folder / "ball.toml"
    path.write_text(SCENE + events)
    return sp.load(path)


def test_events_act_and_come_back(tmp_path: Path) -> None:
    scene = load(tmp_path, EVENTS)
    assert [event.step for event in scene.events] == [3, 5, 7, 9]
    run = sp.run(scene, until=0.15, progress=False)
    # gravity turns at the third step, and the hand pulls for four: p = m g t + k d t up to what the ball moves
    done = changes_of(run.state)
    assert [round(change.t / 0.01) for change in done] == [3, 5, 7, 9]
    assert run.state.v[2] > 0.0
    assert run.state.v[0] > 0.0
    for suffix in (".toml", ".json"):
        again = tmp_path / f"again{suffix}"
        sp.save(scene, again)
        other = sp.load(again)
        assert other.events == scene.events
        assert np.array_equal(sp.run(other, until=0.15, progress=False).state.x, run.state.x)
    repeated = load(tmp_path, "")
    repeated.events = events_of(run.state, 0.01)
    assert np.array_equal(sp.run(repeated, until=0.15, progress=False).state.x, run.state.x)


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ('step = 1\nchange = "moon"\nvalues = { value = 1 }', "nothing of that name.*moon.*ball, gravity"),
        ('step = 1\nchange = "gravity"\nvalues = { value = [0, 0, nan] }', "not finite"),
        ('step = 1\nchange = "gravity"\nvalues = {}', "nothing is changed"),
        ('step = 1\nchange = "gravity"', "values.*the key is missing"),
        ('step = -1\nchange = "gravity"\nvalues = { value = [0, 0, 1] }', "is not the number of a step"),
        ('step = 1.5\nchange = "gravity"\nvalues = { value = [0, 0, 1] }', "is not the number of a step"),
        ('step = 1\npull = "hand"\nend = [0, 0, 0]', "no pull of that name has begun"),
        ('step = 1\nrelease = "hand"', "no pull of that name has begun"),
        ('step = 1\npull = "hand"\nbody = "bell"\nlocal = [0, 0, 0]\nend = [0, 0, 0]\nstiffness = 1', "no body of"),
        ('step = 1\npull = "hand"\nbody = "ball"\nend = [0, 0, 0]\nstiffness = 1', "one of local, numbers"),
        ('step = 1\npull = "hand"\nbody = "ball"\nlocal = [0, 0, 0]\nend = [0, inf, 0]\nstiffness = 1', "not finite"),
        ('step = 1\npull = "hand"\nbody = "ball"\nlocal = [0, 0, 0]\nend = [0, 0, 0]\nstiffness = -1', "is negative"),
        ('step = 1\npull = "gravity"\nbody = "ball"\nlocal = [0, 0, 0]\nend = [0, 0, 0]\nstiffness = 1', "already"),
        ('step = 1\nchange = "gravity"\nrelease = "hand"\nvalues = { value = 1 }', "exclude each other"),
        ('step = 1\nchange = "gravity"\nvalues = { value = [0, 0, 1] }\nend = [0, 0, 0]', "does not go with 'change'"),
        ("step = 1", "one of change, pull, release"),
    ],
)  # fmt: skip
def test_bad_events_are_refused(events: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SuppleError, match=f"ball.toml, events.*{said}"):
        load(tmp_path, f"[[events]]\n{events}\n")


def test_events_that_go_backwards_are_refused(tmp_path: Path) -> None:
    one = '[[events]]\nstep = {}\nchange = "gravity"\nvalues = {{ value = [0, 0, 1] }}\n'
    with pytest.raises(SuppleError, match=r"events\[1\].step.*go backwards.*>= 5"):
        load(tmp_path, one.format(5) + one.format(4))
    scene = load(tmp_path, "")
    scene.events = [Event(5, "gravity", {"value": [0, 0, 1]}), Event(4, "gravity", {"value": [0, 0, 1]})]
    with pytest.raises(InputError, match="go backwards"):
        sp.run(scene, until=0.1, progress=False)
    scene.events = [Event(0, "gravity", {"value": [0, 0, np.nan]})]
    with pytest.raises(InputError, match=r"events\[0\], step 0.*finite"):
        sp.run(scene, until=0.1, progress=False)
    scene.events = [Event(2, "moon", {"value": 1.0})]
    with pytest.raises(InputError, match=r"events\[0\], step 2.*nothing of that name"):
        sp.run(scene, until=0.1, progress=False)


def test_a_file_has_bodies_or_names_an_example(tmp_path: Path) -> None:
    path = tmp_path / "other.toml"
    path.write_text("supple = 1\n")
    with pytest.raises(SuppleError, match=r"bodies.*missing"):
        sp.load(path)
    path.write_text('supple = 1\nexample = "chain"\ngravity = [0, 0, 1]\n')
    with pytest.raises(SuppleError, match="does not go with 'example'"):
        sp.load(path)
