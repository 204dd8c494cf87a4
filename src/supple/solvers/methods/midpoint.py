"""Implicit midpoint on the rotation group: second order, time-reversible, conserves momentum to round-off.

    u: velocity over the step (linear in world axes, angular in body axes)
    x_m = x0 moved by h/2 u,   P(x_m, u) - P(x0, v0) = h/2 f(x_m, u),        P momentum in world axes
    x1 = x0 moved by h u,      P(x1, v1) - P(x_m, u) = h/2 f(x_m, u)

For points this is the classical rule, v1 = 2u - v0. For frames the momentum R I w is balanced in the world, so that
a free body keeps it exactly, and the map is symmetric in time, so that its energy error does not grow [Krysl05].
Joints hold at x1. Rows that make points meet push with the mean of G^T l at both ends, where the points do meet, the
others in the middle, so that joints keep the angular momentum too; v1 is then projected on their tangent. Rigid and
floating bodies on which nothing else acts take the same steps in one compiled call, see `solvers.linkage`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from supple.scene.kinematics import Kinematics
from supple.scene.state import State
from supple.scene.system import System
from supple.scene.transport import transport
from supple.solvers.linear.linear_step import LinearSolve
from supple.solvers.linear.mass_solve import has_constant_mass, project_velocity, solve_filtered_mass
from supple.solvers.linear.newton import Evaluation, Newton, Weights, pulled_forces
from supple.solvers.linear.solution import LinearOptions
from supple.solvers.linear.turning_inertia import Turning, by_momentum
from supple.solvers.linkage.linkage import Linkage, linkage_of
from supple.solvers.methods.implicit_euler import check_dt, check_tolerances
from supple.solvers.report import Outcome, StepReport
from supple.solvers.striding import step_times
from supple.solvers.world import check_step, refuse_elimination, refuse_world

Array = np.ndarray
JOINT_TOLERANCE, MAX_ITERATIONS = 1e-12, 30
"""How far joints may be open at the end of a step [m, or m² of unit axes], and how many iterations a step may take."""


@dataclass
class Midpoint:
    """dt: step [s]. newton_tolerance: relative residual; linear: "auto", "cg" or "direct"."""

    dt: float = 0.01
    linear: Literal["auto", "cg", "direct"] = field(default="auto", kw_only=True)
    newton_tolerance: float = field(default=1e-12, kw_only=True)

    def __post_init__(self) -> None:
        check_dt(self.dt, "Midpoint")
        check_tolerances("Midpoint", newton_tolerance=self.newton_tolerance)
        self._solve = LinearSolve(LinearOptions(self.linear, 1e-10))

    @property
    def residual_limit(self) -> float:
        """Largest relative residual of a step that is solved."""
        return self.newton_tolerance

    def prepare(self, system: System) -> None:
        """Find the matrix pattern."""
        refuse_elimination(system, "Midpoint")
        refuse_world(system, "Midpoint")
        if linkage_of(system) is None:
            _ = system.assembly

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        check_step(system, state, "Midpoint.step")
        return self.advance(system, state, 1)

    def advance(self, system: System, state: State, steps: int) -> StepReport:
        """So many steps of dt, in place; those of frames on joints in one compiled call."""
        linkage, times, reports = linkage_of(system), step_times(state.t, self.dt, steps), list[StepReport]()
        while times:
            if linkage is not None:
                made = linkage.advance(
                    state, self.dt, len(times), self.newton_tolerance, JOINT_TOLERANCE, MAX_ITERATIONS
                )
                if made.steps:
                    outcome = Outcome.SOLVED if state.is_finite else Outcome.NOT_FINITE
                    count = made.steps * made.iterations
                    reports.append(StepReport(outcome, count, residual=made.residual, steps=made.steps))
                    state.t, times = times[made.steps - 1], times[made.steps :]
            if times:
                reports.append(self._step(system, state))
                Linkage.forget(state)
                state.t, times = times[0], times[1:]
        return reports[0] if len(reports) == 1 else StepReport.joined(reports)

    def _step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt in the general way, in place."""
        h = self.dt
        kin0 = system.propagate(state.t, state.x, state.v)
        system.begin_joints(kin0, h, state.t + h)
        joints = system.joint_row_count > 0
        meets = np.concatenate([rows.meets for _, _, rows in system.joints]) * 1.0 if joints else np.zeros(0)

        def evaluate(u: Array) -> Evaluation:
            kin = system.propagate(state.t + h / 2, system.retract(state.x, h / 2 * u), u)
            impulse, f = system.impulse(kin0, kin), system.force(kin)
            scale = float(np.linalg.norm(system.mass_product(kin, u)) + h * np.linalg.norm(f))
            turning = Turning(by_momentum(kin0, h / 2), h / 2 * u, h / 2, h * u)
            if not joints:
                return Evaluation(impulse - h / 2 * f, kin, kin, scale or 1.0, h / 2, turning=turning)
            end = system.propagate(state.t + h, system.retract(state.x, h * u), u)
            pulls = ((kin0, 0.5 * meets), (end, 0.5 * meets), (kin, 1.0 - meets))
            return Evaluation(impulse - h / 2 * f, kin, end, scale or 1.0, h / 2, pulls=pulls, turning=turning)

        t1 = state.t + h
        given = system.filter.flat(system.filter.increment(state.x, t1) / h, system.v_size)
        start = state.v.copy()
        system.filter.project(start)
        s = Newton(self._solve, tolerance=self.newton_tolerance, joint_tolerance=JOINT_TOLERANCE).solve(
            system,
            evaluate,
            start + given,
            Weights(1.0, -h / 2, -h * h / 4, h),
            multipliers=state.memory.get("multipliers"),
        )
        mid = s.last.kin
        f = system.force(mid)
        if joints:
            f = f + pulled_forces(system, s.last, s.multipliers)
        x1 = system.retract(state.x, h * s.u)
        v1 = self._end_velocity(system, kin0, mid, x1, t1, h * f)
        state.x, state.t = x1, t1
        system.filter.project_position(state.x, t1)
        state.v = project_velocity(system, system.propagate(t1, state.x, v1), s.multipliers) if joints else v1
        if joints:
            state.memory["multipliers"] = s.multipliers
        return StepReport(s.outcome, s.iterations, s.linear_iterations, s.residual)

    def _end_velocity(
        self, system: System, kin0: Kinematics, mid: Kinematics, x1: Array, t1: float, push: Array
    ) -> Array:
        """v1 from P(x1, v1) - P(x0, v0) = push, seen from the middle.

        From the start, not from the middle: momentum is then kept whatever Newton left over. Masses on mapped points
        and masses that change with positions are pulled back in the middle, which the mass at x1 only approximates: a
        few corrections take it to round-off.
        """
        v1 = np.zeros_like(push)
        system.filter.project_velocity(v1, t1, self.dt)
        led = v1.copy()
        for _ in range(1 if has_constant_mass(system) else 12):
            end = system.propagate(t1, x1, v1)
            rest = transport(system, mid, end, push - system.impulse(kin0, end, at=mid))
            rest += system.mass_product(end, v1)
            before, v1 = v1, solve_filtered_mass(system, end, rest, led)
            if np.abs(v1 - before).max(initial=0.0) <= 1e-15 * np.abs(v1).max(initial=0.0):
                break
        return v1
