"""Static equilibrium: f(x) = 0 by Newton's method with line search, the loads applied in steps if asked.

-K dx = f,   x moves by dx        joints hold by multipliers, filters by projection

The line search looks at the energy too: on the way of a slender body to its equilibrium |f| grows at first. Loads that
follow a body, and moments, have none; along a move u from the last positions they do the work of their mean,

    E(u) = E_elastic - (sum of the work until now) - (f_load(0) + f_load(u)) . u / 2

Scenes with trees or contacts take the way of `continuation` instead, where loads act at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from supple.bodies.protocols import GivenForce
from supple.bodies.traits import is_load
from supple.errors import ConvergenceError, check_instance, check_number
from supple.scene.kinematics import Kinematics
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.linear.linear_step import LinearSolve
from supple.solvers.linear.newton import ROUNDINGS, Evaluation, Newton, Weights
from supple.solvers.linear.solution import LinearOptions
from supple.solvers.methods.continuation import find_equilibrium
from supple.solvers.methods.modes import warn_unstable
from supple.solvers.methods.small_motions import is_special
from supple.solvers.report import StepReport

Array = np.ndarray
CONTINUED = 4
"""Iterations of a continuation, times those of Newton's method."""


@dataclass
class Statics:
    """Equilibrium. tolerance: residual relative to the loads; load_steps: gravity and loads grow in so many steps."""

    tolerance: float = 1e-8
    load_steps: int = field(default=1, kw_only=True)
    max_iterations: int = field(default=50, kw_only=True)
    linear: Literal["auto", "cg", "direct"] = field(default="direct", kw_only=True)

    def __post_init__(self) -> None:
        check_number(self.tolerance, name="tolerance", where="Statics", above=0.0)
        for name in ("load_steps", "max_iterations"):
            check_number(getattr(self, name), name=name, where="Statics", least=1, whole=True)

    def solve(self, system: System, state: State) -> StepReport:
        """Move the state to equilibrium at its time, in place; velocities become zero."""
        if is_special(system):
            return find_equilibrium(
                system, state, tolerance=self.tolerance, max_iterations=CONTINUED * self.max_iterations
            )
        newton = Newton(
            LinearSolve(LinearOptions(self.linear, 1e-10)), tolerance=self.tolerance, max_iterations=self.max_iterations
        )
        zero = np.zeros(system.v_size)
        iterations, report = 0, None
        for k in range(1, self.load_steps + 1):
            path = _Path(system, state, k / self.load_steps, self.tolerance)
            s = newton.solve(
                system,
                path.evaluate,
                zero.copy(),
                Weights(0.0, 0.0, -1.0, 1.0),
                multipliers=state.memory.get("multipliers"),
                accept=path.accept,
            )
            iterations += s.iterations
            report = StepReport(s.outcome, iterations, s.linear_iterations, s.residual)
            if not report.is_solved:
                return report
            state.x = path.base
            system.filter.project_position(state.x, state.t)
            if s.multipliers.size:
                state.memory["multipliers"] = s.multipliers
        state.v = zero
        assert report is not None
        return report


class _Path:
    """Positions on the way to an equilibrium, the residual and the energy at a share of the loads.

    The unknown is a move from the last accepted positions, so that rotations add up as they are made. work [J]: of
    loads without a potential until there.
    """

    def __init__(self, system: System, state: State, load: float, tolerance: float) -> None:
        self.system, self.base, self.t, self.load, self.tolerance = system, state.x, state.t, load, tolerance
        self.zero = np.zeros(system.v_size)
        self.reference: float | None = None
        self.is_conservative = not any(is_load(f.force) and not isinstance(f.force, GivenForce) for f in system.forces)
        self.work, self.start = 0.0, self.zero

    def accept(self, u: Array) -> Array:
        """Take the positions moved by u as the new base."""
        if not self.is_conservative:
            _, inner, f = self._forces(u)
            self.work, self.start = self.work + self._work(f - inner, u), f - inner
        self.base = self.system.retract(self.base, u)
        return self.zero.copy()

    def _forces(self, u: Array) -> tuple[Kinematics, Array, Array]:
        """At the base moved by u: forces without loads, and with them."""
        system = self.system
        kin = system.propagate(self.t, system.retract(self.base, u), self.zero)
        inner = system.gather(system.slot_forces(kin, load=0.0))
        return kin, inner, system.gather(system.slot_forces(kin, load=self.load))

    def _work(self, load: Array, u: Array) -> float:
        """Work [J] of loads, which end as `load`, along a move u from the base."""
        return 0.5 * float((self.start + load) @ u)

    def evaluate(self, u: Array) -> Evaluation:
        """-f at the base moved by u."""
        kin, inner, f = self._forces(u)
        scale = float(np.linalg.norm(inner) + np.linalg.norm(f - inner))
        # without loads, forces end at nothing: they are measured against what there was at the start
        if self.reference is None:
            self.reference, self.start = max(scale, self._rounding(f) / self.tolerance), f - inner
        scale = max(scale, self.reference)
        energy = self.energy(kin)
        if energy is not None and not self.is_conservative:
            energy -= self.work + self._work(f - inner, u)
        return Evaluation(-f, kin, kin, scale or 1.0, 1.0, energy, self.load)

    def _rounding(self, f: Array) -> float:
        """How much forces change where every position is off by its last digit [N]: none are solved below that."""
        system = self.system
        off = system.propagate(self.t, np.nextafter(self.base, np.inf), self.zero)
        return ROUNDINGS * float(np.linalg.norm(system.gather(system.slot_forces(off, load=self.load)) - f))

    def energy(self, kin: Kinematics) -> float | None:
        """Potential energy, without that of loads where one has none; None where joints carry forces."""
        system = self.system
        if system.joints:
            return None
        total = 0.0
        for _, slot, force in system.forces:
            if not is_load(force):
                total += force.energy(kin.local(slot))
            elif isinstance(force, GivenForce) and self.is_conservative:
                total -= self.load * float(np.sum(force.values(kin.t) * kin.x[slot.index]))
        if self.is_conservative:
            for _, slot, mass in system.masses:
                total -= self.load * float(system.gravity @ mass.first_moment(kin.x[slot.index])[1])
        return total


def solve_statics(system: System, state: State | None = None, *, load_steps: int = 1, tolerance: float = 1e-8) -> State:
    """The static equilibrium nearest to a state (default: the start); ConvergenceError where none is found, and a
    StabilityWarning where a small push would leave it."""
    check_instance(system, System, "a compiled scene", where="solve_statics", fix="Give scene.compile().")
    if state is not None:
        check_instance(state, State, "a state", where="solve_statics, state")
    state = system.initial_state() if state is None else state.copy()
    report = Statics(tolerance, load_steps=load_steps).solve(system, state)
    if not report.is_solved:
        raise ConvergenceError(
            f"no equilibrium was found: {report.outcome.sentence}",
            value=report.residual,
            allowed=f"residual <= {tolerance:g}",
            fix="Use more load_steps, or settle the scene.",
        )
    warn_unstable(system, state)
    return state
