"""What is changed, pulled at and let go while a scene runs, in a scene file."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, PlainValidator, model_validator

from supple.files.scenes.section import Section, check_table, complaint, shorten
from supple.files.scenes.values import Name, Number, Numbers, OnePosition, Vector, number_rows

MAX_EVENTS = 100_000
MAX_STEP = 2**53
MAX_VALUES = 100
ACTIONS = ("change", "pull", "release")
NEW_PULL = ("body", "local", "numbers", "stiffness", "damping")


def _step(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_STEP:
        raise complaint("is not the number of a step", value=shorten(value), allowed="a whole number >= 0")
    return value


def _values(data: Any) -> dict[str, Any]:
    """Plain values of a change: numbers, lists of them, texts, truth values."""
    table = check_table(data)
    if not 0 < len(table) <= MAX_VALUES:
        raise complaint("nothing is changed" if not table else "has too many entries", value=len(table))
    return {key: _value(value, key) for key, value in table.items()}


def _value(value: Any, key: str) -> Any:
    if isinstance(value, bool | str):
        return value
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return value
    if isinstance(value, int):
        return value
    if isinstance(value, float | list):
        return number_rows(value, key).tolist()
    raise complaint("is not a number, a list of numbers, text, true or false", key=key, value=shorten(value))


class Event(Section):
    """One of: a change, its name and values; a pull, which begins with body and a point of it, and moves with end; a
    release of a pull. step: how many steps are done before it."""

    step: Annotated[int, BeforeValidator(_step)]
    change: Name | None = None
    values: Annotated[dict[str, Any] | None, PlainValidator(_values)] = None
    pull: Name | None = None
    body: Name | None = None
    local: OnePosition | None = None
    numbers: Numbers | None = None
    end: Vector | None = None
    stiffness: Number | None = None
    damping: Number | None = None
    release: Name | None = None

    @model_validator(mode="after")
    def _one_action(self) -> Self:
        action = self.choose(*ACTIONS)
        wanted = {"change": ("values",), "release": ()}.get(action or "", ("end",))
        allowed = (*wanted, *NEW_PULL) if action == "pull" else wanted
        for key in ("values", "end", *NEW_PULL):
            if key in wanted and getattr(self, key) is None:
                raise complaint("the key is missing", key=key)
            if key not in allowed and getattr(self, key) is not None:
                raise complaint(f"does not go with '{action}'", key=key)
        if action == "pull" and (begun := self.given(*NEW_PULL)):
            self._check_begin(begun)
        return self

    def _check_begin(self, given: dict[str, Any]) -> None:
        for key in ("body", "stiffness"):
            if key not in given:
                raise complaint("the key is missing", key=key)
        self.choose("local", "numbers")
        for key in ("stiffness", "damping"):
            if given.get(key, 0.0) < 0:
                raise complaint("is negative", key=key, value=given[key], allowed=">= 0")
