"""Solvers: one file a method; each has `prepare(system)` and `step(system, state) -> StepReport`."""

from supple.solvers.implicit_euler import ImplicitEuler
from supple.solvers.report import Outcome, StepReport

__all__ = ["ImplicitEuler", "Outcome", "StepReport"]
