"""When something may be done again, so that it takes no more than a share of the time.

What is done for the first time, or meets something new, may take a hundred times as long as it does later. The cost
that counts is the median of the last three, so that one such time does not stop it for long.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from statistics import median

COUNTED = 3


def unknown_costs() -> deque[float]:
    """The first time costs nothing."""
    return deque((COUNTED - 1) * [0.0], maxlen=COUNTED)


@dataclass
class Due:
    """interval: least wall time between [s]; share: most of the wall time that it may take; at: when it may be done
    again."""

    interval: float
    share: float
    at: float = 0.0
    costs: deque[float] = field(default_factory=unknown_costs)

    def pay(self, begun: float, ended: float) -> None:
        """It has been done, between two moments of wall time [s]."""
        self.costs.append(ended - begun)
        self.at = begun + max(self.interval, median(self.costs) / self.share)
