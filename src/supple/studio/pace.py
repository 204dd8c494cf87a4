"""Pace: how many steps a call of the solver takes, so that what a person does is heard soon."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_CALL = 8e-3
"""Wall time of a call [s] that is aimed at."""
GROWTH = 2
"""How many times the steps of the last call a call may take."""


@dataclass
class Pace:
    """taken: steps of the last call.

    How long the next steps take is not known before. The estimate is the larger of the mean of late and the time of the
    last ones, so that a call is short at once where steps become dear, as at a first contact; and calls grow from one
    to the next by `GROWTH` at most. A single step cannot be split: one that takes longer than `LONGEST_CALL` makes its
    call as long, and a call in which steps first become dear ends only after all of them.
    """

    taken: int = 0

    def steps(self, due: int, mean: float, last: float) -> int:
        """Of the next call: at most those that are due, at least one. mean, last: wall time of a step [s], of late and
        in the last call, 0: not known yet.

        >>> Pace(taken=4).steps(100, mean=1e-3, last=1e-3), Pace(taken=100).steps(100, mean=1e-3, last=4e-3)
        (8, 2)
        """
        longest = max(mean, last)
        most = int(LONGEST_CALL / longest) if longest > 0 else 1
        self.taken = max(1, min(due, most, GROWTH * max(1, self.taken)))
        return self.taken
