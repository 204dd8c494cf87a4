"""Measures: what a design is judged by, one number of a trial each.

moved    = centre(end) - centre(since)           linear in time between frames
travel   = |moved_xy|          forward = moved_x          speed = travel / (end - since)
height   = max over frames of centre_z - centre_z(since), at least 0
energy   = work that the muscles did, see `muscle_work`: what they got back does not count
contact_time = the time from each frame in which the robot touches something to the next
score    = what the arena itself scores, such as a task
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from supple.design.content import function_name, named_function
from supple.errors import NOT_NUMBERS, InputError, check_choice, check_flag, check_instance

if TYPE_CHECKING:
    from supple.design.trial import Trial

Array = np.ndarray
WORST = 1e9


@dataclass(frozen=True)
class Measure:
    """One number of a trial. unit: as people read it. function(trial) -> float, at the top of a module, so that other
    processes find it. better: "more" or "less". works: whether it needs `Trial.work`, which takes time to be summed.

    >>> MEASURES["travel"].unit, MEASURES["energy"].worst
    ('m', 1000000000.0)
    """

    name: str
    unit: str
    function: Callable[[Trial], float]
    better: Literal["more", "less"] = "more"
    works: bool = False

    def __post_init__(self) -> None:
        for text in (self.name, self.unit):
            check_instance(text, str, "a text", where="measure, name and unit")
        if not callable(self.function):
            raise InputError("the measure is not a function", where=f"measure '{self.name}'", value=self.function)
        check_choice(self.better, ("more", "less"), "choice", where=f"measure '{self.name}', better")
        check_flag(self.works, name="works", where=f"measure '{self.name}'")

    @property
    def worst(self) -> float:
        """What designs score that did not finish."""
        return -WORST if self.better == "more" else WORST

    def of(self, trial: Trial) -> float:
        """The score of a trial; an InputError where it is not a finite number."""
        value = self.function(trial)
        try:
            score = float(value)
        except NOT_NUMBERS:
            score = math.nan
        if not math.isfinite(score):
            raise InputError("the measure did not give a finite number", where=f"measure '{self.name}'", value=value,
                             fix="Return a finite number for every run that came to its end.")  # fmt: skip
        return score


def displacement(times: Array, centres: Array, since: float) -> Array:
    """How far a centre of mass has moved since a time [s] until the last frame, (3,) [m].

    times (frames,) [s]; centres (frames, 3) [m].
    """
    start = np.array([np.interp(since, times, centres[:, axis]) for axis in range(3)])
    return np.asarray(centres[-1] - start)


def distance_along_ground(moved: Array) -> float:
    """Of a displacement (3,) [m], what is level [m]."""
    x, y = map(float, moved[:2])
    return math.sqrt(x * x + y * y)  # hypot differs between processors in the last bit


def measure_travel(trial: Trial) -> float:
    """How far the robot is from where it was at `since`, along the ground [m]."""
    return distance_along_ground(displacement(trial.times, trial.centres, trial.since))


def measure_forward(trial: Trial) -> float:
    """How far the robot has come along +x [m]."""
    return float(displacement(trial.times, trial.centres, trial.since)[0])


def measure_speed(trial: Trial) -> float:
    """Travel over time [m/s]."""
    return measure_travel(trial) / float(trial.times[-1] - trial.since)


def measure_height(trial: Trial) -> float:
    """How far the robot's centre rose above where it was at `since`, at most [m]."""
    start = float(np.interp(trial.since, trial.times, trial.centres[:, 2]))
    return max(0.0, float(trial.centres[_measured(trial), 2].max()) - start)


def measure_energy(trial: Trial) -> float:
    """The work that the muscles did [J]."""
    if trial.work is None:
        raise InputError("the work of the muscles was not summed", where="measure 'energy'",
                         fix="Ask for the measure 'energy' itself, or for a Measure(..., works=True).")  # fmt: skip
    return trial.work


def measure_contact_time(trial: Trial) -> float:
    """How long the robot touched something [s], to the time between frames."""
    chosen = _measured(trial)
    return float(np.diff(trial.times[chosen]) @ trial.contacts[chosen][:-1])


def measure_score(trial: Trial) -> float:
    """The score of an arena that has one of its own, such as a task, in the task's unit."""
    if trial.judge is None:
        raise InputError("the arena has no score of its own", where="measure 'score'",
                         value=type(trial.arena).__name__, allowed="a task")  # fmt: skip
    return trial.judge.score


def _measured(trial: Trial) -> Array:
    """Which frames are measured, (frames,); those from `since` on, round-off aside."""
    return np.asarray(trial.times >= trial.since - 1e-9 * float(trial.times[-1]))


MEASURES = {
    one.name: one
    for one in (
        Measure("travel", "m", measure_travel),
        Measure("forward", "m", measure_forward),
        Measure("speed", "m/s", measure_speed),
        Measure("height", "m", measure_height),
        Measure("energy", "J", measure_energy, "less", works=True),
        Measure("contact_time", "s", measure_contact_time),
        Measure("score", "", measure_score),
    )
}


def measure_of(given: Any) -> Measure:
    """A measure from its name, from "module:function", or from a function(trial) -> float at the top of a module.

    >>> measure_of("travel").name
    'travel'
    """
    if isinstance(given, str) and given in MEASURES:
        return MEASURES[given]
    found = named_function(given, where="measure") if isinstance(given, str) and ":" in given else given
    if isinstance(found, Measure):
        return found
    if not callable(found):
        near = difflib.get_close_matches(str(given), MEASURES, n=1)
        raise InputError("no measure of that name", where="measures", value=given,
                         allowed=f"{', '.join(MEASURES)}, module:function, a function of a trial",
                         fix=f"Did you mean {near[0]}?" if near else "")  # fmt: skip
    return Measure(function_name(found, where="measure").rpartition(":")[2], "", found)


def measures_of(given: Any) -> tuple[Measure, ...]:
    """One measure or several, each as `measure_of` takes it; their names differ."""
    several = [given] if isinstance(given, str | Measure) or not np.iterable(given) else list(given)
    found = tuple(measure_of(one) for one in several)
    names = [one.name for one in found]
    if not found or len(set(names)) < len(names):
        raise InputError("measures are one or more, of different names", where="measures", value=names)
    return found
