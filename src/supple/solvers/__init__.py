"""Solvers: one file a method; each has `prepare(system)` and `step(system, state) -> StepReport`."""

from supple.solvers.methods.arc_length import ArcLength, equilibrium_path
from supple.solvers.methods.equilibrium_path import EquilibriumPath
from supple.solvers.methods.generalized_alpha import GeneralizedAlpha, Newmark
from supple.solvers.methods.implicit_euler import ImplicitEuler
from supple.solvers.methods.lattice_solver import LatticeSolver
from supple.solvers.methods.midpoint import Midpoint
from supple.solvers.methods.modes import Modes, vibration_modes
from supple.solvers.methods.partitioned import Partitioned
from supple.solvers.methods.runge_kutta import RungeKutta4
from supple.solvers.methods.statics import Statics, solve_statics
from supple.solvers.methods.stride_solver import StrideSolver
from supple.solvers.methods.symplectic_euler import SymplecticEuler, stable_step
from supple.solvers.methods.tree_solver import TreeSolver
from supple.solvers.report import Outcome, StepReport

__all__ = [
    "ArcLength",
    "EquilibriumPath",
    "GeneralizedAlpha",
    "ImplicitEuler",
    "LatticeSolver",
    "Midpoint",
    "Modes",
    "Newmark",
    "Outcome",
    "Partitioned",
    "RungeKutta4",
    "Statics",
    "StepReport",
    "StrideSolver",
    "SymplecticEuler",
    "TreeSolver",
    "equilibrium_path",
    "solve_statics",
    "stable_step",
    "vibration_modes",
]
