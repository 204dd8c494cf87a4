"""Which frame and which body of a record somebody asks for, checked."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral

from supple.errors import InputError


def frame_number(frame: int, count: int, *, where: str) -> int:
    """The number of a frame, from 0; negative ones count from the end."""
    if not isinstance(frame, Integral) or not -count <= frame < count:
        raise InputError("the record has no such frame", where=where, value=frame, allowed=f"0..{count - 1}")
    return int(frame) % count


def check_body(body: str, names: Collection[str], *, where: str) -> None:
    """Refuse what is not the name of one of the bodies."""
    if not isinstance(body, str) or body not in names:
        raise InputError("the record has no body of that name", where=where, value=body, allowed=", ".join(names))
