"""Result: what one evaluation of one design gave."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, get_args

from supple.errors import InputError, check_choice, check_instance

Outcome = Literal["finished", "diverged", "crashed", "refused"]
OUTCOMES: tuple[str, ...] = get_args(Outcome)


@dataclass(frozen=True)
class Result:
    """What one evaluation of one design gave.

    key: names the evaluation: the design, the arena, the measures and the seed.
    design: the key of the design.
    outcome: "finished"; "diverged" where the motion grew without bound; "crashed" where the process died or the
    program failed; "refused" where the design does not fit the arena.
    scores: a finite number for each measure by name; the measure's worst one where the design did not finish.
    seconds: wall time of the evaluation [s]; it differs from run to run, and equal results may differ in it.
    message: what went wrong, "" where nothing did.

    >>> Result("k", "d", "finished", {"travel": 0.25}).ok
    True
    """

    key: str
    design: str
    outcome: Outcome
    scores: Mapping[str, float]
    seconds: float = field(default=0.0, compare=False)
    message: str = ""

    def __post_init__(self) -> None:
        check_choice(self.outcome, OUTCOMES, "outcome", where="result")
        check_instance(self.scores, Mapping, "a table", where="result, scores")
        scores = {str(name): float(value) for name, value in self.scores.items()}
        for name, value in scores.items():
            if not math.isfinite(value):
                raise InputError("the score is not a finite number", where=f"result, measure '{name}'", value=value)
        object.__setattr__(self, "scores", MappingProxyType(scores))

    @property
    def ok(self) -> bool:
        """Whether the run came to its end."""
        return self.outcome == "finished"

    def __hash__(self) -> int:
        return hash((self.key, self.design, self.outcome, tuple(sorted(self.scores.items())), self.message))

    def __reduce__(self) -> tuple[Any, ...]:
        return Result, (self.key, self.design, self.outcome, dict(self.scores), self.seconds, self.message)
