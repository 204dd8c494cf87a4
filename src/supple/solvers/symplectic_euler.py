"""Symplectic Euler: explicit; energy without drift below its stable step; momentum kept but for the spin of frames.

v += h M^-1 (f(x, v) + bias),   x moves by h v
stable for  h < 2/w (sqrt(1 + z²) - z),   w: highest frequency,  z = (alpha/w + beta w)/2 from the damping at w
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from supple.errors import InputError
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.implicit_euler import check_dt
from supple.solvers.mass_solve import acceleration, solve_filtered_mass
from supple.solvers.report import Outcome, StepReport

Array = np.ndarray


def highest_mode(system: System, state: State) -> tuple[float, float]:
    """Highest frequency w [rad/s] of M^-1 K at a state, and the damping rate d^T(-B)d / d^T M d [1/s] of its mode."""
    kin = system.propagate(state.t, state.x, state.v)
    lin = system.linearize(kin, definite=True)
    n = system.v_size

    def apply(d: Array) -> Array:
        y = -lin.product(d.ravel(), stiffness=1.0)
        system.filter.project(y)
        return y

    def mass(d: Array) -> Array:
        free = d.ravel().copy()
        system.filter.project(free)
        y = system.mass_product(kin, free)
        system.filter.project(y)
        return y + d.ravel() - free

    def solve(f: Array) -> Array:
        free = f.ravel().copy()
        system.filter.project(free)
        return solve_filtered_mass(system, kin, free, np.zeros(n)) + f.ravel() - free

    K = LinearOperator((n, n), matvec=apply, dtype=float)
    M = LinearOperator((n, n), matvec=mass, dtype=float)
    inverse = LinearOperator((n, n), matvec=solve, dtype=float)
    start = np.random.default_rng(0).normal(size=n)
    system.filter.project(start)
    if not np.linalg.norm(apply(start)) > 0:  # nothing is stiff, or nothing is finite
        return 0.0, 0.0
    value, vector = eigsh(K, k=1, M=M, Minv=inverse, which="LM", v0=start, tol=1e-3)
    d = vector[:, 0]
    rate = -float(d @ lin.product(d, damping=1.0)) / float(d @ mass(d))
    return float(np.sqrt(max(value[0], 0.0))), max(rate, 0.0)


def stable_step(system: System, state: State, *, safety: float = 0.9) -> float:
    """The largest stable step [s] at a state, times a safety factor; infinite where nothing is stiff."""
    w, rate = highest_mode(system, state)
    if w == 0.0:
        return np.inf
    z = rate / (2 * w)
    return safety * 2 / w * (np.sqrt(1 + z * z) - z)


@dataclass
class SymplecticEuler:
    """dt: step [s]; None: the computed stable one. A larger one than stable is refused, with the stable one named."""

    dt: float | None = None
    safety: float = field(default=0.9, kw_only=True)

    def __post_init__(self) -> None:
        if self.dt is not None:
            check_dt(self.dt, "SymplecticEuler")
        self._checked: System | None = None

    def prepare(self, system: System) -> None:
        """Compute the stable step at the start, and take or check the step."""
        if system.joints:
            raise InputError(
                "joints need an implicit solver", where="SymplecticEuler", fix="Use Midpoint or GeneralizedAlpha."
            )
        largest = stable_step(system, system.initial_state(), safety=self.safety)
        if self.dt is None:
            self.dt = largest if np.isfinite(largest) else 0.01
        elif self.dt > largest / self.safety:
            raise InputError(
                "the step is larger than stable", where="SymplecticEuler", value=self.dt, allowed=f"<= {largest:.3g} s"
            )
        self._checked = system

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
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
