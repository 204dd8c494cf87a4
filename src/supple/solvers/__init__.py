"""Solvers: one file a method; each has `prepare(system)` and `step(system, state) -> StepReport`."""

from supple.solvers.generalized_alpha import GeneralizedAlpha, Newmark
from supple.solvers.implicit_euler import ImplicitEuler
from supple.solvers.islands import Islands
from supple.solvers.lattice_stride import LatticeStride
from supple.solvers.midpoint import Midpoint
from supple.solvers.modes import Modes, vibration_modes
from supple.solvers.report import Outcome, StepReport
from supple.solvers.runge_kutta import RungeKutta4
from supple.solvers.statics import Statics, solve_statics
from supple.solvers.symplectic_euler import SymplecticEuler, stable_step
from supple.solvers.tree_stride import TreeStride

__all__ = [
    "GeneralizedAlpha",
    "ImplicitEuler",
    "Islands",
    "LatticeStride",
    "Midpoint",
    "Modes",
    "Newmark",
    "Outcome",
    "RungeKutta4",
    "Statics",
    "StepReport",
    "SymplecticEuler",
    "TreeStride",
    "solve_statics",
    "stable_step",
    "vibration_modes",
]
