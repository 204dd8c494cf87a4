"""Implicit Euler: stable at large steps, first order, dissipative.

    linearised   (M - h B - h² K) dv = h (f + bias + h K v),   v += dv,  x moves by h v     K = df/dx, B = df/dv
    full         M (v1 - v0) = h f(x1, v1),  x1 = x0 moved by h v1,  by Newton's method

The bias of rigid bodies is its mean over a step in which they turn freely, which keeps their angular momentum and
never gains energy. The signs are those of K = df/dx throughout; the slides [Faure07] mix them, see docs/theory.md.
Joints: the linearised step asks for G v1 = -phi / h; what then is open at its end, since frames turn, is closed by
further forces of the joints within the step, A dd = G^T dl, G(x1) dd = -phi(x1) / h, so that momentum is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np

from supple.contact.bound import BoundContact
from supple.errors import InputError, check_flag, check_number, is_finite, is_number
from supple.scene.kinematics import Kinematics
from supple.scene.linearization import Linearization
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.coupling.contact_steps import ContactStep, Solve
from supple.solvers.coupling.contact_warnings import warn_unsettled
from supple.solvers.coupling.touched_part import TouchedPart
from supple.solvers.linear.contradictions import refuse_contradiction
from supple.solvers.linear.frame_momentum import keep_linear_momentum
from supple.solvers.linear.free_flight import FreeFlight
from supple.solvers.linear.joint_solve import JointSystem
from supple.solvers.linear.linear_step import LinearSolve
from supple.solvers.linear.lost_momentum import given_back
from supple.solvers.linear.newton import Evaluation, Newton, Weights, bound_of, given_up
from supple.solvers.linear.prediction import predicted_change
from supple.solvers.linear.solution import LinearOptions, LinearSolution
from supple.solvers.linear.step_blocks import StepBlocks
from supple.solvers.linear.turning_inertia import Turning, by_momentum
from supple.solvers.report import Outcome, StepReport
from supple.solvers.rigid.step import RigidStep
from supple.solvers.world import check_step, refuse_elimination, refuse_soft_restitution, refuse_world

Array = np.ndarray
SHORTEST = 1e-15
"""[s] Shortest step: its square and their inverses are far from the ends of the numbers."""
CLOSED, OPEN = 1e-10, 1e-6
"""Of the size: how far joints are closed at the end of a step, and from where on one that does not says so."""
MAX_CLOSINGS, FALLS = 30, 0.9
"""How often joints are closed within a step, each time to at most this part of what was open."""
CONTACT_TOLERANCE = 1e-6
"""Part of the impulse of contacts up to which their iterations may leave it open, unless the solver's own is larger."""


def check_dt(dt: float, solver: str) -> float:
    """A positive finite step [s], of which 1/dt is finite too."""
    if not is_number(dt) or not is_finite(dt) or dt < SHORTEST:
        value = f"{dt} s" if is_number(dt) else dt
        raise InputError("the step is not positive", where=solver, value=value, allowed=f">= {SHORTEST:g} s")
    return float(dt)


def check_tolerances(solver: str, **values: float) -> None:
    """Tolerances that are finite and not negative."""
    for name, value in values.items():
        check_number(value, name=name, where=solver, least=0.0)


class Parts(NamedTuple):
    """How a step is solved in parts. components(): labels (n,) of block rows that forces connect, None where it
    cannot be; within(keep): the step of some block rows (n,) that nothing connects to others."""

    components: Callable[[], Array | None]
    within: Callable[[Array], LinearStep]


@dataclass(eq=False)
class LinearStep:
    """A linearised step that has begun. v: velocities of its start; solve(b, extra, start): see `ContactStep`;
    part(touched, extra): what responds to forces on block rows; close(s, extra): a solution with closed joints; right:
    makes b. parts: None where it is a part of another. definite(): the same with a stiffness made definite, None where
    it is. times(d): A d, without joints; None where there are some. blocks: the matrix of a part whose motion is
    not prescribed; flight: of bodies that turn as a whole."""

    v: Array
    solve: Solve
    part: Callable[[Array, Any], TouchedPart]
    close: Callable[[LinearSolution, Any], LinearSolution]
    right: Callable[[], Array]
    parts: Parts | None = None
    definite: Callable[[], LinearStep] | None = None
    times: Callable[[Array], Array] | None = None
    blocks: StepBlocks | None = None
    flight: FreeFlight | None = None

    @classmethod
    def empty(cls) -> LinearStep:
        """Of no unknowns."""
        none = TouchedPart(np.zeros(0, dtype=bool), np.zeros((0, 0)), None)
        return cls(np.zeros(0), _nothing, lambda touched, extra: none, lambda s, extra: s, lambda: np.zeros(0))

    @cached_property
    def b(self) -> Array:
        """The right side of the step without contacts."""
        return self.right()


@dataclass
class ImplicitEuler:
    """dt: step [s]. newton: solve the nonlinear step fully instead of one linearised solve.

    linear: "auto", "cg" or "direct"; rigid bodies that touch by convex shapes, with nothing else in the scene, are
    solved by compiled loops unless it is "cg". tolerance, max_iterations: of conjugate gradients; preconditioner:
    "auto", "block_jacobi", "aggregation", "incomplete_cholesky", "bodies", "jacobi" or "none".

    >>> import supple as sp
    >>> scene = sp.Scene(gravity=(0, 0, -10))
    >>> _ = scene.add(sp.RigidBody.sphere(0.1, density=500), name="ball")
    >>> system = scene.compile(); state = system.initial_state()
    >>> report = sp.ImplicitEuler(dt=0.1).step(system, state)
    >>> float(round(state.v[2], 12))
    -1.0
    """

    dt: float = 0.01
    newton: bool = field(default=False, kw_only=True)
    linear: Literal["auto", "cg", "direct"] = field(default="auto", kw_only=True)
    tolerance: float = field(default=1e-6, kw_only=True)
    max_iterations: int | None = field(default=None, kw_only=True)
    preconditioner: str = field(default="auto", kw_only=True)
    newton_tolerance: float = field(default=1e-8, kw_only=True)

    def __post_init__(self) -> None:
        check_dt(self.dt, "ImplicitEuler")
        check_flag(self.newton, name="newton", where="ImplicitEuler")
        check_tolerances("ImplicitEuler", tolerance=self.tolerance, newton_tolerance=self.newton_tolerance)
        if self.max_iterations is not None:
            check_number(self.max_iterations, name="max_iterations", where="ImplicitEuler", least=1, whole=True)
        options = LinearOptions(self.linear, self.tolerance, self.max_iterations, self.preconditioner)
        self._solve = LinearSolve(options)
        self._joints: JointSystem | None = None
        self._has_warned = False

    @property
    def residual_limit(self) -> float:
        """Largest relative residual of a step that is solved."""
        return self.newton_tolerance if self.newton else self.tolerance

    @property
    def contact_tolerance(self) -> float:
        """Part of the impulse of contacts that a step may leave open."""
        return max(CONTACT_TOLERANCE, self.tolerance)

    def prepare(self, system: System) -> None:
        """Find the matrix pattern, and choose the linear solver."""
        refuse_elimination(system, "ImplicitEuler")
        refuse_soft_restitution(system, "ImplicitEuler")
        _ = system.assembly
        if self._solve.options.uses_cg(system, **self._weights):
            aggregates = self._solve.options.aggregates(system, **self._weights)
            if aggregates and system.assembly is not None:
                self._solve.aggregation(system, system.assembly.matrix)

    @property
    def _weights(self) -> dict[str, float]:
        """Of M, B and K in the matrix of a step."""
        return {"mass": 1.0, "damping": -self.dt, "stiffness": -self.dt * self.dt}

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        check_step(system, state, "ImplicitEuler.step")
        return self._full(system, state) if self.newton else self._linearised(system, state)

    def _linearised(self, system: System, state: State) -> StepReport:
        rigid = self._rigid_step(system)
        if rigid is not None:
            report = rigid.step(system, state, self.dt, self.contact_tolerance)
            if report is not None:
                return report
        has_contacts = bool(system.contacts)
        kin = system.propagate(state.t, state.x, state.v)
        contacts = ContactStep.begin(system, kin, state, self.dt) if has_contacts else None
        begun = self.begin(system, kin, None if contacts is None else contacts.J.touched)
        if contacts is None:
            return self.finish(system, state, begun.close(begun.solve(begun.b), None), flight=begun.flight)
        s = contacts.solve(begun.b, begun.solve)
        s = s.with_linear(begun.close(s.linear, s.extra), contacts.h)
        if s.left > self.contact_tolerance and not self._has_warned:
            self._has_warned = True
            warn_unsettled(contacts, begun.b, begun.solve, s.left, state.t, self.contact_tolerance)
        contacts.end(s, state)
        bound, flight = system.contacts, begun.flight
        return self.finish(system, state, s.linear, s.iterations, s.left, bound=bound, flight=flight)

    def _rigid_step(self, system: System) -> RigidStep | None:
        """How rigid bodies that touch by their shapes are stepped, where there is nothing else."""
        if self.linear == "cg":
            return None
        if "rigid step" not in system.memo:
            system.memo["rigid step"] = RigidStep.of(system)
        found: RigidStep | None = system.memo["rigid step"]
        return found

    def begin(
        self, system: System, kin: Kinematics, touched: Array | None = None, *, definite: bool = False
    ) -> LinearStep:
        """The linear system of a step from `kin`, A d = b: how it is solved for d, the change of velocity. It is
        linearised when a solution is asked for, of all bodies or of a part of them; touched (n,): block rows on which
        contacts or couplings may act; definite: with a stiffness made so."""
        flight = FreeFlight.of(system, kin.flat_x, kin.flat_v, self.dt, touched)
        h, t1 = self.dt, kin.t + self.dt
        given = system.filter.increment(kin.flat_x, t1) / h
        prescribed = system.filter.flat(given, system.v_size) - _restricted(system, kin.flat_v)
        weights = self._weights
        iterates = self._solve.options.uses_cg(system, **weights)
        definite = definite or iterates

        @cache
        def linearized() -> Linearization:
            return system.linearize(kin, definite=definite)

        def solve(
            b: Array,
            extra: Any = None,
            start: Array | None = None,
            tolerance: float = 0.0,
            pull: Array | None = None,
        ) -> LinearSolution:
            if system.joints:
                return self._with_joints(system, linearized(), b, prescribed, extra, start, tolerance, pull)
            if iterates and start is None and extra is None:
                start = predicted_change(system, kin, h, flight)
            return self._solve.solve(
                linearized(),
                b,
                mass=1.0,
                damping=-h,
                stiffness=-h * h,
                prescribed=prescribed,
                extra=extra,
                start=start,
                tolerance=tolerance,
                pull=pull,
            )

        def part(touched: Array, extra: Any = None) -> TouchedPart:
            joints = self._joints if system.joints else None
            return self._solve.part(linearized(), touched, joints, extra, **weights)

        def close(s: LinearSolution, extra: Any) -> LinearSolution:
            return self._closed(system, linearized(), s, extra) if system.joints else s

        def components() -> Array | None:
            return self._solve.components(system)

        def within(keep: Array) -> LinearStep:
            lin = system.within(keep).linearize(kin, definite=definite)
            rows, label, blocks = np.repeat(keep, 3), components(), self._solve.within(lin, keep, **weights)
            assert label is not None
            given = prescribed[rows] if prescribed.any() else None

            def solve(b: Array, extra: Any = None, *how: Any) -> LinearSolution:
                return blocks.solve(b, given, extra, *how)

            return LinearStep(
                kin.flat_v[rows],
                solve,
                partial(blocks.part, label[keep]),
                close,
                lambda: self._right(lin, flight)[rows],
                blocks=blocks if given is None else None,
            )

        return LinearStep(
            kin.flat_v,
            solve,
            part,
            close,
            lambda: self._right(linearized(), flight),
            Parts(components, within),
            None if definite else partial(self.begin, system, kin, touched, definite=True),
            None if system.joints else lambda d: linearized().product(d, **weights),
            flight=flight,
        )

    def _right(self, lin: Linearization, flight: FreeFlight | None) -> Array:
        """b = h (f + bias + h K v), see `free_flight` of bodies that turn as a whole."""
        v = lin.kin.flat_v
        b = lin.force + lin.system.bias(lin.kin, self.dt)
        b += self.dt * lin.product(v if flight is None else v - flight.turning, stiffness=1.0)
        b *= self.dt
        if flight is not None:
            b += flight.inertia
        return b

    def finish(
        self,
        system: System,
        state: State,
        s: LinearSolution,
        iterations: int = 1,
        left: float = 0.0,
        *,
        bound: Sequence[BoundContact] = (),
        flight: FreeFlight | None = None,
    ) -> StepReport:
        """Move the state by a solution. left: part of the impulse of contacts that their iterations left open; bound:
        contacts whose rigid bodies may not be thrown through each other; flight: of bodies that
        turn as a whole."""
        h, t1, start = self.dt, state.t + self.dt, State(state.t, state.x, state.v)
        state.v = state.v + s.d
        if s.lost is not None:
            state.v += given_back(system, start.x, s.lost, flight)
        way = h * state.v
        for contact in bound:
            if contact.rigid is not None:
                contact.rigid.shorten(state.x, state.v, h, way)
        state.x = system.retract(state.x, way)
        if flight is not None:
            flight.end(start.x, state.x, state.v)
        state.t = t1
        system.filter.project_position(state.x, t1)
        keep_linear_momentum(system, start, state)
        if s.multipliers.size:
            state.memory["multipliers"] = s.multipliers / h
        outcome = Outcome.SOLVED if s.ok else Outcome.UNDER_CONVERGED
        if s.opened > OPEN:
            outcome = Outcome.JOINT_LIMIT
        if left > self.contact_tolerance:
            outcome = Outcome.CONTACT_LIMIT
        return StepReport(outcome if state.is_finite else Outcome.NOT_FINITE, iterations, s.iterations, s.residual)

    def _with_joints(
        self,
        system: System,
        lin: Linearization,
        b: Array,
        prescribed: Array,
        extra: Any = None,
        start: Array | None = None,
        tolerance: float = 0.0,
        pull: Array | None = None,
    ) -> LinearSolution:
        """Solve with G v1 = -phi / h, until every bounded multiplier either rests at its bound or holds its row."""
        h, v = self.dt, lin.kin.flat_v
        system.begin_joints(lin.kin, h, lin.kin.t + h)
        G, phi = lin.joint_jacobian(), system.violation(lin.kin)
        l = np.zeros(system.joint_row_count)
        expected = phi + h * (G @ v)
        held = bound_of(system, l, expected)
        for _ in range(20):
            open = float(np.abs(phi[np.isnan(held)]).max(initial=0.0))
            joints = self._joints = JointSystem(G, G, -phi / h - G @ v, h * held, np.zeros(len(l)), open)
            s = self._solve.solve(
                lin,
                b,
                mass=1.0,
                damping=-h,
                stiffness=-h * h,
                prescribed=prescribed,
                joints=joints,
                extra=extra,
                start=start,
                tolerance=tolerance,
                pull=pull,
            )
            l, expected = s.multipliers / h, phi + h * (G @ (v + s.d))
            expected[np.isnan(held)] = 0.0
            now = bound_of(system, l, expected)
            if np.abs(h * s.unmet).max() > 1e-9:  # multipliers of rows that quarrel tell nothing of the others
                bound = given_up(system, held, s.unmet)
                now = np.where(np.isnan(bound), held if (~np.isnan(bound)).any() else now, bound)
            if np.array_equal(np.isnan(now), np.isnan(held)):
                break
            held = now
        if np.abs(h * s.unmet).max() > 1e-9 + drift_bound(system, lin.kin, h):
            refuse_contradiction(system, lin.kin, np.isnan(held))
        return s

    def _closed(self, system: System, lin: Linearization, s: LinearSolution, extra: Any) -> LinearSolution:
        """A solution with further forces of the joints that close them where the step ends."""
        kin, h, rests = lin.kin, self.dt, ~np.isnan(self._joints.held) if self._joints is not None else False
        G, best = lin.joint_jacobian(), replace(s, opened=np.inf)
        for closing in range(MAX_CLOSINGS):
            v = kin.flat_v + s.d
            end = system.propagate(kin.t + h, system.retract(kin.flat_x, h * v), v)
            off = np.where(rests, 0.0, system.violation(end))
            s = replace(s, opened=float(np.abs(off).max()) / extent_of(system))
            if not s.opened < FALLS * best.opened:
                return best if best.opened <= s.opened else s
            if s.opened <= CLOSED or closing == MAX_CLOSINGS - 1:
                break
            G_end = Linearization(system, end, [], False, None).joint_jacobian()
            held, none = np.where(rests, 0.0, np.nan), np.zeros(system.v_size)
            rows = JointSystem(G, G_end, -off / h, held, np.zeros(len(off)), float(np.abs(off).max()))
            more = self._solve.solve(
                lin, none, mass=1.0, damping=-h, stiffness=-h * h, joints=rows, extra=extra, size=s.size
            )
            lost = s.lost if more.lost is None else more.lost if s.lost is None else s.lost + more.lost
            l, count = s.multipliers + more.multipliers, s.iterations + more.iterations
            best, s = s, replace(s, d=s.d + more.d, multipliers=l, iterations=count, lost=lost)
        return s

    def _full(self, system: System, state: State) -> StepReport:
        refuse_world(system, "ImplicitEuler(newton=True)")
        h, t1 = self.dt, state.t + self.dt
        kin0 = system.propagate(state.t, state.x, state.v)
        system.begin_joints(kin0, h, t1)

        def evaluate(v1: Array) -> Evaluation:
            kin = system.propagate(t1, system.retract(state.x, h * v1), v1)
            impulse, f = system.impulse(kin0, kin), system.force(kin)
            scale = float(np.linalg.norm(system.mass_product(kin, v1)) + h * np.linalg.norm(f))
            turning = Turning(by_momentum(kin0, h), move := h * v1, h, move)
            return Evaluation(impulse - h * f, kin, kin, scale or 1.0, h, turning=turning)

        given = system.filter.increment(state.x, t1) / h
        start = state.v - _restricted(system, state.v) + system.filter.flat(given, system.v_size)
        newton = Newton(self._solve, tolerance=self.newton_tolerance)
        s = newton.solve(
            system, evaluate, start, Weights(1.0, -h, -h * h, h), multipliers=state.memory.get("multipliers")
        )
        state.v, state.x, state.t = s.u, system.retract(state.x, h * s.u), t1
        system.filter.project_position(state.x, t1)
        if s.multipliers.size:
            state.memory["multipliers"] = s.multipliers
        return StepReport(s.outcome, s.iterations, s.linear_iterations, s.residual)


def _nothing(
    b: Array, extra: Any = None, start: Array | None = None, tolerance: float = 0.0, pull: Array | None = None
) -> LinearSolution:
    """The solution of no unknowns, but forces on shapes."""
    g = np.zeros(0) if extra is None or extra.yielding is None else extra.yielding.eliminated(pull)
    return LinearSolution(np.zeros(0), np.zeros(0), 0, 0.0, True, pulled=g)


def drift_bound(system: System, kin: Kinematics, h: float) -> float:
    """How far a linearised step may open a joint: the turn of its frames times the move of its points, r (w h)²."""
    moves = [np.abs(h * kin.v[slot.index]) for _, slot, _ in system.joints]
    turns = [np.abs(h * kin.v[slot.index][:, 3:6]) for slot in system.bodies if kin.v[slot.index].shape[1] >= 6]
    move, turn = (max((float(a.max(initial=0.0)) for a in many), default=0.0) for many in (moves, turns))
    return 2.0 * turn * move


def extent_of(system: System) -> float:
    """The largest extent of a body [m]; 1 where all are points."""
    if "extent" not in system.memo:
        extents = [float(np.ptp(slot.node.rest, axis=0).max(initial=0.0)) for slot in system.bodies]
        system.memo["extent"] = max(extents, default=0.0) or 1.0
    return float(system.memo["extent"])


def _restricted(system: System, v: Array) -> Array:
    """(I - C) v, flat."""
    free = v.copy()
    system.filter.project(free)
    return v - free
