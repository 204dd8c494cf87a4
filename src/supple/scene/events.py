"""Events: changes of a running scene by the numbers of the steps at which they are made, so that a run can be repeated.

An event is a change (`supple.scene.changes`) before a step: its name and its values are those that a state keeps. A
pull is a spring that is added, whose end in the world moves by changes, and that is removed. A run that meets the same
events at the same steps ends in the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from supple.errors import InputError, check_instance, check_number
from supple.scene.changes import changes_of, repeat_change
from supple.scene.state import State

if TYPE_CHECKING:
    from supple.scene.system import System


@dataclass(frozen=True)
class Event:
    """A change that is made when so many steps are done. name, values: as in `supple.scene.changes.Change`."""

    step: int
    name: str
    values: dict[str, Any]


def events_of(state: State, dt: float) -> list[Event]:
    """The changes that led to a state, by steps of dt [s]."""
    return [Event(round(change.t / dt), change.name, change.values) for change in changes_of(state)]


def check_events(events: Iterable[Any], *, where: str = "scene, events") -> None:
    """Refuse what are no events, and steps that go backwards."""
    last = 0
    for number, event in enumerate(events):
        place = f"{where}[{number}]"
        check_instance(event, Event, "an Event", where=place)
        check_number(event.step, name="step", where=place, least=0, whole=True)
        if event.step < last:
            raise InputError(
                "the events go backwards", where=place, value=event.step, allowed=f">= {last}",
                fix="Give events in the order of their steps.",
            )  # fmt: skip
        last = event.step


@dataclass(eq=False)
class Schedule:
    """The events of a scene while it runs. done: how many were made."""

    events: Sequence[Event]
    done: int = 0

    def skip(self, step: int) -> None:
        """Those up to a step, itself included, were made by the run that this one goes on from."""
        while self.done < len(self.events) and self.events[self.done].step <= step:
            self.done += 1

    def steps_to_next(self, step: int, most: int) -> int:
        """How many steps, at most `most`, may be taken after a step until an event is due."""
        return most if self.done == len(self.events) else min(most, self.events[self.done].step - step)

    def make_due(self, system: System, state: State, step: int) -> None:
        """Make the events that are due after so many steps."""
        while self.done < len(self.events) and self.events[self.done].step <= step:
            event = self.events[self.done]
            try:
                repeat_change(system, state, event.name, event.values)
            except InputError as error:
                where = f"events[{self.done}], step {event.step}, {error.where or event.name}"
                raise InputError(
                    error.what, where=where, value=error.value, allowed=error.allowed, fix=error.fix
                ) from error
            self.done += 1
