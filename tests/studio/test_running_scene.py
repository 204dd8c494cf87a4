"""The simulation's process as the server sees it: one scene is opened in the place of another."""

from __future__ import annotations

import multiprocessing
import threading
from functools import partial
from multiprocessing.process import BaseProcess

import pytest
from tests.studio.process import wait_for

import supple as sp
from supple.errors import InputError
from supple.studio.running_scene import RunningScene

WAIT = 120.0
Processes = set[BaseProcess]


def ball(name: str, radius: float) -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81), name=name)
    scene.add(sp.RigidBody.sphere(radius, density=500), name=name)
    return scene


def broken() -> sp.Scene:
    raise InputError("there is no such scene", where="here")


@pytest.fixture
def others() -> Processes:
    """Processes of this one that were there before."""
    return set(multiprocessing.active_children())


def until_only(own: Processes, others: Processes) -> None:
    """Until no process is left beside these: one that was killed may take a while to be gone."""
    wait_for(lambda: set(multiprocessing.active_children()) - others == own, WAIT)


def test_another_scene_is_opened_in_place_of_the_present_one() -> None:
    running = RunningScene(partial(ball, "small", 0.1))
    try:
        assert running.known.wait(WAIT)
        assert running.header is not None
        assert running.header["name"] == "small"
        first = running.process
        running.open(partial(ball, "large", 0.5))
        wait_for(lambda: not first.is_alive(), WAIT)
        assert running.number == 2
        assert running.known.wait(WAIT)
        assert running.header is not None
        assert running.header["name"] == "large"
        assert running.newest(0) is not None
    finally:
        running.close()


def test_a_scene_that_cannot_be_opened_leaves_the_present_one(others: Processes) -> None:
    """Its process, frames and history; the one that failed leaves no process and no memory."""
    running = RunningScene(partial(ball, "small", 0.1))
    try:
        assert running.known.wait(WAIT)
        before = running.process
        running.tell("play")
        with pytest.raises(InputError, match=r"broken\.toml cannot be opened: here: there is no such scene"):
            running.open(broken, "broken.toml")
        assert running.process is before
        assert before.is_alive()
        assert running.number == 1
        assert not running.failure
        assert not running.opening
        found = running.newest(0)
        assert found is not None
        assert running.newest(found[0] - 1) is not None
        until_only({before}, others)
    finally:
        running.close()


def test_where_nothing_runs_the_failure_is_told() -> None:
    running = RunningScene(broken)
    try:
        assert running.known.wait(WAIT)
        assert "there is no such scene" in running.failure
        assert running.newest(0) is None
        running.open(partial(ball, "small", 0.1))
        assert running.known.wait(WAIT)
        assert not running.failure
        assert running.is_ready
    finally:
        running.close()


def test_what_is_wanted_last_is_opened(others: Processes) -> None:
    running = RunningScene(partial(ball, "small", 0.1))
    try:
        assert running.known.wait(WAIT)
        first = threading.Thread(target=running.open, args=(partial(ball, "middle", 0.2),))
        first.start()
        wait_for(lambda: bool(running.opening) or running.number > 1, WAIT)
        running.open(partial(ball, "large", 0.5))
        first.join(WAIT)
        assert running.header is not None
        assert running.header["name"] == "large"
        until_only({running.process}, others)
    finally:
        running.close()
    until_only(set(), others)
