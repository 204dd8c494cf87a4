"""Examples stay far from what ends a run: none has an element inside out, nor more than half of the energy allowed."""

from __future__ import annotations

import warnings

import pytest

import supple as sp
from supple.errors import SuppleWarning
from supple.examples import registry
from supple.record.plausibility import Plausibility
from supple.scene.state import State

SHORT = (
    "bimaterial",
    "bouncing-ball",
    "clapper",
    "cloth",
    "flower",
    "hanging-beam",
    "kicker",
    "quadruped",
    "soft-ball",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_an_example_stays_far_from_an_alarm(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is estimated where the energy is above half of the limit without it: then it must bring it below."""
    guards: list[Plausibility] = []
    begin = Plausibility.__post_init__

    def watched(self: Plausibility, state: State) -> None:
        guards.append(self)
        begin(self, state)

    monkeypatch.setattr(Plausibility, "__post_init__", watched)
    example = registry()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        run = sp.run(example.make(), until=example.until, record_every=example.record_every, progress=False)
    assert run.inverted == 0
    assert 0.0 < max(guard.reached for guard in guards) <= 0.5
