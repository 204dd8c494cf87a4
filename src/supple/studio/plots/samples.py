"""Samples: energies, momenta, centre of mass and points that a person has clicked on, at some frames of a simulation.

A row has the numbers `COLUMNS`, then for each of `POINTS` places its position and its speed; what is not known is not
a number. While somebody looks at plots, rows are made at frames, within a small share of the time; else only where the
simulation judges its energy anyway.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.record.measures import Measures, measure
from supple.scene.mapped.points import PointSet
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System
from supple.studio.due import Due
from supple.studio.plots.columns import COLUMNS, POINT_WIDTH, POINTS, WIDTH

Array = np.ndarray
EVERY, TELL = 1 / 64, 0.1
"""Least wall time between rows, and between messages [s]."""
SHARE = 0.03
"""Most of the wall time that measuring may take."""


@dataclass(frozen=True, eq=False)
class TrackedPoint:
    """A point of a body. number: of all that were ever followed; name: what a person reads."""

    number: int
    name: str
    slot: Slot
    points: PointSet

    def at(self, state: State) -> Array:
        """Position [m] and speed [m/s], (4,)."""
        x, v = self.slot.view_x(state.x), self.slot.view_v(state.v)
        if self.points.mapping is None:
            place, velocity = x[0, :3], v[0, :3]
        else:
            tangent = self.points.mapping.linearize(x)
            place, velocity = self.points.mapping.apply(x)[0], tangent.product(v)[0]
        return np.array([*place, np.linalg.norm(velocity)])


class Samples:
    """Rows that were not told yet. is_wanted: whether somebody looks at plots."""

    def __init__(self) -> None:
        self.points: list[TrackedPoint | None] = [None] * POINTS
        self.numbers, self.run = itertools.count(1), 0
        self.rows: list[Array] = []
        self.is_wanted = False
        self.due, self.told = Due(EVERY, SHARE), 0.0
        self.last_time, self.is_stale = -1.0, True

    def begin(self) -> None:
        """The scene begins anew; points that were followed are followed on."""
        self.run += 1
        self.rows, self.last_time, self.is_stale = [], -1.0, True

    def track(self, name: str, slot: Slot, points: PointSet) -> None:
        """Follow a point of a body, in the place of the one that has been followed longest where there are too many."""
        number = next(self.numbers)
        point = TrackedPoint(number, f"{name}, point {number}", slot, points)
        free = [k for k, held in enumerate(self.points) if held is None]
        oldest = min(range(POINTS), key=lambda k: 0 if (held := self.points[k]) is None else held.number)
        self.points[free[0] if free else oldest] = point
        self.is_stale = True

    def untrack(self, number: Any) -> None:
        """Follow the point of a number no more."""
        self.points = [None if held is not None and held.number == number else held for held in self.points]
        self.is_stale = True

    def places(self, state: State) -> Array:
        """Where the points are that are followed, (n, 4) [m]: which of the places it has, x, y, z."""
        held = [(k, point.at(state)) for k, point in enumerate(self.points) if point is not None]
        return np.array([(k, *at[:3]) for k, at in held]).reshape(-1, 4)

    def at_frame(self, system: System, state: State, clock: Callable[[], float]) -> Measures | None:
        """What is measured where somebody looks and there is time for it."""
        if not self.is_wanted or (begun := clock()) < self.due.at:
            return None
        measures = measure(system, state)
        self.add(state, measures)
        self.due.pay(begun, clock())
        return measures

    def add(self, state: State, measures: Measures) -> None:
        """A row of what was measured at a state, once a moment."""
        if state.t == self.last_time:
            return
        self.last_time = state.t
        row = np.full(WIDTH, np.nan)
        row[: len(COLUMNS)] = [
            state.t, measures.kinetic, measures.potential - measures.outer, measures.outer,
            *measures.momentum, *measures.centre_of_mass,
        ]  # fmt: skip
        for k, point in enumerate(self.points):
            if point is not None:
                start = len(COLUMNS) + k * POINT_WIDTH
                row[start : start + POINT_WIDTH] = point.at(state)
        self.rows.append(row)

    def tell(self, now: float, send: Callable[[tuple[str, Any]], None]) -> None:
        """Send rows that are new, and which points are followed, where it is time for it."""
        if now - self.told < TELL or not (self.rows or self.is_stale):
            return
        points = [None if held is None else {"number": held.number, "name": held.name} for held in self.points]
        rows = np.array(self.rows).reshape(-1, WIDTH)
        send(("plots", {"run": self.run, "points": points, "rows": rows}))
        self.rows, self.told, self.is_stale = [], now, False
