"""Controls of what all who look on share: they show what the simulation has."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

pytest.importorskip("nicegui")
from supple.studio.panels import run_panel
from supple.studio.panels.run_panel import SETTLED, Shared


class Control:
    """One that tells of changes as those of the page do."""

    def __init__(self) -> None:
        self.value = 1.0

    def on_value_change(self, act: Callable[[SimpleNamespace], None]) -> None:
        self.act = act

    def set_value(self, value: float) -> None:
        if value != self.value:
            self.value = value
            self.act(SimpleNamespace(value=value))


def test_a_control_shows_what_the_simulation_has(monkeypatch: pytest.MonkeyPatch) -> None:
    now, told = [100.0], list[float]()
    monkeypatch.setattr(run_panel, "monotonic", lambda: now[0])
    control = Control()
    shared = Shared(control, told.append)
    shared.show(1.0)
    control.set_value(0.5)  # by a person
    assert told == [0.5]
    shared.show(1.0)  # said before that was heard
    assert control.value == 0.5
    now[0] += 2 * SETTLED
    shared.show(1.0)  # another scene was opened meanwhile
    assert control.value == 1.0
    shared.show(2.0)  # another page has set it
    assert control.value == 2.0
    assert told == [0.5]
