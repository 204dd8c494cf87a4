"""Obstacles that change: how rough they are and how bodies bounce off them; their surfaces stay."""

from __future__ import annotations

from copy import copy
from typing import Any

from supple.interaction.obstacles import Obstacle
from supple.scene.changing.whole import Whole, refuse_others

NUMBERS = ("friction", "static_friction", "restitution")


def change_obstacle(whole: Whole, name: str, values: dict[str, Any], where: str) -> Whole:
    """With other numbers of an obstacle."""
    refuse_others(values, NUMBERS, where)
    out = whole.copy()
    new = copy(out.scene.obstacles[name])
    for key, value in values.items():
        object.__setattr__(new, key, value)
    Obstacle.__post_init__(new)  # the surface was checked when it was made
    out.scene.obstacles[name] = new
    return out
