"""The process of a simulation, called here as it calls itself: what a person saw, and how fast time passes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.studio.simulation import REMEMBERED, Simulation

SPEED = 20.0


class Pipe:
    """One that nobody listens at."""

    def send(self, message: Any) -> None:
        """Left."""

    def poll(self, seconds: float = 0.0) -> bool:
        time.sleep(seconds)
        return False


def thrown() -> sp.Scene:
    """A ball that flies along x by its own size in a few milliseconds."""
    scene = sp.Scene(gravity=(0, 0, 0), name="thrown", solver=sp.SymplecticEuler(2e-3))
    scene.add(sp.RigidBody.sphere(0.05, density=500), velocity=(SPEED, 0, 0), name="ball")
    return scene


class Clock:
    """Wall time [s] that passes where somebody waits or works, and by a little wherever one looks."""

    def __init__(self) -> None:
        self.now = time.perf_counter()

    def __call__(self) -> float:
        self.now += 1e-6
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def simulation() -> Iterator[Simulation]:
    found = Simulation(thrown(), Pipe())  # type: ignore[arg-type]
    found.framed = found.told = time.perf_counter()  # as `run` begins
    yield found
    found.close()


def above(x: float) -> np.ndarray:
    """What a page sends of a pointer that looks straight down at a place."""
    return np.array([x, 0.0, 5.0, 0.0, 0.0, -1.0, 0.0, 0.0, -1.0])


def seen(simulation: Simulation, frames: int) -> tuple[int, float]:
    """Number of a frame, and where the ball was in it; many more follow."""
    simulation._look()
    number, x = simulation.ring.newest, float(simulation.live.state.x[0])
    for _ in range(frames):
        simulation._take(5)
        simulation._look()
    return number, x


def test_a_fast_body_is_grabbed_where_it_was_seen(simulation: Simulation) -> None:
    number, x = seen(simulation, 30)
    now = float(simulation.live.state.x[0])
    assert now - x == pytest.approx(SPEED * 30 * 5 * 2e-3)
    held = simulation.live.pulls.held
    simulation.obey("grab", (1, simulation.ring.newest, above(x)))  # it is not there any more
    assert not held
    simulation.obey("grab", (1, number, above(x)))
    assert list(held) == [1]
    # the spring holds the point of the ball that was under the pointer, where the ball is now
    (start, _) = simulation.live.pulls.lines(simulation.live.state)[0]
    assert start == pytest.approx([now, 0.0, 0.05], abs=2e-3)


def test_a_frame_that_is_forgotten_is_the_present(simulation: Simulation) -> None:
    number, x = seen(simulation, REMEMBERED + 1)
    held = simulation.live.pulls.held
    simulation.obey("grab", (1, number, above(x)))
    assert not held
    simulation.obey("grab", (1, number, above(float(simulation.live.state.x[0]))))
    assert list(held) == [1]


@pytest.mark.parametrize("step", [0.0, 4e-3])
def test_the_speed_that_is_shown_is_simulated_over_wall_time(
    simulation: Simulation, step: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a scene that keeps up, and of one whose steps of 2 ms take 4 ms and more."""
    take, clock = simulation.live.take, Clock()
    for module in ("simulation", "live.live_run"):
        monkeypatch.setattr(f"supple.studio.{module}.perf_counter", clock)
    monkeypatch.setattr(simulation.pipe, "poll", clock.wait)
    simulation.framed = simulation.told = clock()

    def slowly(steps: int) -> None:
        take(steps)
        clock.wait(step * steps)

    simulation.live.take = slowly  # type: ignore[method-assign]
    simulation.obey("speed", 0.25 if step == 0.0 else 1.0)
    played = clock()
    simulation.obey("play", None)
    for _ in range(3):
        simulation._tell()
        t, begun = simulation.live.state.t, clock()
        while clock() - begun < 0.6:
            simulation._play()
        simulation._tell()
        real = (simulation.live.state.t - t) / (clock() - begun)
        assert simulation.status.speed == pytest.approx(real, rel=0.02)  # a step lasts 8 ms of 600
    # no faster than it was asked for, or can be
    fastest = 0.25 if step == 0.0 else 0.5
    assert simulation.live.state.t <= fastest * (clock() - played) + simulation.live.dt


def test_the_speed_of_long_steps_is_told_while_they_are_taken(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of 2 ms that take a second: what is told four times meanwhile is the speed of the last one, not none. Where
    nothing is done for long, it is none."""
    clock = Clock()
    monkeypatch.setattr("supple.studio.simulation.perf_counter", clock)
    simulation.obey("play", None)
    told = []
    for _ in range(3):
        for _ in range(4):
            clock.wait(0.25)
            simulation._tell()
            told.append(simulation.status.speed)
        simulation._take(1)
        simulation._tell()
    assert told[4:] == pytest.approx([2e-3] * 8, rel=1e-3)
    clock.wait(4.0)
    simulation._tell()
    assert simulation.status.speed == 0.0


def test_the_speed_of_slow_motion_does_not_flicker(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step each 0.1 s: words each 0.2 s come after one, two or three steps, and tell the same."""
    clock, told = Clock(), []
    monkeypatch.setattr("supple.studio.simulation.perf_counter", clock)
    simulation.obey("play", None)
    for early in (0.0, 0.02, 0.0, 0.03, 0.0):
        clock.wait(0.1)
        simulation._take(1)
        clock.wait(0.1)
        simulation._take(1)
        clock.wait(early)
        simulation._tell()
        told.append(simulation.status.speed)
        clock.wait(0.1 - early)
        simulation._take(1)
    assert told == pytest.approx([2e-2] * 5, rel=1e-3)


def test_the_energy_that_is_told_is_that_of_what_is_seen(simulation: Simulation) -> None:
    """From the start on, and where one stops and steps."""
    body = simulation.live.system.bodies[0].body
    energy = 0.5 * body.total_mass * SPEED**2
    assert simulation.status.kinetic == pytest.approx(energy)
    simulation.live.state.v[:3] *= 2.0
    simulation.obey("step", None)
    assert simulation.status.kinetic == pytest.approx(4.0 * energy)
    simulation.live.state.v[:3] *= 0.5
    simulation.obey("pause", None)
    assert simulation.status.kinetic == pytest.approx(energy)
