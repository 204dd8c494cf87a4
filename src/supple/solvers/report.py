"""What a step says about itself: outcome, iterations, true residual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import isnan


class Outcome(Enum):
    """How a step ended; the value is the sentence shown to a person."""

    SOLVED = "the step was solved"
    UNDER_CONVERGED = (
        "the linear solve stopped above its tolerance; allow more iterations, use a stronger preconditioner, "
        "linear='direct', or a smaller step"
    )
    NEWTON_LIMIT = "Newton's iteration did not reach its tolerance; try a smaller step, more iterations, or load steps"
    CONTACT_LIMIT = "the forces of contacts did not settle; try a smaller step, or less stiff contacts"
    JOINT_LIMIT = "joints are open at the end of the step; try a smaller step"
    PATH_LIMIT = "the path did not come to its end in the points allowed; allow more points, or longer steps"
    NOT_FINITE = "a position or velocity is not finite; try a smaller step or more damping"

    @property
    def sentence(self) -> str:
        """What a person reads."""
        return self.value


UNCONVERGED = (
    Outcome.UNDER_CONVERGED,
    Outcome.NEWTON_LIMIT,
    Outcome.CONTACT_LIMIT,
    Outcome.JOINT_LIMIT,
    Outcome.PATH_LIMIT,
)
SEVERITY = (
    Outcome.SOLVED,
    Outcome.CONTACT_LIMIT,
    Outcome.JOINT_LIMIT,
    Outcome.UNDER_CONVERGED,
    Outcome.NEWTON_LIMIT,
    Outcome.PATH_LIMIT,
    Outcome.NOT_FINITE,
)


@dataclass(frozen=True)
class StepReport:
    """One step, or several. iterations: Newton's; linear_iterations: conjugate gradients in all; residual: true,
    relative. Of several steps: the worst outcome and residual, the sums of iterations; steps: how many; unconverged:
    how many of them stopped above a tolerance, None: as the outcome of one step says."""

    outcome: Outcome
    iterations: int = 1
    linear_iterations: int = 0
    residual: float = 0.0
    steps: int = 1
    unconverged: int | None = None

    @classmethod
    def joined(cls, reports: Sequence[StepReport]) -> StepReport:
        """One report of steps that follow each other.

        >>> StepReport.joined([StepReport(Outcome.SOLVED, 2), StepReport(Outcome.NEWTON_LIMIT, 9)]).iterations
        11
        """
        return cls(
            max((r.outcome for r in reports), key=SEVERITY.index),
            sum(r.iterations for r in reports),
            sum(r.linear_iterations for r in reports),
            _worst([r.residual for r in reports]),
            sum(r.steps for r in reports),
            sum(r.under_converged for r in reports),
        )

    @property
    def is_solved(self) -> bool:
        """Whether the step reached its tolerances."""
        return self.outcome is Outcome.SOLVED

    @property
    def under_converged(self) -> int:
        """How many of the steps stopped above a tolerance."""
        return int(self.outcome in UNCONVERGED) if self.unconverged is None else self.unconverged


def _worst(residuals: list[float]) -> float:
    """The largest; one that is not a number is worse than all."""
    return float("nan") if any(map(isnan, residuals)) else max(residuals)
