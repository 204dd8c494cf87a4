"""Implicit midpoint on the rotation group: second order, time-reversible, conserves momentum to round-off.

    u: velocity over the step (linear in world axes, angular in body axes)
    x_m = x0 moved by h/2 u,   P(x_m, u) - P(x0, v0) = h/2 f(x_m, u),        P momentum in world axes
    x1 = x0 moved by h u,      P(x1, v1) - P(x_m, u) = h/2 f(x_m, u)

For points this is the classical rule, v1 = 2u - v0. For frames the momentum R I w is balanced in the world, so that
a free body keeps it exactly, and the map is symmetric in time, so that its energy error does not grow [Krysl05].
Joints hold at x1; v1 is then projected on their tangent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from supple.algebra import rotations
from supple.scene.kinematics import Kinematics
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.implicit_euler import check_dt
from supple.solvers.linear import LinearOptions, LinearSolve
from supple.solvers.mass_solve import project_velocity, solve_filtered_mass
from supple.solvers.newton import Evaluation, Newton, Weights, joint_forces
from supple.solvers.report import StepReport

Array = np.ndarray


@dataclass
class Midpoint:
    """dt: step [s]. newton_tolerance: relative residual; linear: "auto", "cg" or "direct"."""

    dt: float = 0.01
    linear: Literal["auto", "cg", "direct"] = field(default="auto", kw_only=True)
    newton_tolerance: float = field(default=1e-12, kw_only=True)

    def __post_init__(self) -> None:
        check_dt(self.dt, "Midpoint")
        self._solve = LinearSolve(LinearOptions(self.linear, 1e-10))

    def prepare(self, system: System) -> None:
        """Find the matrix pattern."""
        _ = system.assembly

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        h = self.dt
        kin0 = system.propagate(state.t, state.x, state.v)
        system.begin_joints(kin0, h, state.t + h)
        joints = system.joint_row_count > 0

        def evaluate(u: Array) -> Evaluation:
            kin = system.propagate(state.t + h / 2, system.retract(state.x, h / 2 * u), u)
            impulse, f = system.impulse(kin0, kin), system.force(kin)
            scale = float(np.linalg.norm(system.mass_product(kin, u)) + h * np.linalg.norm(f))
            end = system.propagate(state.t + h, system.retract(state.x, h * u), u) if joints else kin
            return Evaluation(impulse - h / 2 * f, kin, end, scale or 1.0, h / 2)

        t1 = state.t + h
        given = system.filter.flat(system.filter.increment(state.x, t1) / h, system.v_size)
        start = state.v.copy()
        system.filter.project(start)
        s = Newton(self._solve, tolerance=self.newton_tolerance, joint_tolerance=1e-12).solve(
            system,
            evaluate,
            start + given,
            Weights(1.0, -h / 2, -h * h / 4, h),
            multipliers=state.memory.get("multipliers"),
        )
        mid = s.last.kin
        f = system.force(mid)
        if joints:
            f = f + joint_forces(system, mid, s.multipliers)
        x1 = system.retract(state.x, h * s.u)
        rest = system.propagate(t1, x1, np.zeros_like(s.u))
        # from the start, not from the middle: momentum is then kept whatever Newton left over
        target = np.zeros_like(s.u)
        system.filter.project_velocity(target, t1, h)
        momentum = h * transport(system, mid, rest, f) - system.impulse(kin0, rest)
        v1 = solve_filtered_mass(system, rest, momentum, target)
        state.x, state.t = x1, t1
        system.filter.project_position(state.x, t1)
        state.v = project_velocity(system, system.propagate(t1, state.x, v1), s.multipliers) if joints else v1
        if joints:
            state.memory["multipliers"] = s.multipliers
        return StepReport(s.outcome, s.iterations, s.linear_iterations, s.residual)


def transport(system: System, kin: Kinematics, kin1: Kinematics, f: Array) -> Array:
    """A flat force at one state, seen from the axes of another: torques of frames turn with their body axes."""
    out = f.copy()
    for slot in system.bodies:
        if slot.coordinates.x_width == 7:
            q, q1 = kin.x[slot.index][:, 3:], kin1.x[slot.index][:, 3:]
            torque = slot.view_v(out)[:, 3:]
            slot.view_v(out)[:, 3:] = rotations.rotate_inverse(q1, rotations.rotate(q, torque))
    return out
