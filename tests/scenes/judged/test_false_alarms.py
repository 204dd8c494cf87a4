"""Examples stay far from what ends a run: none has an element inside out, nor more than half of the energy allowed.

The table of the guide tells the part that each reaches; here it is read, and held.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

import supple as sp
from supple.errors import SuppleWarning
from supple.examples import registry
from supple.record.plausibility import GROWTH, INVERTED_LEAST, INVERTED_PART, Plausibility
from supple.scene.state import State

GUIDE = (Path(__file__).parents[3] / "docs" / "guide.md").read_text(encoding="utf-8")
HEAVY = {
    "letters",
    "dragon",
    "space-station",
    "oak",
    "garden",
}  # their modes take minutes to find where nothing is kept
PAST_THE_PEAK = {
    "bimaterial": 0.4,
    "bouncing-ball": 0.1,
    "chain": 0.3,
    "clapper": 0.3,
    "cloth": 0.1,
    "flower": 0.3,
    "gripper": 0.6,
    "hanging-beam": 0.2,
    "kicker": 0.8,
    "quadruped": 0.1,
    "rigid-on-springs": 0.1,
    "soft-ball": 0.45,
    "spin-up": 0.2,
    "stack": 0.3,
}
"""Time [s] by which an example has come as near to an alarm as it ever does."""


def told() -> dict[str, tuple[float, float]]:
    """The least and the largest part that the guide tells for each example."""
    parts = {}
    for names, text in re.findall(r"^\| ([a-z-]+(?:, [a-z-]+)*) \| (0\.[\d a-z.]+) \|$", GUIDE, re.M):
        numbers = [float(number) for number in re.findall(r"[\d.]+", text)]
        low = 0.0 if text.endswith("or less") else numbers[0]
        parts |= dict.fromkeys(names.split(", "), (low, numbers[-1]))
    return parts


def reached(name: str, until: float, monkeypatch: pytest.MonkeyPatch) -> float:
    """The largest part of the energy that ends a run. Work is estimated where the energy is above half of the limit
    without it: then it must bring it below."""
    guards: list[Plausibility] = []
    begin = Plausibility.__post_init__

    def watched(self: Plausibility, state: State) -> None:
        guards.append(self)
        begin(self, state)

    monkeypatch.setattr(Plausibility, "__post_init__", watched)
    example = registry()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        run = sp.run(example.make(), until=until, record_every=example.record_every, progress=False)
    assert run.inverted == 0
    return max(float(guard.reached) for guard in guards)


def test_the_guide_tells_of_every_example() -> None:
    assert told().keys() == registry().keys()
    assert max(high for _, high in told().values()) == 0.5
    assert registry().keys() == PAST_THE_PEAK.keys() | HEAVY


def test_the_guide_tells_the_rule() -> None:
    assert (GROWTH, INVERTED_PART, INVERTED_LEAST) == (10.0, 0.01, 12)
    for words in ("must not exceed ten times the sum", "more than 1 % of its elements", "if these are twelve or more"):
        assert words in " ".join(GUIDE.split())


@pytest.mark.parametrize("name", sorted(PAST_THE_PEAK))
def test_an_example_begins_far_from_an_alarm(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    low, high = told()[name]
    assert max(low, 1e-3) <= round(reached(name, PAST_THE_PEAK[name], monkeypatch), 2) <= high


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(registry()))
def test_an_example_stays_far_from_an_alarm(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    low, high = told()[name]
    assert max(low, 1e-3) <= round(reached(name, registry()[name].until, monkeypatch), 2) <= high
