"""Samples for plots: what is measured against closed forms, what is kept, what a page is told."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.record.measures import measure
from supple.studio.plots.columns import COLUMNS, POINT_WIDTH, POINTS, WIDTH
from supple.studio.plots.samples import SHARE, Samples
from supple.studio.plots.traces import Traces
from supple.studio.pulling import point_at

G = 9.81


def spinning() -> tuple[Any, Any]:
    """A ball that is thrown and spins."""
    scene = sp.Scene(gravity=(0, 0, -G))
    ball = sp.RigidBody.sphere(0.1, density=500)
    scene.add(ball, at=(1.0, 0, 2.0), velocity=(3.0, 0, 0), spin=(0, 0, 4.0), name="ball")
    system = scene.compile()
    return system, system.initial_state()


def told(traces: Traces, generation: int = -1, end: int = 0) -> tuple[dict[str, Any], np.ndarray, int, int]:
    found = traces.since(generation, end)
    assert found is not None
    generation, end, message = found
    (length,) = struct.unpack_from("<I", message)
    assert (4 + length) % 8 == 0
    rows = np.frombuffer(message, "<f8", offset=4 + length).reshape(-1, WIDTH)
    return json.loads(message[4 : 4 + length]), rows, generation, end


def test_a_row_has_energies_momenta_centre_and_points() -> None:
    system, state = spinning()
    samples, traces = Samples(), Traces()
    slot = system.bodies[0]
    samples.track("ball", slot, point_at(slot.node, np.array([1.0, 0.1, 2.0])))
    samples.begin()
    samples.add(state, measure(system, state))
    samples.add(state, measure(system, state))  # once a moment
    samples.tell(1.0, lambda message: traces.add(message[1]))
    about, rows, *_ = told(traces)
    assert [point and point["name"] for point in about["points"]] == ["ball, point 1", None, None, None]
    assert len(rows) == 1
    row = dict(zip(COLUMNS, rows[0]))
    mass = slot.body.total_mass
    assert row["gravity"] == pytest.approx(mass * G * 2.0)
    assert row["elastic"] == 0.0
    assert row["momentum x"] == pytest.approx(3.0 * mass)
    assert (row["centre x"], row["centre z"]) == pytest.approx((1.0, 2.0))
    assert row["angular y"] == pytest.approx(2.0 * 3.0 * mass)
    spin = row["angular z"]  # I w about its own axis
    assert row["kinetic"] == pytest.approx(0.5 * mass * 9 + 0.5 * spin * 4.0)
    point = rows[0][len(COLUMNS) : len(COLUMNS) + POINT_WIDTH]
    # v = (3, 0, 0) + w x r, r = (0, 0.1, 0)
    assert point == pytest.approx([1.0, 0.1, 2.0, 3.0 - 0.4])
    assert np.isnan(rows[0][len(COLUMNS) + POINT_WIDTH :]).all()


def test_nothing_is_measured_at_frames_while_nobody_looks_and_little_else() -> None:
    system, state = spinning()
    samples, clock = Samples(), iter(np.arange(0.0, 100.0, 0.01))  # measuring takes 10 ms of this clock
    now = lambda: float(next(clock))  # noqa: E731
    samples.at_frame(system, state, now)
    assert not samples.rows
    samples.is_wanted = True
    for k in range(200):
        state.t = 0.01 * k
        samples.at_frame(system, state, now)
    passed = now()
    assert 0 < len(samples.rows) * 0.01 <= 1.2 * SHARE * passed + 0.01


def test_pages_are_told_what_is_new_and_all_of_another_run() -> None:
    traces = Traces(most=5)
    row = np.arange(float(WIDTH))
    none: list[Any] = [None] * POINTS
    traces.add({"run": 1, "points": none, "rows": np.stack([row, row + 1])})
    about, rows, generation, end = told(traces)
    assert about["anew"]
    assert len(rows) == 2
    assert traces.since(generation, end) is None
    traces.add({"run": 1, "points": none, "rows": np.stack([row + 2])})
    about, rows, generation, end = told(traces, generation, end)
    assert not about["anew"]
    assert rows[:, 0].tolist() == [2.0]
    traces.add({"run": 1, "points": none, "rows": np.stack([row + k for k in range(3, 9)])})
    _, rows, generation, end = told(traces, generation, end)
    assert rows[:, 0].tolist() == [4.0, 5.0, 6.0, 7.0, 8.0]  # the rest is not kept
    traces.add({"run": 1, "points": [{"number": 1, "name": "a"}, None, None, None], "rows": np.zeros((0, WIDTH))})
    about, rows, generation, end = told(traces, generation, end)
    assert about["anew"]
    assert np.isnan(rows[:, len(COLUMNS) : len(COLUMNS) + POINT_WIDTH]).all()
    traces.add({"run": 2, "points": none, "rows": np.stack([row])})
    about, rows, *_ = told(traces, generation, end)
    assert about["anew"]
    assert len(rows) == 1


def test_the_oldest_point_goes_where_there_are_too_many() -> None:
    system, _ = spinning()
    slot = system.bodies[0]
    samples = Samples()
    for _ in range(POINTS + 1):
        samples.track("ball", slot, point_at(slot.node, np.array([1.0, 0.1, 2.0])))
    assert sorted(held.number for held in samples.points if held) == [2, 3, 4, 5]
    samples.untrack(3)
    samples.untrack("nothing")
    assert sorted(held.number for held in samples.points if held) == [2, 4, 5]
