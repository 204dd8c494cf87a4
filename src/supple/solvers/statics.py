"""Static equilibrium: f(x) = 0 by Newton's method with line search, the loads applied in steps if asked.

-K dx = f,   x moves by dx        joints hold by multipliers, filters by projection
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from supple.errors import ConvergenceError, InputError
from supple.scene.kinematics import Kinematics
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.linear import LinearOptions, LinearSolve
from supple.solvers.newton import Evaluation, Newton, Weights
from supple.solvers.report import StepReport

Array = np.ndarray


@dataclass
class Statics:
    """Equilibrium. tolerance: residual relative to the loads; load_steps: gravity and loads grow in so many steps."""

    tolerance: float = 1e-8
    load_steps: int = field(default=1, kw_only=True)
    max_iterations: int = field(default=50, kw_only=True)
    linear: Literal["auto", "cg", "direct"] = field(default="direct", kw_only=True)

    def __post_init__(self) -> None:
        if self.load_steps < 1:
            raise InputError("load_steps is not positive", where="Statics", value=self.load_steps)

    def solve(self, system: System, state: State) -> StepReport:
        """Move the state to equilibrium at its time, in place; velocities become zero."""
        newton = Newton(
            LinearSolve(LinearOptions(self.linear, 1e-10)), tolerance=self.tolerance, max_iterations=self.max_iterations
        )
        zero = np.zeros(system.v_size)
        iterations, report = 0, None
        for k in range(1, self.load_steps + 1):
            scaled = _Loads(system, k / self.load_steps)
            base, t = state.x, state.t

            def evaluate(u: Array, base: Array = base, t: float = t, scaled: _Loads = scaled) -> Evaluation:
                kin = system.propagate(t, system.retract(base, u), zero)
                f, scale = scaled.force(kin)
                return Evaluation(-f, kin, kin, scale or 1.0, 1.0, scaled.energy(kin))

            s = newton.solve(
                system, evaluate, zero.copy(), Weights(0.0, 0.0, -1.0, 1.0), multipliers=state.memory.get("multipliers")
            )
            iterations += s.iterations
            report = StepReport(s.outcome, iterations, s.linear_iterations, s.residual)
            if not report.is_solved:
                return report
            state.x = system.retract(base, s.u)
            system.filter.project_position(state.x, t)
            if s.multipliers.size:
                state.memory["multipliers"] = s.multipliers
        state.v = zero
        assert report is not None
        return report


class _Loads:
    """Forces and energy with gravity and given loads scaled."""

    def __init__(self, system: System, factor: float) -> None:
        self.system, self.factor = system, factor

    def force(self, kin: Kinematics) -> tuple[Array, float]:
        """f, and the size of the terms that cancel in it."""
        system = self.system
        inner, outer = [np.zeros_like(v) for v in kin.v], [np.zeros_like(v) for v in kin.v]
        for _, slot, force in system.forces:
            force.add_force(kin.local(slot), (outer if is_load(force) else inner)[slot.index])
        for _, slot, mass in system.masses:
            mass.add_product(mass.gravity_field(system.gravity), outer[slot.index], 1.0)
        kin.pull(inner)
        kin.pull(outer)
        f_in, f_out = system.gather(inner), self.factor * system.gather(outer)
        return f_in + f_out, float(np.linalg.norm(f_in) + np.linalg.norm(f_out))

    def energy(self, kin: Kinematics) -> float | None:
        """Potential energy, None where a load follows the body or joints carry forces."""
        system = self.system
        if system.joints or any(is_load(force) and not hasattr(force, "values") for _, _, force in system.forces):
            return None
        total = 0.0
        for _, slot, force in system.forces:
            x = kin.x[slot.index]
            if is_load(force):
                total -= self.factor * float(np.sum(force.values(kin.t) * x))  # type: ignore[attr-defined]
            else:
                total += force.energy(kin.local(slot))
        for _, slot, mass in system.masses:
            total -= self.factor * float(system.gravity @ mass.first_moment(kin.x[slot.index])[1])
        return float(total)


def is_load(force: Any) -> bool:
    """Whether a force is given from outside, and so grows with the load steps."""
    return bool(getattr(force, "is_load", False))


def solve_statics(system: System, state: State | None = None, *, load_steps: int = 1, tolerance: float = 1e-8) -> State:
    """The static equilibrium nearest to a state (default: the start); ConvergenceError where none is found."""
    state = system.initial_state() if state is None else state.copy()
    report = Statics(tolerance, load_steps=load_steps).solve(system, state)
    if not report.is_solved:
        raise ConvergenceError(
            f"no equilibrium was found: {report.outcome.sentence}",
            value=report.residual,
            allowed=f"residual <= {tolerance:g}",
            fix="Use more load_steps, or run with damping until it rests.",
        )
    return state
