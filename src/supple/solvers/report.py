"""What a step says about itself: outcome, iterations, true residual."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """How a step ended; the value is the sentence shown to a person."""

    SOLVED = "the step was solved to its tolerance"
    UNDER_CONVERGED = (
        "the linear solve stopped above its tolerance; allow more iterations, use a stronger preconditioner, "
        "linear='direct', or a smaller step"
    )
    NEWTON_LIMIT = "Newton's iteration did not reach its tolerance; try a smaller step, more iterations, or load steps"
    CONTACT_LIMIT = "the forces of contacts did not settle; try a smaller step, or less stiff contacts"
    JOINT_LIMIT = "joints are open at the end of the step; try a smaller step"
    NOT_FINITE = "a position or velocity is not finite; try a smaller step or more damping"

    @property
    def sentence(self) -> str:
        """What a person reads."""
        return self.value


@dataclass(frozen=True)
class StepReport:
    """One step. iterations: Newton's; linear_iterations: conjugate gradients in all; residual: true, relative."""

    outcome: Outcome
    iterations: int = 1
    linear_iterations: int = 0
    residual: float = 0.0

    @property
    def is_solved(self) -> bool:
        """Whether the step reached its tolerances."""
        return self.outcome is Outcome.SOLVED
