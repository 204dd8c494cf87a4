"""What a person does to a scene that plays in a process of its own, saved as a scene file: it replays to the same bits.

How many steps each call of the solver takes, and before which of them a change or the pointer arrives, is left to the
clock here, as it is when somebody looks on.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.studio.process import wait_for

import supple as sp
from supple.studio.running_scene import RunningScene

WAIT = 120.0
DRAGS = 8
WATCHER, NEWEST = 1, 2**31


def beam_and_ball() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81), name="beam and ball")
    rubber = sp.Material(1e5, 0.3, 1000, stiffness_damping=0.002)
    mesh = sp.box_tets(size=(0.2, 0.05, 0.05), cells=(4, 2, 2))
    scene.add(sp.FemBody(mesh, rubber), fix="x_min", at=(0, 0, 0.3), name="beam")
    scene.add(sp.RigidBody.sphere(0.05, density=500), at=(0.0, 0.5, 0.05), name="ball")
    scene.add(sp.Floor())
    return scene


def above(x: float, y: float) -> np.ndarray:
    """What a page sends of a pointer that looks straight down at a place."""
    return np.array([x, y, 5.0, 0.0, 0.0, -1.0, 0.0, 0.0, -1.0])


def play_until(running: RunningScene, seconds: float) -> None:
    """Of the simulation's time."""
    wait_for(lambda: running.status["time"] >= seconds or bool(running.status["message"]), WAIT)
    assert not running.status["message"]


def lived(running: RunningScene) -> None:
    """A change, a pull whose end moves, another change while it holds, and some time without it."""
    numbers = {setting["title"]: number for number, setting in enumerate(running.settings)}
    running.tell("play")
    play_until(running, 0.1)
    running.tell("change", (numbers["Young's modulus of beam"], None, 1.7e5))
    running.tell("grab", (WATCHER, NEWEST, above(0.15, 0.025)))
    wait_for(lambda: running.status["pulls"] == 1, WAIT)
    for k in range(DRAGS):
        running.tell("drag", (WATCHER, NEWEST, above(0.15, 0.029 + 0.004 * k)))
        step = running.ask("state")["step"]  # when the simulation knows of it
        wait_for(lambda step=step: running.ask("state")["step"] > step, WAIT)
    running.tell("change", (numbers["Gravity"], 1, 0.7))
    play_until(running, running.status["time"] + 0.1)
    running.tell("release", (WATCHER, NEWEST, None))
    wait_for(lambda: running.status["pulls"] == 0, WAIT)
    play_until(running, running.status["time"] + 0.1)
    running.tell("pause")
    wait_for(lambda: not running.status["playing"], WAIT)


def test_what_was_done_while_it_played_replays_to_the_same_bits(tmp_path: Path) -> None:
    running = RunningScene(beam_and_ball)
    try:
        assert running.known.wait(WAIT)
        assert not running.failure
        wait_for(lambda: bool(running.settings and running.status), WAIT)
        lived(running)
        seen, saved = running.ask("state"), running.ask("save")
    finally:
        running.close()
    path = tmp_path / saved["name"]
    path.write_bytes(saved["data"])
    scene = sp.load(path)
    names = [event.name for event in scene.events]
    assert {"beam", "gravity"} <= set(names)
    assert sum(name.startswith("pull") for name in names) >= 1 + DRAGS + 1  # taken, moved, let go
    run = sp.run(scene, until=seen["time"], progress=False)
    assert run.steps == seen["step"]
    assert np.array_equal(run.state.x, seen["x"])
    assert np.array_equal(run.state.v, seen["v"])
    without = sp.run(beam_and_ball(), until=seen["time"], progress=False)
    assert np.abs(without.state.x - seen["x"]).max() > 1e-3  # [m]: what was done to it shows
