"""The simulation's process as the server sees it: one scene is opened in the place of another."""

from __future__ import annotations

from functools import partial

import supple as sp
from supple.errors import InputError
from supple.studio.running_scene import RunningScene

WAIT = 120.0


def ball(name: str, radius: float) -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81), name=name)
    scene.add(sp.RigidBody.sphere(radius, density=500), name=name)
    return scene


def broken() -> sp.Scene:
    raise InputError("there is no such scene", where="here")


def test_another_scene_is_opened_in_place_of_the_present_one() -> None:
    running = RunningScene(partial(ball, "small", 0.1))
    try:
        assert running.known.wait(WAIT)
        assert running.header is not None
        assert running.header["name"] == "small"
        first = running.process
        running.open(partial(ball, "large", 0.5))
        assert not first.is_alive()
        assert running.number == 2
        assert running.known.wait(WAIT)
        assert running.header is not None
        assert running.header["name"] == "large"
        assert running.newest(0) is not None
        running.open(broken)
        assert running.known.wait(WAIT)
        assert "there is no such scene" in running.failure
        assert running.newest(0) is None
        running.open(partial(ball, "small", 0.1))
        assert running.known.wait(WAIT)
        assert not running.failure
        assert running.is_ready
    finally:
        running.close()
