"""What a conjugate-gradient solve is asked for and how it ended: `CgRequest`, `CgOutcome`, `CgReport`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from supple.algebra.sparse import conjugate_gradients_kernels as kernels
from supple.errors import ConvergenceError


class CgOutcome(Enum):
    """Each member carries its code in kernels, its sentence, what to try, and whether it is a success."""

    CONVERGED = (kernels.CONVERGED, "the residual is within the tolerance", "", True)
    ITERATIONS_DONE = (kernels.ITERATIONS_DONE, "the asked number of iterations was done", "", True)
    ITERATION_LIMIT = (
        kernels.ITERATION_LIMIT,
        "the iteration limit was reached before the tolerance",
        "Raise max_iterations, loosen the tolerance, or use a stronger preconditioner.",
        False,
    )
    NEGATIVE_CURVATURE = (
        kernels.NEGATIVE_CURVATURE,
        "the matrix is not positive definite",
        "Shorten the time step, hold a free body, make the tangent positive definite, or use DirectSolver.",
        False,
    )
    PRECONDITIONER_BREAKDOWN = (
        kernels.PRECONDITIONER_BREAKDOWN,
        "the preconditioner is not positive definite",
        "Use the preconditioner 'jacobi' or 'none'.",
        False,
    )
    STAGNATED = (
        kernels.STAGNATED,
        "the true residual no longer falls: the matrix is too badly conditioned for this tolerance",
        "Loosen the tolerance, scale the unknowns alike, or use DirectSolver.",
        False,
    )
    NOT_FINITE = (
        kernels.NOT_FINITE,
        "a number that is not finite appeared",
        "Look for infinities or NaN in the matrix, the right side and the start.",
        False,
    )

    def __init__(self, code: int, sentence: str, advice: str, is_success: bool) -> None:
        self.code, self.sentence, self.advice, self.is_success = code, sentence, advice, is_success

    @classmethod
    def from_code(cls, code: int) -> CgOutcome:
        """The outcome a kernel names by its code."""
        return _BY_CODE[code]


_BY_CODE = {outcome.code: outcome for outcome in CgOutcome}


@dataclass(frozen=True)
class CgReport:
    """The end of a solve.

    x: (n), the solution or the last iterate. residual: true |C(b - A x)| / |C b|, computed from x at the end.
    residual_history: (iterations + 1), the residuals of the recurrence, or None when it was not asked for.
    """

    outcome: CgOutcome
    iterations: int
    residual: float
    tolerance: float
    x: NDArray[np.float64]
    residual_history: NDArray[np.float64] | None = None

    @property
    def is_converged(self) -> bool:
        """Whether what was asked for was reached."""
        return self.outcome.is_success

    def raise_if_failed(self, *, where: str = "conjugate gradients") -> CgReport:
        """Raise `ConvergenceError` unless the solve did what was asked; return self."""
        if not self.is_converged:
            raise ConvergenceError(
                f"{self.outcome.sentence} after {self.iterations} iterations",
                where=where,
                value=f"relative residual {self.residual:.3g}",
                allowed=f"at most {self.tolerance:.3g}",
                fix=self.outcome.advice,
            )
        return self


@dataclass(frozen=True)
class CgRequest:
    """What a solve is asked for. b, x: (n), x holds the start where `is_warm`. limit: most iterations."""

    b: NDArray[np.float64]
    x: NDArray[np.float64]
    tolerance: float
    limit: int
    is_warm: bool
    keep_history: bool

    def make_history(self) -> NDArray[np.float64]:
        """Workspace for |r|^2 / |C b|^2 at the start and after each iteration, or an empty array."""
        return np.full(self.limit + 1 if self.keep_history else 0, np.nan)

    def make_report(
        self, outcome: CgOutcome, iterations: int, residual: float, history: NDArray[np.float64]
    ) -> CgReport:
        """The report of this solve; history: |r|^2 / |C b|^2."""
        relative = np.sqrt(history[: iterations + 1]) if self.keep_history else None
        return CgReport(outcome, iterations, residual, self.tolerance, self.x, relative)
