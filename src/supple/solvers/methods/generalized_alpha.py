"""Newmark's method and generalised-alpha on the rotation group [AB07, BCA12].

    x1 = x0 moved by h v0 + h² ((1/2 - beta) a0 + beta a1),     v1 = v0 + h ((1 - gamma) a0 + gamma a1)
    (1 - alpha_m) a1 + alpha_m a0 = (1 - alpha_f) dv1 + alpha_f dv0
    M dv1 = f(x1, v1) + bias + G^T l,   phi(x1) = 0

dv is the true acceleration, a an auxiliary one. rho: the factor by which the fastest motions shrink a step; 1 keeps all
energy, 0 removes them at once. Newmark's method is alpha_m = alpha_f = 0; beta = 1/4, gamma = 1/2 is second order.
Newton's method begins with the acceleration before, or with x1 = x0 moved by h v0 where that leaves less: in stiff
bodies accelerations of the fastest motions turn round in every step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from supple.bodies.protocols import LocalState, is_changing
from supple.errors import InputError, check_number
from supple.scene.kinematics import Kinematics
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.linear.linear_step import LinearSolve
from supple.solvers.linear.mass_solve import acceleration, project_velocity
from supple.solvers.linear.newton import Evaluation, Newton, Weights
from supple.solvers.linear.solution import LinearOptions
from supple.solvers.linear.turning_inertia import Turning
from supple.solvers.methods.implicit_euler import check_dt, check_tolerances
from supple.solvers.report import StepReport
from supple.solvers.world import check_step, refuse_elimination, refuse_world

Array = np.ndarray
Method = Literal["auto", "cg", "direct"]


@dataclass(frozen=True, eq=False)
class _Motion:
    """Where an acceleration dv1 leads from a state; a0, rest: those before, and what they add to a1 = ratio dv1."""

    scheme: _Scheme
    kin0: Kinematics
    a0: Array
    rest: Array
    ratio: float

    def of(self, dv1: Array, rows: slice = slice(None)) -> tuple[Array, Array, Array]:
        """The move of positions, v1 and a1 of some rows, flat."""
        h, b, g, a0, v0 = self.scheme.dt, self.scheme.beta, self.scheme.gamma, self.a0[rows], self.kin0.flat_v[rows]
        a1 = self.ratio * dv1 + self.rest[rows]
        return h * v0 + h * h * ((0.5 - b) * a0 + b * a1), v0 + h * ((1 - g) * a0 + g * a1), a1

    def inertia(self, slot: Slot, mass: Any, dv1: Array) -> Array:
        """M dv1 - bias of one mass, dv1 (n, width) of its body."""
        move, v1, _ = (part.reshape(dv1.shape) for part in self.of(dv1.ravel(), slot.v_slice))
        x, out, bias = slot.coordinates.retract(self.kin0.x.of(slot), move), np.zeros_like(dv1), np.zeros_like(dv1)
        (mass.at(x) if is_changing(mass) else mass).add_product(dv1, out, 1.0)
        mass.add_bias(LocalState(self.kin0.t + self.scheme.dt, x, v1), bias)
        return np.asarray(out - bias)


@dataclass
class _Scheme:
    """The common step of both methods. method: the name of the one that takes it."""

    method: str
    dt: float
    beta: float
    gamma: float
    alpha_m: float
    alpha_f: float
    newton: Newton
    damps: bool

    def prepare(self, system: System) -> None:
        """Find the matrix pattern; refuse joints where nothing would damp their multipliers."""
        refuse_elimination(system, self.method)
        refuse_world(system, self.method)
        if system.joints and not self.damps:
            raise InputError(
                "joints make this method unstable without numerical damping",
                where=self.method,
                fix="Use GeneralizedAlpha with rho <= 0.9, Newmark with gamma >= 0.6, or Midpoint.",
            )
        _ = system.assembly

    def step(self, system: System, state: State) -> StepReport:
        check_step(system, state, f"{self.method}.step")
        if system.joints:
            self.prepare(system)
        h, b, g, am, af = self.dt, self.beta, self.gamma, self.alpha_m, self.alpha_f
        if "acceleration" not in state.memory:
            kin = system.propagate(state.t, state.x, state.v)
            dv = acceleration(system, kin, self.dt, state.memory.get("multipliers"))
            state.memory["acceleration"], state.memory["auxiliary"] = dv, dv.copy()
        dv0, a0 = state.memory["acceleration"], state.memory["auxiliary"]
        t1, ratio = state.t + h, (1 - af) / (1 - am)
        kin0 = system.propagate(state.t, state.x, state.v)
        system.begin_joints(kin0, h, t1)
        rest = (af * dv0 - am * a0) / (1 - am)
        motion = _Motion(self, kin0, a0, rest, ratio)

        def evaluate(dv1: Array) -> Evaluation:
            move, v1, _ = motion.of(dv1)
            kin = system.propagate(t1, system.retract(state.x, move), v1)
            push, f = system.mass_product(kin, dv1) - system.bias(kin), system.force(kin)
            scale = float(np.linalg.norm(push) + np.linalg.norm(f))
            turning = Turning(motion.inertia, move, h * h * b * ratio, move)
            return Evaluation(push - f, kin, kin, scale or 1.0, 1.0, turning=turning)

        def start(dv1: Array) -> tuple[float, Array]:
            """An acceleration to begin with, with the prescribed motion in place, and its residual."""
            if len(system.filter):
                system.filter.project(dv1)
                x_free = system.retract(state.x, motion.of(dv1)[0])
                move = system.filter.increment(x_free, t1) / (h * h * b * ratio)
                dv1 += system.filter.flat(move, system.v_size)
            r = evaluate(dv1).residual
            system.filter.project(r)
            return float(np.linalg.norm(r)), dv1

        same, straight = start(dv0.copy()), start(((1 - 0.5 / b) * a0 - rest) / ratio)
        first = straight[1] if straight[0] < same[0] else same[1]
        weights = Weights(1.0, -h * g * ratio, -h * h * b * ratio, h * h * b * ratio)
        s = self.newton.solve(system, evaluate, first, weights, multipliers=state.memory.get("multipliers"))
        move, state.v, a1 = motion.of(s.u)
        state.x = system.retract(state.x, move)
        state.t = t1
        system.filter.project_position(state.x, t1)
        state.memory["acceleration"], state.memory["auxiliary"] = s.u, a1
        if s.multipliers.size:
            before = state.memory.get("multipliers", np.full(s.multipliers.size, np.inf))
            state.memory["multipliers"] = s.multipliers
            self._land(system, state, s.multipliers, before)
        return StepReport(s.outcome, s.iterations, s.linear_iterations, s.residual)

    def _land(self, system: System, state: State, multipliers: Array, before: Array) -> None:
        """Where a limit or motor begins to hold, its velocity is met at once, as in an inelastic stop. While it goes on
        to hold, it is a condition as others are: accelerations that were found anew from the forces in each step would
        keep the fastest vibrations of a stiff body, which the method damps."""
        low, high = system.joint_bounds
        bounded = ~(np.isinf(low) & np.isinf(high))
        holds, held = ((l > low) & (l < high) for l in (multipliers, before))
        if np.any(bounded & holds & ~held):
            kin = system.propagate(state.t, state.x, state.v)
            state.v = project_velocity(system, kin, multipliers)
            del state.memory["acceleration"], state.memory["auxiliary"]


@dataclass
class Newmark:
    """dt: step [s]. beta, gamma: Newmark's; gamma = 1/2, beta = 1/4 keeps the energy of linear systems."""

    dt: float = 0.01
    beta: float = field(default=0.25, kw_only=True)
    gamma: float = field(default=0.5, kw_only=True)
    linear: Method = field(default="auto", kw_only=True)
    newton_tolerance: float = field(default=1e-10, kw_only=True)

    def __post_init__(self) -> None:
        check_dt(self.dt, "Newmark")
        check_tolerances("Newmark", newton_tolerance=self.newton_tolerance)
        for name in ("beta", "gamma"):
            check_number(getattr(self, name), name=name, where="Newmark")
        if not (0.5 <= self.gamma <= min(2 * self.beta, 1.0)):
            raise InputError(
                "outside the stable range",
                where="Newmark",
                value=(self.beta, self.gamma),
                allowed="1/2 <= gamma <= 2 beta, gamma <= 1",
            )
        newton = Newton(LinearSolve(LinearOptions(self.linear, 1e-10)), tolerance=self.newton_tolerance)
        self._scheme = _Scheme("Newmark", self.dt, self.beta, self.gamma, 0.0, 0.0, newton, self.gamma >= 0.55)

    @property
    def residual_limit(self) -> float:
        """Largest relative residual of a step that is solved."""
        return self.newton_tolerance

    def prepare(self, system: System) -> None:
        """Find the matrix pattern; refuse joints where nothing would damp their multipliers."""
        self._scheme.prepare(system)

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        return self._scheme.step(system, state)


@dataclass
class GeneralizedAlpha:
    """dt: step [s]. rho: what is left of the fastest motions after a step, in [0, 1]; second order for every rho."""

    dt: float = 0.01
    rho: float = field(default=0.8, kw_only=True)
    linear: Method = field(default="auto", kw_only=True)
    newton_tolerance: float = field(default=1e-10, kw_only=True)

    def __post_init__(self) -> None:
        check_dt(self.dt, "GeneralizedAlpha")
        check_tolerances("GeneralizedAlpha", newton_tolerance=self.newton_tolerance)
        check_number(self.rho, name="rho", where="GeneralizedAlpha", least=0.0, most=1.0)
        am, af = (2 * self.rho - 1) / (self.rho + 1), self.rho / (self.rho + 1)
        gamma = 0.5 + af - am
        newton = Newton(LinearSolve(LinearOptions(self.linear, 1e-10)), tolerance=self.newton_tolerance)
        beta, damps = 0.25 * (gamma + 0.5) ** 2, self.rho <= 0.95
        self._scheme = _Scheme("GeneralizedAlpha", self.dt, beta, gamma, am, af, newton, damps)

    @property
    def residual_limit(self) -> float:
        """Largest relative residual of a step that is solved."""
        return self.newton_tolerance

    def prepare(self, system: System) -> None:
        """Find the matrix pattern; refuse joints where nothing would damp their multipliers."""
        self._scheme.prepare(system)

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        return self._scheme.step(system, state)
