"""Built-in scenes: each one short file that makes a scene and checks what physics says about its run."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_MODULES = (
    "hanging_beam",
    "rigid_on_springs",
    "chain",
    "quadruped",
    "clapper",
    "cloth",
    "bouncing_ball",
    "bimaterial",
    "kicker",
    "spin_up",
    "soft_ball",
    "flower",
    "letters",
    "dragon",
    "space_station",
    "oak",
    "stack",
    "gripper",
    "garden",
)


@dataclass(frozen=True)
class Check:
    """One physical assertion: value against reference, within limit (relative error unless said in the quantity)."""

    quantity: str
    value: float
    reference: float
    limit: float
    ok: bool


@dataclass(frozen=True)
class Example:
    """A built-in scene. make() -> Scene; until: simulated time [s]; check(run) -> checks that end it.

    record_every: time between frames [s].
    """

    name: str
    summary: str
    make: Callable[[], Any]
    until: float
    check: Callable[[Any], list[Check]]
    record_every: float = 1 / 30


def registry() -> dict[str, Example]:
    """All built-in scenes by name."""
    found = {}
    for module in _MODULES:
        example: Example = importlib.import_module(f"supple.examples.{module}").EXAMPLE
        found[example.name] = example
    return found


def within(quantity: str, value: float, reference: float, limit: float) -> Check:
    """A check of a relative error."""
    return Check(quantity, value, reference, limit, bool(abs(value - reference) <= limit * abs(reference)))


def above(quantity: str, value: float, least: float) -> Check:
    """A check that a value is at least so large."""
    return Check(f"{quantity} (at least {least:g})", value, least, 0.0, bool(value >= least))


def below(quantity: str, value: float, limit: float) -> Check:
    """A check that a value stays below a limit."""
    return Check(quantity, value, 0.0, limit, bool(value <= limit))
