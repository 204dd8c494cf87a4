"""Row: one number of ours beside the number it should be."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """error: relative to the reference, or absolute where the reference is zero; ok: error <= limit."""

    case: str
    quantity: str
    value: float
    reference: float
    unit: str
    error: float
    limit: float
    ok: bool
    source: str


def compare(case: str, quantity: str, value: float, reference: float, limit: float, *, unit: str, source: str) -> Row:
    """A row whose error is measured against the reference."""
    error = abs(value - reference) / (abs(reference) or 1.0)
    return Row(case, quantity, float(value), float(reference), unit, float(error), limit, bool(error <= limit), source)


def bounded(case: str, quantity: str, value: float, limit: float, *, unit: str = "-", source: str) -> Row:
    """A row for a number that should be zero."""
    return Row(case, quantity, float(value), 0.0, unit, abs(float(value)), limit, bool(abs(value) <= limit), source)


def at_least(case: str, quantity: str, value: float, least: float, *, unit: str = "-", source: str) -> Row:
    """A row for a number that should be as large, or larger."""
    short = max(0.0, 1.0 - value / least)
    return Row(
        case,
        f"{quantity} (at least {least:g})",
        float(value),
        float(least),
        unit,
        short,
        0.0,
        bool(value >= least),
        source,
    )
