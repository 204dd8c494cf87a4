"""Colours of materials and bodies: written "#rrggbb", or as red, green, blue from 0 to 1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from supple.errors import NOT_NUMBERS, InputError

Array = np.ndarray
Colour = str | Sequence[float]
PALETTE = ("#5b8fd0", "#ee9a4d", "#62b37c", "#c76a9c", "#9a8bd8", "#d4b548", "#66b6c4", "#b98267")
"""Of bodies and materials that have no colour of their own, one after another."""
WRITTEN = re.compile(r"#[0-9a-fA-F]{6}")


class Coloured(Protocol):
    """A material."""

    @property
    def colour(self) -> Any: ...


def check_colour(given: Colour, *, where: str) -> str:
    """A colour as "#rrggbb".

    >>> check_colour((1, 0.5, 0), where="here")
    '#ff8000'
    """
    if isinstance(given, str):
        if WRITTEN.fullmatch(given):
            return given.lower()
    else:
        try:
            numbers = np.array(given, dtype=float)
        except NOT_NUMBERS:
            numbers = np.full(3, np.nan)
        if numbers.shape == (3,) and (numbers >= 0).all() and (numbers <= 1).all():
            return "#" + "".join(f"{round(255 * n):02x}" for n in numbers.tolist())
    raise InputError(
        "this is not a colour", where=where, value=given, allowed="'#rrggbb', or red, green, blue from 0 to 1"
    )


def rgb(colour: Colour) -> Array:
    """Red, green, blue of a colour that was checked, or of more numbers that begin with them, (3,), 0 to 1.

    >>> rgb("#ff0000").tolist()
    [1.0, 0.0, 0.0]
    """
    if isinstance(colour, str):
        return np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.array(colour[:3], dtype=float)


def material_colours(materials: Sequence[Coloured]) -> Array | None:
    """A colour for each material (m, 3), one of `PALETTE` where it has none; None: all are one, without a colour."""
    kinds = list(dict.fromkeys(materials))
    if len(kinds) <= 1 and all(kind.colour is None for kind in kinds):
        return None
    chosen = {kind: PALETTE[k % len(PALETTE)] if kind.colour is None else kind.colour for k, kind in enumerate(kinds)}
    return np.array([rgb(chosen[material]) for material in materials])
