"""Values of frozen things that change: checked by name, then by the thing itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from supple.errors import InputError

Thing = TypeVar("Thing")


def with_values(thing: Thing, values: dict[str, Any], allowed: tuple[str, ...], *, where: str) -> Thing:
    """A dataclass with other values; refuses names that are not allowed."""
    if others := [name for name in values if name not in allowed]:
        raise InputError("this cannot be changed", where=where, value=others[0], allowed=", ".join(allowed))
    for name, value in values.items():
        if np.ndim(value) or isinstance(value, bool | str):
            raise InputError(f"{name} is not a number", where=where, value=value)
    return replace(thing, **values)  # type: ignore[type-var]
