"""The scale of a field's colours: steady while the field moves about, so that a colour keeps its meaning.

It grows at once to the next of 1, 2, 5, 10 ... above a value that passes it, and shrinks only after the values have
stayed far below it for a while.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

STEPS = (1.0, 2.0, 5.0, 10.0)
LOW = 0.25
"""Values below so much of the scale leave it too wide."""
PATIENCE = 4.0
"""Wall time [s] for which they must."""


def step_above(value: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is not below a value.

    >>> step_above(0.03), step_above(1.0), step_above(730.0)
    (0.05, 1.0, 1000.0)
    """
    power = 10.0 ** math.floor(math.log10(value))
    return next(float(f"{step * power:.1g}") for step in STEPS if step * power >= value * (1 - 1e-12))


@dataclass
class ColourScale:
    """From 0 to `highest`, which is never below `least`."""

    least: float
    highest: float = 0.0
    wide_since: float = math.inf
    seen: float = 0.0

    def follow(self, value: float, now: float) -> float:
        """Where the scale ends, after a value at a moment of wall time [s]."""
        value = max(value, self.least) if math.isfinite(value) else self.highest
        if value > self.highest:
            self.highest = step_above(value)
        if value >= LOW * self.highest:
            self.wide_since, self.seen = math.inf, 0.0
            return self.highest
        self.wide_since, self.seen = min(self.wide_since, now), max(self.seen, value)
        if now - self.wide_since >= PATIENCE:
            self.highest, self.wide_since, self.seen = step_above(self.seen), math.inf, 0.0
        return self.highest
