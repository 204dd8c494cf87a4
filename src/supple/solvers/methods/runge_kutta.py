"""Fourth-order Runge-Kutta on the rotation group: the reference for the others.

d' = dexp^-1(d) v,   v' = M^-1 (f + bias)          positions are x0 moved by d; dexp is the identity for points [MK98]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.traits import has_memory
from supple.errors import DivergenceError, InputError
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.linear.mass_solve import acceleration
from supple.solvers.methods.implicit_euler import check_dt
from supple.solvers.methods.symplectic_euler import stable_step
from supple.solvers.report import Outcome, StepReport
from supple.solvers.world import check_step, refuse_elimination, refuse_world

Array = np.ndarray
STABLE = 2**0.5
"""Its largest stable step over that of symplectic Euler: 2.83 / w against 2 / w for motions without damping."""


@dataclass
class RungeKutta4:
    """dt: step [s], which must be well below the period of the fastest motion."""

    dt: float = 1e-3

    def __post_init__(self) -> None:
        check_dt(self.dt, "RungeKutta4")

    def prepare(self, system: System) -> None:
        """Refuse what the method cannot hold."""
        refuse_elimination(system, "RungeKutta4")
        refuse_world(system, "RungeKutta4")
        if any(has_memory(force) for _, _, force in system.forces):
            raise InputError(
                "a force remembers what happened to it, which this method does not advance",
                where="RungeKutta4",
                fix="Use the body's own stride, such as LatticeSolver.",
            )
        if system.joints:
            raise InputError(
                "joints need an implicit solver", where="RungeKutta4", fix="Use Partitioned, or Midpoint without trees."
            )
        largest = STABLE * stable_step(system, system.initial_state(), safety=1.0)
        if self.dt > largest:
            raise InputError(
                "the step is larger than stable",
                where="RungeKutta4",
                value=self.dt,
                allowed=f"<= {0.9 * largest:.3g} s",
                fix="Take that step, or ImplicitEuler.",
            )

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        check_step(system, state, "RungeKutta4.step")
        h, x0, v0 = self.dt, state.x, state.v
        weights = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))
        d_rate, v_rate = np.zeros_like(v0), np.zeros_like(v0)
        d_sum, v_sum = np.zeros_like(v0), np.zeros_like(v0)
        for c, b in weights:
            d, v = c * h * d_rate, v0 + c * h * v_rate
            t = state.t + c * h
            x = system.retract(x0, d)
            system.filter.project_position(x, t)
            system.filter.project_velocity(v, t, h)
            v_rate = acceleration(system, system.propagate(t, x, v), h)
            d_rate = _coordinate_rate(system, d, v)
            d_sum += b * d_rate
            v_sum += b * v_rate
        state.x, state.v, state.t = system.retract(x0, h * d_sum), v0 + h * v_sum, state.t + h
        system.filter.project_position(state.x, state.t)
        system.filter.project_velocity(state.v, state.t, h)
        return StepReport(Outcome.SOLVED if state.is_finite else Outcome.NOT_FINITE)


def _coordinate_rate(system: System, d: Array, v: Array) -> Array:
    """dexp^-1(d) v: how fast the move d changes while the body has the velocity v."""
    out = v.copy()
    for slot in system.bodies:
        if slot.coordinates.turns:
            theta, w = slot.view_v(d)[:, 3:6], slot.view_v(v)[:, 3:6]
            if not float(np.abs(theta).max()) < np.pi:
                raise DivergenceError(
                    "the body turns by more than half a turn within a step",
                    where=f"RungeKutta4, body '{slot.name}'",
                    fix="Take a smaller dt, or an implicit solver.",
                )
            slot.view_v(out)[:, 3:6] = np.einsum("nij,nj->ni", rotations.dexp_inverse(theta), w)
    return out
