"""The base of every part of a scene file: unknown keys are refused, with the nearest known one."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, PlainValidator, model_validator
from pydantic_core import PydanticCustomError

from supple.errors import printable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like a given one, or None where none is near."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else None


def one_line(text: str, limit: int = 500) -> str:
    """Text of strangers as it may stand in a sentence: what cannot be printed is escaped, and its length bounded."""
    shown = printable(text[:limit])
    return shown if len(text) <= limit else f"{shown}…"


def complaint(what: str, *, fix: str | None = None, **notes: Any) -> PydanticCustomError:
    """An error of a value, as the fields of a SuppleError: what, and value, allowed, key where they help."""
    return PydanticCustomError("supple", "{what}", {"what": what, "fix": fix, **notes})


def refuse_unknown(keys: Iterable[Any], known: Iterable[str]) -> None:
    """Complain about the first key that is not known."""
    names = list(known)
    for key in keys:
        if key not in names:
            near = nearest(str(key), names)
            fix = f"Did you mean '{near}'?" if near else f"Known keys: {', '.join(names)}."
            raise complaint("unknown key", key=str(key)[:100], fix=fix)


def check_table(data: Any) -> dict[str, Any]:
    """Complain about what is not a table."""
    if not isinstance(data, dict):
        raise complaint("is not a table of keys", value=shorten(data))
    return data


def by_kind(
    models: Mapping[str, type[Section]],
    *,
    other: Callable[[dict[str, Any]], Section | None] | None = None,
    fix: str | None = None,
) -> PlainValidator:
    """A table whose key `kind` says which model it keeps. other: makes sections of kinds that are not among them, or
    None; fix: what to do about an unknown kind that is like none of them."""
    advice = fix

    def check(data: Any) -> Section:
        if "kind" not in check_table(data):
            raise complaint("the key 'kind' is missing", allowed=", ".join(models))
        kind = data["kind"]
        if isinstance(kind, str) and kind not in models and other is not None and (own := other(data)) is not None:
            return own
        if not isinstance(kind, str) or kind not in models:
            near = nearest(str(kind), models)
            fix = f"Did you mean '{near}'?" if near else advice
            raise complaint("unknown kind", key="kind", value=shorten(kind), allowed=", ".join(models), fix=fix)
        return models[kind].model_validate(data)

    return PlainValidator(check)


class Section(BaseModel):
    """A table of a scene file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        refuse_unknown(check_table(data), cls.model_fields)
        return data

    def given(self, *names: str) -> dict[str, Any]:
        """The named keys that the file gives, so that defaults stay where they are written."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def choose(self, *names: str, needed: bool = True) -> str | None:
        """Which one of several keys is given; a complaint for two, and for none where one is needed."""
        found = [name for name in names if getattr(self, name) is not None]
        if len(found) > 1:
            raise complaint(f"'{found[0]}' and '{found[1]}' exclude each other", fix="Give one of them.")
        if needed and not found:
            raise complaint("a key is missing", allowed=f"one of {', '.join(names)}")
        return found[0] if found else None


def shorten(value: Any, limit: int = 60) -> Any:
    """A value as it may stand in a message: long ones cut."""
    if isinstance(value, int) and abs(value) >= 10**limit:
        return "a number of many digits"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        text = repr(value[:10])
        return value if len(value) <= 10 and len(text) <= limit else f"a list of {len(value)}"
    return value if not isinstance(value, str) or len(value) <= limit else f"{value[:limit]}…"
