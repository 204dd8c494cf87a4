"""Wishes: what a watcher wants to see beside the frames, as the page sends it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

FIELDS = ("speed", "strain", "stress")
LONGEST = 4096
"""Most characters of a wish."""


@dataclass(frozen=True)
class Wish:
    """field: whose colours are shown, one of FIELDS or "" for none; body: name of the one that is selected, or "";
    links: of lattices, and contacts, whether they are shown."""

    field: str = ""
    body: str = ""
    links: bool = False
    contacts: bool = False


@dataclass(frozen=True)
class Click:
    """On the picture. frame: number of the one that was seen; pointer: nine numbers, see `Pointer`; track: whether
    plots are to follow the point, instead of selecting the body."""

    frame: int
    pointer: tuple[float, ...]
    track: bool = False


def read_wish(text: str) -> Wish | Click | None:
    """From a message of the page; None where it cannot be understood.

    >>> read_wish('{"field": "speed", "body": "ball"}')
    Wish(field='speed', body='ball', links=False, contacts=False)
    >>> read_wish('{"field": "taste"}') is read_wish("[") is None
    True
    """
    if len(text) > LONGEST:
        return None
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict):
        return None
    return _click(given) if "pointer" in given else _wish(given)


def _wish(given: dict[str, Any]) -> Wish | None:
    field, body = given.get("field", ""), given.get("body", "")
    if field not in ("", *FIELDS) or not isinstance(body, str):
        return None
    return Wish(field, body, bool(given.get("links")), bool(given.get("contacts")))


def _click(given: dict[str, Any]) -> Click | None:
    try:
        pointer = np.asarray(given["pointer"], dtype=float)
        frame = int(given.get("frame", 0))
    except (TypeError, ValueError, OverflowError):
        return None
    if pointer.shape != (9,) or not np.isfinite(pointer).all():
        return None
    return Click(frame, tuple(pointer.tolist()), bool(given.get("track")))
