"""Symplectic Euler: explicit; energy without drift below its stable step; momentum kept but for the spin of frames.

v += h M^-1 (f(x, v) + bias),   x moves by h v
stable for  h < 2/w (sqrt(1 + z²) - z),   w: highest frequency,  z = (alpha/w + beta w)/2 from the damping at w
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from supple.errors import InputError, check_number
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.linear.mass_solve import acceleration, solve_filtered_mass
from supple.solvers.methods.implicit_euler import check_dt
from supple.solvers.report import Outcome, StepReport
from supple.solvers.world import check_step, refuse_elimination, refuse_world

Array = np.ndarray


class _Step:
    """h² K_s + 2 h C against M at one state, with the filters applied; K_s = -df/dx, C = -df/dv."""

    def __init__(self, system: System, state: State) -> None:
        self.system, self.n = system, system.v_size
        self.kin = system.propagate(state.t, state.x, state.v)
        self.lin = system.linearize(self.kin, definite=True)

    def _free(self, d: Array) -> Array:
        free = np.array(d).ravel()
        self.system.filter.project(free)
        return free

    def product(self, d: Array, stiffness: float, damping: float) -> Array:
        """C (stiffness K_s + damping C) C d."""
        return self._free(-self.lin.product(self._free(d), stiffness=stiffness, damping=damping))

    def mass(self, d: Array) -> Array:
        """M on the free directions, the identity on the others."""
        free = self._free(d)
        return self._free(self.system.mass_product(self.kin, free)) + d.ravel() - free

    def solve_mass(self, f: Array) -> Array:
        """The inverse of `mass`."""
        free = self._free(f)
        return solve_filtered_mass(self.system, self.kin, free, np.zeros(self.n)) + f.ravel() - free

    def fastest(self, h: float) -> tuple[float, float]:
        """Stiffness k [1/s²] and damping c [1/s] a unit of mass of the motion with the largest h² k + 2 h c."""
        shape = (self.n, self.n)
        start = self._free(np.random.default_rng(0).normal(size=self.n))
        if not np.linalg.norm(self.product(start, h * h, 2 * h)) > 0:  # nothing is stiff, or nothing is finite
            return 0.0, 0.0
        _, vectors = eigsh(
            LinearOperator(shape, matvec=lambda d: self.product(d, h * h, 2 * h), dtype=float),
            k=1,
            M=LinearOperator(shape, matvec=self.mass, dtype=float),
            Minv=LinearOperator(shape, matvec=self.solve_mass, dtype=float),
            which="LM",
            v0=start,
            tol=1e-4,
        )
        d = vectors[:, 0]
        m = float(d @ self.mass(d))
        return float(d @ self.product(d, 1.0, 0.0)) / m, float(d @ self.product(d, 0.0, 1.0)) / m


def stable_step(system: System, state: State, *, safety: float = 0.9) -> float:
    """The largest stable step [s] at a state, times a safety factor; infinite where nothing is stiff or damped.

    The step's own fastest motion decides: its limit h² k + 2 h c = 4 gives a smaller h, whose fastest motion is sought
    again, until the step no longer falls.
    """
    matrix, h = _Step(system, state), 1.0
    for _ in range(12):
        k, c = matrix.fastest(h)
        if k <= 0.0 and c <= 0.0:
            return np.inf
        limit = (np.sqrt(c * c + 4 * k) - c) / k if k > 1e-12 * c * c else 2 / c
        if abs(limit - h) <= 1e-4 * h:
            break
        h = float(limit)
    return safety * h


@dataclass
class SymplecticEuler:
    """dt: step [s]; None: the computed stable one. A larger one than stable is refused, with the stable one named."""

    dt: float | None = None
    safety: float = field(default=0.9, kw_only=True)

    def __post_init__(self) -> None:
        if self.dt is not None:
            check_dt(self.dt, "SymplecticEuler")
        check_number(self.safety, name="safety", where="SymplecticEuler", above=0.0, most=1.0)
        self._checked: System | None = None

    def prepare(self, system: System) -> None:
        """Compute the stable step at the start, and take or check the step."""
        refuse_elimination(system, "SymplecticEuler")
        refuse_world(system, "SymplecticEuler")
        if system.joints:
            raise InputError(
                "joints need an implicit solver",
                where="SymplecticEuler",
                fix="Use Partitioned, or Midpoint without trees.",
            )
        largest = stable_step(system, system.initial_state(), safety=self.safety)
        if self.dt is None:
            self.dt = largest if np.isfinite(largest) else 0.01
        elif self.dt > largest / self.safety:
            raise InputError(
                "the step is larger than stable",
                where="SymplecticEuler",
                value=self.dt,
                allowed=f"<= {largest:.3g} s",
                fix="Take that step, dt=None, or ImplicitEuler.",
            )
        self._checked = system

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        check_step(system, state, "SymplecticEuler.step")
        if self._checked is not system:
            self.prepare(system)
        assert self.dt is not None
        a = acceleration(system, system.propagate(state.t, state.x, state.v), self.dt)
        state.v = state.v + self.dt * a
        t1 = state.t + self.dt
        system.filter.project_velocity(state.v, t1, self.dt)
        state.x = system.retract(state.x, self.dt * state.v)
        state.t = t1
        system.filter.project_position(state.x, t1)
        return StepReport(Outcome.SOLVED if state.is_finite else Outcome.NOT_FINITE)
