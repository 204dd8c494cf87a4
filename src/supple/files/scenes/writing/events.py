"""Events of a scene as tables of a scene file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supple.errors import InputError
from supple.files.scenes.writing.values import Table
from supple.scene.changing.couplings import ADDED, REMOVED
from supple.scene.changing.in_place import END
from supple.scene.changing.layout import BROKEN
from supple.scene.events import Event, check_events


def describe_events(events: Sequence[Event]) -> list[Table]:
    """A table each; an InputError for those that a file cannot hold."""
    check_events(events)
    pulls: set[str] = set()
    return [{"step": event.step} | _table(event, pulls, f"events[{k}]") for k, event in enumerate(events)]


def _table(event: Event, pulls: set[str], where: str) -> Table:
    values = event.values
    if ADDED in values and _is_pull(values[ADDED]):
        pulls.add(event.name)
        return {"pull": event.name} | _begun(values[ADDED])
    if event.name in pulls and set(values) == {END}:
        return {"pull": event.name, "end": values[END][0]}
    if event.name in pulls and REMOVED in values:
        pulls.discard(event.name)
        return {"release": event.name}
    if {ADDED, REMOVED, BROKEN, END} & set(values):
        raise InputError(
            "a scene file cannot hold this event", where=where, value=event.name,
            allowed="changes of values, and pulls: springs of rest length 0 from one point of a body to the world",
            fix="Repeat it in Python, by system.add, system.remove or system.break_off.",
        )  # fmt: skip
    return {"change": event.name, "values": values}


def _is_pull(table: dict[str, Any]) -> bool:
    a, b, allowed = table["a"], table["b"], {"kind", "a", "b", "rest_length", "stiffness", "damping"}
    is_one = len(b.get("world", ())) == 1 and "body" in a and len(a.get("local", a.get("numbers", ()))) == 1
    return table["kind"] == "Springs" and is_one and set(table) <= allowed and table["rest_length"] == 0.0


def _begun(table: dict[str, Any]) -> Table:
    a = table["a"]
    point: Table = {"local": a["local"][0]} if "local" in a else {"numbers": a["numbers"]}
    numbers: Table = {key: table[key] for key in ("stiffness", "damping") if key in table}
    return {"body": a["body"], **point, "end": table["b"]["world"][0], **numbers}
