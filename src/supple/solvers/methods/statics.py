"""Static equilibrium: f(x) = 0 by Newton's method with line search, the loads applied in as many steps as it takes.

-K dx = f,   x moves by dx        joints hold by multipliers, filters by projection

All loads act at once, or grow in the steps asked for. A step that Newton's method does not solve is taken back and
tried shorter; after one that it solves quickly the next is longer.

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
from supple.solvers.linear.newton import ROUNDINGS, Evaluation, Newton, NewtonSolution, Weights
from supple.solvers.linear.solution import LinearOptions
from supple.solvers.methods.continuation import find_equilibrium
from supple.solvers.methods.modes import warn_unstable
from supple.solvers.methods.small_motions import is_special
from supple.solvers.report import Outcome, StepReport

Array = np.ndarray
CONTINUED = 4
"""Iterations of a continuation, times those of Newton's method."""
SHORTER, LONGER = 0.25, 2.0
"""Length of a load step over the one before: after one that failed, after one that was quick."""
QUICK = 8
"""Iterations of Newton's method up to which a load step is quick."""
SHORTEST = 2.0**-12
"""Of the load step that is begun with: no shorter one is tried."""
NOTHING = 1e-9
"""Of the loads that are left: no step of its own is taken for so little."""


@dataclass
class Statics:
    """Equilibrium. tolerance: residual relative to the loads; load_steps: gravity and loads grow in so many steps to
    begin with, in more where these are too long and in fewer where they are solved quickly."""

    tolerance: float = 1e-8
    load_steps: int = field(default=1, kw_only=True)
    max_iterations: int = field(default=50, kw_only=True)
    linear: Literal["auto", "cg", "direct"] = field(default="direct", kw_only=True)

    def __post_init__(self) -> None:
        check_number(self.tolerance, name="tolerance", where="Statics", above=0.0)
        for name in ("load_steps", "max_iterations"):
            check_number(getattr(self, name), name=name, where="Statics", least=1, whole=True)

    def solve(self, system: System, state: State) -> StepReport:
        """Move the state to equilibrium at its time, in place; velocities become zero. Where that fails, it ends at the
        last load that succeeded."""
        return self.approach(system, state)[0]

    def approach(self, system: System, state: State) -> tuple[StepReport, float]:
        """The same, and the part of the loads that the state carries at the end, 1 where it is solved."""
        if is_special(system):
            report = find_equilibrium(
                system, state, tolerance=self.tolerance, max_iterations=CONTINUED * self.max_iterations
            )
            return report, float(report.is_solved)
        newton = Newton(
            LinearSolve(LinearOptions(self.linear, 1e-10)), tolerance=self.tolerance, max_iterations=self.max_iterations
        )
        first = step = 1.0 / self.load_steps
        iterations, linear, carried = 0, 0, 0.0
        outcome, residual = Outcome.NEWTON_LIMIT, np.inf
        while carried < 1.0 and step >= SHORTEST * first:
            left = 1.0 - carried
            load = carried + step if step < (1.0 - NOTHING) * left else 1.0
            try:
                s = move_to(newton, system, state, load)
                outcome, residual = s.outcome, s.residual
                iterations, linear = iterations + s.iterations, linear + s.linear_iterations
            except ConvergenceError:  # a singular tangent, as at the largest load that is carried
                if not carried:
                    raise
                outcome, residual = Outcome.NEWTON_LIMIT, np.inf
            if outcome is not Outcome.SOLVED:
                step = SHORTER * min(step, left)
                continue
            carried = load
            if s.iterations <= QUICK:
                step *= LONGER
        state.v = np.zeros(system.v_size)
        return StepReport(outcome, iterations, linear, residual), carried


def move_to(newton: Newton, system: System, state: State, load: float) -> NewtonSolution:
    """Move a state to the equilibrium with a part of the loads by Newton's method alone, in place where it succeeds."""
    path = _Path(system, state, load, newton.tolerance)
    s = newton.solve(
        system,
        path.evaluate,
        np.zeros(system.v_size),
        Weights(0.0, 0.0, -1.0, 1.0),
        multipliers=state.memory.get("multipliers"),
        accept=path.accept,
    )
    if s.outcome is Outcome.SOLVED:
        state.x = path.base
        system.filter.project_position(state.x, state.t)
        if s.multipliers.size:
            state.memory["multipliers"] = s.multipliers
    return s


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
    """The static equilibrium that a state (default: the start) comes to as loads grow.

    load_steps: how many steps they grow in to begin with, see `Statics`; tolerance: residual relative to the loads.
    ConvergenceError where none is found, and a StabilityWarning where a small push would leave it.
    """
    check_instance(system, System, "a compiled scene", where="solve_statics", fix="Give scene.compile().")
    if state is not None:
        check_instance(state, State, "a state", where="solve_statics, state")
    state = system.initial_state() if state is None else state.copy()
    report, carried = Statics(tolerance, load_steps=load_steps).approach(system, state)
    if not report.is_solved:
        until = f" beyond {carried:.4g} of the loads" if carried else ""
        raise ConvergenceError(
            f"no equilibrium was found{until}: {report.outcome.sentence}",
            value=report.residual,
            allowed=f"residual <= {tolerance:g}",
            fix="Use more load_steps, see by equilibrium_path whether it carries no more, or settle the scene.",
        )
    warn_unstable(system, state)
    return state
