"""Newton's method with line search for the residual of an implicit step or an equilibrium.

    r(u, l) = 0,  phi(u) = 0:     [A  -G^T][du]   [-r]          A = dr/du,  G = dphi/dx,  w = dx/du
                                  [G    0 ][dl] = [-phi / w]

A has the exact stiffness for the direct solver, and how momentum turns with frames (`turning_inertia`); a stiffness
made definite for conjugate gradients. A step is halved while it lowers none of these: |r| (with the joints' violation,
in the units of r); where the residual is the gradient of an energy, that energy as Armijo asks; where it is not, the
length of the correction that would follow by the same matrix [Deu04]. Slender and stiff bodies need the latter two: on
the way |r| grows at first. Where a mass changes with positions, the last two residuals count: without that change in A,
as by conjugate gradients, they fall over two iterations rather than in each. An |r| as small as rounding of the
positions makes it counts as solved even above the tolerance: in stiff solids large element forces cancel, and nothing
smaller can be reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sparse

from supple.bodies.protocols import is_changing
from supple.scene.kinematics import Kinematics
from supple.scene.linearization import Linearization
from supple.scene.system import System
from supple.scene.transport import transport
from supple.solvers.linear.contradictions import refuse_contradiction
from supple.solvers.linear.joint_solve import JointSystem
from supple.solvers.linear.linear_step import LinearSolve
from supple.solvers.linear.solution import LinearSolution
from supple.solvers.linear.turning_inertia import LITTLE, TurnedAxes, Turning, effective_masses
from supple.solvers.report import Outcome

Array = np.ndarray


NEAR = 1e-5
"""Relative residual from which on it may be rounding alone."""
ROUNDINGS = 4.0
"""Of the change of r by one rounding of the positions: the sums in a stiff force round some times more than once."""


@dataclass(frozen=True)
class Weights:
    """A = mass M + damping B + stiffness K; position = dx/du, how far positions move a unit of the unknown."""

    mass: float
    damping: float
    stiffness: float
    position: float


@dataclass
class Evaluation:
    """r at u without the joints' forces; the state the forces were taken at; the state the joints must hold in.

    pulls: the states at which G^T l is taken and the weights of its rows there, if not all at kin.
    scale: the size of the terms that cancel in r, to measure it against. push: factor of G^T l in r. energy: of
    which r is the gradient, or None. turning: how inertia turns with frames, None where there is none.
    """

    residual: Array
    kin: Kinematics
    end: Kinematics
    scale: float
    push: float
    energy: float | None = None
    load: float = 1.0
    pulls: tuple[tuple[Kinematics, Array], ...] = ()
    turning: Turning | None = None


@dataclass
class NewtonSolution:
    """u and multipliers at the end, with how it went; residual is relative to the terms that cancel."""

    u: Array
    multipliers: Array
    last: Evaluation
    outcome: Outcome
    iterations: int
    linear_iterations: int
    residual: float


@dataclass
class Newton:
    """tolerance: relative residual. joint_tolerance: largest violation [m, or m² of unit axes]."""

    linear: LinearSolve
    tolerance: float = 1e-8
    joint_tolerance: float = 1e-10
    max_iterations: int = 30
    max_halvings: int = 10

    def solve(
        self,
        system: System,
        evaluate: Callable[[Array], Evaluation],
        u: Array,
        weights: Weights,
        *,
        multipliers: Array | None = None,
        accept: Callable[[Array], Array] | None = None,
    ) -> NewtonSolution:
        """From a start u (with the prescribed parts in place) to r = 0.

        accept(u) is told each step taken and returns the u to go on from, for unknowns that are moves from a base.
        """
        m = system.joint_row_count
        l = np.zeros(m) if multipliers is None or multipliers.size != m else multipliers.copy()
        now = evaluate(u)
        r, merit = self._merit(system, now, l, weights)
        linear_iterations, rounding = 0, 0.0
        memory = 2 if any(is_changing(mass) for _, _, mass in system.masses) else 1
        recent = [merit]
        outcome, unmet = Outcome.NEWTON_LIMIT, np.zeros(m)
        w = {"mass": weights.mass, "damping": weights.damping, "stiffness": weights.stiffness}
        definite = self.linear.options.uses_cg(system, **w)
        for iteration in range(self.max_iterations + 1):
            if not np.isfinite(merit):
                return NewtonSolution(u, l, now, Outcome.NOT_FINITE, iteration, linear_iterations, np.inf)
            violation = self._open(system, now, l) if m else 0.0
            size = float(np.linalg.norm(r))
            if iteration and self.tolerance * now.scale < size <= NEAR * now.scale and not rounding:
                rounding = ROUNDINGS * rounding_of(system, evaluate, u, now, weights)
            if size <= max(self.tolerance * now.scale, rounding) and violation <= self.joint_tolerance:
                outcome = Outcome.SOLVED
                break
            if iteration == self.max_iterations:
                break
            step, held = self._direction(system, now, u, r, l, weights, definite=definite)
            slope = float(r @ step.d)
            if now.energy is not None and slope >= 0:
                step, held = self._direction(system, now, u, r, l, weights, definite=True)
                slope = float(r @ step.d)
            linear_iterations += step.iterations
            unmet = step.unmet * weights.position
            dl = step.multipliers / now.push if m else np.zeros(0)
            size = 1.0
            best = None
            for _ in range(self.max_halvings + 1):
                trial = evaluate(u + size * step.d)
                trial_r, trial_merit = self._merit(system, trial, l + size * dl, weights)
                falls = trial_merit <= (1 - 1e-4 * size) * max(recent)
                if trial.energy is not None and now.energy is not None:
                    falls = falls or trial.energy <= now.energy + 1e-4 * size * slope
                elif not falls and np.isfinite(trial_merit):
                    falls = self._is_nearer(system, trial, trial_r, step, held, size, weights)
                if np.isfinite(trial_merit) and (best is None or falls or trial_merit < best[0]):
                    best = (trial_merit, size, trial, trial_r)
                if np.isfinite(trial_merit) and falls:
                    break
                size *= 0.5
            if best is None:
                return NewtonSolution(u, l, now, Outcome.NOT_FINITE, iteration + 1, linear_iterations, np.inf)
            new_merit, size, now, r = best
            recent = [*recent, new_merit][-memory:]
            u, l = u + size * step.d, l + size * dl
            u = u if accept is None else accept(u)
            if new_merit >= merit and size < 1e-2:  # no way down: rounding, or a tangent of no use
                merit = new_merit
                limit = max(10 * self.tolerance * now.scale, rounding)
                outcome = Outcome.SOLVED if np.linalg.norm(r) <= limit and not m else Outcome.NEWTON_LIMIT
                break
            merit = new_merit
        if outcome is Outcome.NEWTON_LIMIT and np.abs(unmet).max(initial=0.0) > self.joint_tolerance:
            refuse_contradiction(system, now.end, np.isnan(bound_of(system, l, system.violation(now.end))))
        relative = float(np.linalg.norm(r)) / now.scale if now.scale else 0.0
        return NewtonSolution(u, l, now, outcome, iteration, linear_iterations, relative)

    def _open(self, system: System, now: Evaluation, l: Array) -> float:
        """Largest violation of what must hold, infinite where a multiplier has not reached its bound."""
        held = bound_of(system, l, system.violation(now.end))
        if np.any(~np.isnan(held) & (np.abs(held - l) > 1e-9 * (1 + np.abs(l)))):
            return np.inf
        return float(np.abs(_unbounded_violation(system, now, l)).max())

    def _direction(
        self, system: System, now: Evaluation, u: Array, r: Array, l: Array, weights: Weights, *, definite: bool
    ) -> tuple[LinearSolution, Array]:
        """The step of u, and the change of multipliers that go to their bounds, NaN of others."""
        tangent = Tangent.of(system, now, u, l, weights, definite=definite)
        s, held = self._solved(system, now, tangent, r, l, weights)
        return (s if tangent.axes is None else replace(s, d=tangent.axes.undone(s.d))), held

    def _solved(
        self, system: System, now: Evaluation, tangent: Tangent, r: Array, l: Array, weights: Weights
    ) -> tuple[LinearSolution, Array]:
        lin, joints = tangent.lin, None
        if l.size:
            gap = -system.violation(now.end) / weights.position
            held = bound_of(system, l, system.violation(now.end))
            pull, given = pull_matrix(system, now, lin), now.push * (held - l)
            open = float(np.abs(_unbounded_violation(system, now, l)).max())
            joints = JointSystem(pull, tangent.joint_rows(system, now), gap, given, now.push * l, open)
        solve = partial(self.linear.solve, lin, -r, mass=weights.mass, damping=weights.damping)
        s = solve(stiffness=weights.stiffness, joints=joints)
        if joints is None:
            return s, np.zeros(0)
        if np.abs(s.unmet).max(initial=0.0) * weights.position <= self.joint_tolerance:
            return s, joints.held
        bound = now.push * (given_up(system, joints.held, s.unmet) - l)
        given = np.where(np.isnan(bound), joints.held, bound)
        if np.isnan(bound).all():
            return s, joints.held
        return solve(stiffness=weights.stiffness, joints=replace(joints, held=given)), given

    def _is_nearer(
        self, system: System, trial: Evaluation, r: Array, step: LinearSolution, held: Array, size: float, w: Weights
    ) -> bool:
        """Whether the correction that would follow by the same matrix is shorter, measured by the mass [Deu04]. held:
        what multipliers at their bounds still had to change, NaN of others."""
        if step.again is None:
            return False
        open = -system.violation(trial.end) / w.position
        after = step.again(-r, np.where(np.isnan(held), open, (1 - size) * held))
        length, before = (float(d @ system.mass_product(trial.kin, d)) for d in (after, step.d))
        return length <= (1 - size / 4) ** 2 * before

    def _merit(self, system: System, e: Evaluation, l: Array, weights: Weights) -> tuple[Array, float]:
        """The filtered residual with the joints' forces, and |r|² + (violation in the units of r)²."""
        r = e.residual
        if l.size:
            r = r - e.push * pulled_forces(system, e, l)
        r = r.copy()
        system.filter.project(r)
        total = float(r @ r)
        if l.size:
            stiff = e.scale / max(weights.position, 1e-12)
            total += float(np.sum((stiff * _unbounded_violation(system, e, l)) ** 2))
            held = bound_of(system, l, system.violation(e.end))
            total += float(np.sum(np.where(np.isnan(held), 0.0, e.push * (l - held)) ** 2))
        return r, total


@dataclass(frozen=True, eq=False)
class Tangent:
    """The matrix of an iteration, by moves in the axes of the state of the forces. axes: T of these moves, None where
    they are changes of the unknowns; at_end: T of the state of the joints."""

    lin: Linearization
    axes: TurnedAxes | None = None
    at_end: TurnedAxes | None = None

    @classmethod
    def of(cls, system: System, now: Evaluation, u: Array, l: Array, weights: Weights, *, definite: bool) -> Tangent:
        """At the state of an evaluation at u."""
        turning = None if definite else now.turning
        by = partial(system.linearize, now.kin, definite=definite, multipliers=l if l.size else None, load=now.load)
        if turning is None or not any(slot.coordinates.turns for slot in system.bodies):
            return cls(by())
        axes = TurnedAxes(system, turning.move)
        if axes.angle <= LITTLE:
            return cls(by())
        masses = effective_masses(system, turning, axes, u, weights.mass)
        at_end = axes if turning.end is turning.move else TurnedAxes(system, turning.end)
        return cls(by(masses=masses), axes, at_end)

    def joint_rows(self, system: System, now: Evaluation) -> Any:
        """G of the moves."""
        G = (self.lin if now.end is now.kin else system.linearize(now.end)).joint_jacobian()
        if self.axes is None or self.at_end is None or self.at_end is self.axes:
            return G
        return self.axes.brought(G, self.at_end)


def rounding_of(
    system: System, evaluate: Callable[[Array], Evaluation], u: Array, now: Evaluation, weights: Weights
) -> float:
    """How much r changes where every position is off by its last digit: no iteration gets r below that [units of r].

    In a stiff solid forces far larger than their sum cancel, and this is above a tolerance that looks at the sum.
    """
    move = np.zeros(system.v_size)
    for slot in system.bodies:
        x, out = slot.view_x(now.end.flat_x), slot.view_v(move)
        out[:, :3] = np.abs(x[:, :3])
        if out.shape[1] > 3:
            out[:, 3:6] = 1.0
            out[:, 6:] = np.abs(x[:, 7:])
    move *= np.finfo(float).eps / weights.position * np.sign(np.sin(1.7 * np.arange(1, len(move) + 1)))
    system.filter.project(move)
    change = evaluate(u + move).residual - now.residual
    system.filter.project(change)
    return float(np.linalg.norm(change))


def bound_of(system: System, l: Array, violation: Array) -> Array:
    """The bound at which each multiplier rests, NaN where its condition must hold.

    A multiplier within its bounds holds its condition; one that would leave them stays at the bound and lets go.
    """
    low, high = system.joint_bounds
    wanted = l - violation  # pushes against the violation; any positive factor gives the same rest
    return np.where(wanted <= low, low, np.where(wanted >= high, high, np.nan))


def given_up(system: System, held: Array, unmet: Array) -> Array:
    """The bound of multipliers whose rows cannot be met beside others that say the same, NaN for all others.

    A motor that drives against a limit goes to its largest torque and lets go. held: NaN where rows hold; unmet: what
    no motion can meet of each, see `joint_solve`.
    """
    low, high = system.joint_bounds
    bound = np.where(unmet < 0, low, high)
    quarrels = np.isnan(held) & (np.abs(unmet) > 1e-3 * np.abs(unmet).max(initial=0.0))
    return np.where(quarrels & np.isfinite(bound) & (bound != 0.0), bound, np.nan)


def _unbounded_violation(system: System, e: Evaluation, l: Array) -> Array:
    """phi of the conditions that must hold, zero elsewhere."""
    violation = system.violation(e.end)
    return np.where(np.isnan(bound_of(system, l, violation)), violation, 0.0)


def pulled_forces(system: System, e: Evaluation, l: Array) -> Array:
    """G^T l in the axes of the evaluation, taken where it says."""
    if not e.pulls:
        return joint_forces(system, e.kin, l)
    parts = [transport(system, kin, e.kin, joint_forces(system, kin, weight * l)) for kin, weight in e.pulls]
    return np.sum(parts, axis=0)


def pull_matrix(system: System, e: Evaluation, lin: Linearization) -> Any:
    """The G whose transpose `pulled_forces` applies; lin: at the state of the evaluation."""
    if not e.pulls:
        return lin.joint_jacobian()
    total: Any = 0.0
    for kin, weight in e.pulls:
        G = (lin if kin is e.kin else system.linearize(kin)).joint_jacobian()
        rows = weight[:, None] * G if isinstance(G, np.ndarray) else sparse.diags_array(weight) @ G
        total = total + transport(system, kin, e.kin, rows)
    return total


def joint_forces(system: System, kin: Kinematics, l: Array) -> Array:
    """G^T l on the bodies, flat."""
    out = kin.zeros()
    start = 0
    for _, slot, rows in system.joints:
        out[slot.index] += (l[start : start + rows.count] @ rows.jacobian(kin.x[slot.index])).reshape(-1, 3)
        start += rows.count
    kin.pull(out)
    return system.gather(out)
