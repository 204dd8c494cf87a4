"""Checks of encodings for searches over vectors of real numbers."""

from __future__ import annotations

from typing import Any

from supple.design.encodings import VectorEncoding
from supple.errors import InputError


def checked_vectors(encoding: Any, *, where: str) -> VectorEncoding:
    """The encoding, where its genomes are vectors; an InputError otherwise."""
    if not (isinstance(getattr(encoding, "dimension", None), int) and hasattr(encoding, "spread")):
        raise InputError("the genomes are not vectors of real numbers", where=where, value=type(encoding).__name__,
                         allowed="Waves, or an encoding with `dimension` and `spread`",
                         fix="Choose Waves, or a search over any encoding: AgeFitness, MapElites, Nsga2.")  # fmt: skip
    return encoding  # type: ignore[no-any-return]
