"""When frames are due: at the first step of each stretch of `record_every`, by the numbers of steps."""

from __future__ import annotations

import math
from typing import NamedTuple

ROUND_OFF = 1e-9  # part of a frame's stretch that is round-off


class FrameTimes(NamedTuple):
    """dt: the step [s]; record_every: simulated time between frames [s].

    >>> times = FrameTimes(0.01, 0.025)
    >>> [step for step in range(9) if times.is_due(step)]
    [0, 3, 5, 8]
    >>> times.steps_to_next(3, 100), times.steps_to_next(3, 1)
    (2, 1)
    """

    dt: float
    record_every: float

    def is_due(self, step: int) -> bool:
        """Whether a frame is due after so many steps."""
        return step == 0 or self._stretch(step) != self._stretch(step - 1)

    def steps_to_next(self, step: int, most: int) -> int:
        """How many steps, at most `most`, lead to the next frame after a step."""
        due = (self._stretch(step) + 1) * self.record_every / self.dt - step  # up to round-off
        near = range(max(1, min(int(due) - 1, most)), most)
        return next((k for k in near if self.is_due(step + k)), most)

    def _stretch(self, step: int) -> int:
        return math.floor(step * self.dt / self.record_every + ROUND_OFF)
