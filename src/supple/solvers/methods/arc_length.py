"""Equilibria along a path, past the largest load that they carry, by arc length [Rik79, Cri81].

    f(x) + load p(x) + G^T l = 0,   phi(x) = 0,   u . W u = ds²        u: the moves since the last point, W = M / m

The arc is the root mean square move of the mass, which means the same on any mesh and for frames that turn. The load
has no part in it: Crisfield's cylinder. A step goes along the tangent (u', load', l') of the last point,

    K u' + p load' + G^T l' = 0,   G u' = 0,   t . W u' > 0,   u' . W u' = 1           t: the tangent before it

which keeps the sense of the path where loads fall and where moves turn back. Newton's method corrects it by the
bordered system of `bordered_step`. A step that is not solved, or that leaves the tangents at its ends by a large angle,
is tried at half its length: the path has a bend, or the step came to another part of it. Between two points where load'
changes its sign, the limit point, load' = 0, is found by false position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from supple.errors import ConvergenceError, InputError, check_instance, check_number
from supple.scene.kinematics import Kinematics
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.linear.linear_step import LinearSolve
from supple.solvers.linear.newton import NEAR, Newton
from supple.solvers.linear.solution import LinearOptions
from supple.solvers.methods.bordered_step import OPEN, LoadedBalance, Point, Row
from supple.solvers.methods.equilibrium_path import EquilibriumPath
from supple.solvers.methods.small_motions import is_special
from supple.solvers.methods.statics import move_to
from supple.solvers.report import Outcome, StepReport

Array = np.ndarray
Stop = Callable[[float, State], bool]
LEAST = 1e-100
"""Least part of the loads and arc [m] that are asked for: their squares are numbers, too."""
MAX_ITERATIONS, WANTED = 12, 5
"""Corrections after which a step is tried shorter, and those with which the next is as long."""
LEAST_COSINE, CALM_COSINE = 0.9, 0.95
"""Of the angles between a step and the tangents at its ends, below which it is tried shorter; of that between these
tangents, above which the next may be longer."""
LARGEST_SHARE = 2.0
"""Of the first step's part of the loads: what a step may carry by its tangent."""
LONGER, SHORTER, SHORTEST = 2.0, 0.5, 1e-8
"""Length of a step over the one before, at most and at least; and of any over the first."""
ASTRAY = 3.0
"""Of a step's length: where corrections lead farther, they lead elsewhere."""
FLAT, CARRIED, MAX_SEARCHES = 1e-5, 1e-10, 40
"""load' at a limit point over that beside it; how near to all loads the end is; steps tried to find them."""


class Tangent(NamedTuple):
    """u' (v_size,), W u', load' [1/m], l' [1/m]."""

    move: Array
    weighed: Array
    load: float
    multipliers: Array


class Step(NamedTuple):
    """A point that was reached, its tangent, its arc from the last one [m], and how it was found."""

    point: Point
    tangent: Tangent
    arc: float
    iterations: int
    residual: float
    is_limit: bool = False


@dataclass
class ArcLength:
    """Follows equilibria by arc length. tolerance: residual relative to the loads; load_steps: the first step would
    carry this part of the loads, if nothing changed with them; longest: arc of a step at most [m], of the root mean
    square move of the mass; max_points: points of the path at most."""

    tolerance: float = 1e-8
    load_steps: int = field(default=10, kw_only=True)
    longest: float | None = field(default=None, kw_only=True)
    max_points: int = field(default=500, kw_only=True)

    def __post_init__(self) -> None:
        check_number(self.tolerance, name="tolerance", where="ArcLength", above=0.0)
        check_number(self.load_steps, name="load_steps", where="ArcLength", least=1, whole=True)
        check_number(self.max_points, name="max_points", where="ArcLength", least=2, whole=True)
        if self.longest is not None:
            check_number(self.longest, name="longest", where="ArcLength", least=LEAST)

    def follow(self, system: System, state: State, *, until: float = 1.0, stop: Stop | None = None) -> EquilibriumPath:
        """The path from the equilibrium without loads to that with `until` of them, or to where stop(load, state) says
        so. The report tells whether it got there."""
        check_followed(system)
        check_number(until, name="until", where="ArcLength.follow")
        if abs(until) < LEAST:
            raise InputError("a path without loads has no end", where="ArcLength.follow, until", value=until)
        if stop is not None and not callable(stop):
            raise InputError("stop is not a function of load and state", where="ArcLength.follow", value=stop)
        return _Walk(self, system, state, float(until), stop).path()


def check_followed(system: System) -> None:
    """Refuse a scene whose path cannot be followed."""
    where = "equilibrium_path"
    if is_special(system):
        raise InputError(
            "paths of trees and of contacts are not followed",
            where=where,
            fix="Use solve_statics, or settle the scene.",
        )
    if system.joints and np.isfinite(np.concatenate(system.joint_bounds)).any():
        raise InputError("joints have limits or motors", where=where, fix="Take them away, or use solve_statics.")


class _Walk:
    """One path while it is followed."""

    def __init__(self, options: ArcLength, system: System, state: State, until: float, stop: Stop | None) -> None:
        self.options, self.system, self.until, self.stop = options, system, until, stop
        self.state = state.copy()
        self.state.v[:] = 0.0
        self.steps: list[Step] = []
        self.states: list[State] = []
        self.lengths: list[float] = []
        self.limits: list[int] = []
        self.iterations, self.mass, self.reference = 0, 1.0, 0.0

    def path(self) -> EquilibriumPath:
        """All of it."""
        o, system = self.options, self.system
        newton = Newton(LinearSolve(LinearOptions("direct", 1e-10)), tolerance=o.tolerance, max_iterations=50)
        at_rest = move_to(newton, system, self.state, 0.0)
        self.iterations = at_rest.iterations
        if at_rest.outcome is not Outcome.SOLVED:
            return self._ended(at_rest.outcome, at_rest.residual)
        last, ds = self._first(at_rest.residual)
        shortest = SHORTEST * ds
        self._append(last, 0.0)
        begin = 0.0
        while len(self.steps) < o.max_points:
            share = LARGEST_SHARE * abs(self.until) / o.load_steps
            ds = min(ds, o.longest or ds, share / max(abs(last.tangent.load), share / ds))
            step = self._step(last, ds)
            way = None if step is None else self._on_the_way(last, step)
            if step is None or way is None:
                ds *= SHORTER
                if ds < shortest:
                    return self._ended(Outcome.NEWTON_LIMIT, float("inf"))
                continue
            for one in way[: o.max_points - len(self.steps)]:
                self._append(one, begin + one.arc)
                if one.point.load == self.until or self._stops():
                    return self._ended(Outcome.SOLVED)
            begin += ds
            if last.tangent.weighed @ step.tangent.move > CALM_COSINE:
                ds *= float(np.clip(np.sqrt(WANTED / max(step.iterations, 1)), SHORTER, LONGER))
            last = step
        return self._ended(Outcome.PATH_LIMIT)

    def _first(self, residual: float) -> tuple[Step, float]:
        """The start, with its tangent towards the loads, and the length of the first step."""
        system, none = self.system, np.zeros(self.system.joint_row_count)
        point = Point(self.state.x, 0.0, self.state.memory.get("multipliers", none))
        balance = LoadedBalance(system, self.state.t, point)
        if not balance.p.any():
            raise InputError("no load acts on what may move", where="equilibrium_path", fix="Add loads, or gravity.")
        self.reference = abs(self.until) * float(np.linalg.norm(balance.p))
        self.mass = sum(float(balance.kin.first_moment(slot, mass)[0]) for _, slot, mass in system.masses)
        towards = Row(np.zeros(system.v_size), 1.0, float(np.sign(self.until)))
        tangent = self._tangent(balance, towards)
        ds = abs(self.until / self.options.load_steps / tangent.load)
        return Step(point, tangent, 0.0, 0, residual), ds

    def _tangent(self, balance: LoadedBalance, row: Row) -> Tangent:
        """Of length one; row: what gives it its sense."""
        c = balance.solve(row, balances=False)
        weighed = self._weighed(balance.kin, c.move)
        length = float(np.sqrt(c.move @ weighed))
        return Tangent(c.move / length, weighed / length, c.load / length, c.multipliers / length)

    def _weighed(self, kin: Kinematics, d: Array) -> Array:
        """W d."""
        out = self.system.mass_product(kin, d) / self.mass
        self.system.filter.project(out)
        return out

    def _step(self, last: Step, ds: float) -> Step | None:
        """The point at an arc from the last one, by corrections from its tangent's end; None where it is not found."""
        system, t = self.system, last.tangent
        kin = system.propagate(self.state.t, last.point.x, np.zeros(system.v_size))
        u, load, multipliers = ds * t.move, last.point.load + ds * t.load, last.point.multipliers + ds * t.multipliers
        x = system.retract(last.point.x, u)
        try:
            for iteration in range(MAX_ITERATIONS + 1):
                balance, weighed = (
                    LoadedBalance(system, self.state.t, Point(x, load, multipliers)),
                    self._weighed(kin, u),
                )
                arc = float(u @ weighed)
                if not (np.isfinite(balance.left) and arc <= (ASTRAY * ds) ** 2):
                    return None
                scale = max(balance.scale, self.reference)
                if iteration and self._is_solved(balance, scale):
                    break
                if iteration == MAX_ITERATIONS:
                    return None
                c = balance.solve(Row(weighed, 0.0, 0.5 * (ds * ds - arc)))
                self.iterations += 1
                x, u = system.retract(x, c.move), u + c.move
                load, multipliers = load + c.load, multipliers + c.multipliers
            tangent = self._tangent(balance, Row(t.weighed, 0.0, 1.0))
        except ConvergenceError:
            return None
        if not min(u @ t.weighed, u @ tangent.weighed) >= LEAST_COSINE * ds:  # around a bend, or to another branch
            return None
        system.filter.project_position(x, self.state.t)
        return Step(Point(x, load, multipliers), tangent, ds, iteration, balance.left / scale)

    def _is_solved(self, balance: LoadedBalance, scale: float) -> bool:
        if balance.open > OPEN:
            return False
        if balance.left <= self.options.tolerance * scale:
            return True
        return balance.left <= NEAR * scale and balance.left <= balance.rounding()

    def _on_the_way(self, last: Step, step: Step) -> list[Step] | None:
        """A step, after the limit point on its way, or what there is of it until all loads are carried; None where
        these are not found."""
        way = [step]
        if step.tangent.load * last.tangent.load < 0.0:
            flat = FLAT * max(abs(last.tangent.load), abs(step.tangent.load))
            limit = self._where(last, (last, step), lambda one: one.tangent.load, flat)
            if limit is None:
                return None
            way = [limit._replace(is_limit=True), step]
        for k, (one, other) in enumerate(pairwise([last, *way])):
            gaps = one.point.load - self.until, other.point.load - self.until
            if gaps[0] * gaps[1] <= 0.0 and gaps[0] != 0.0:
                close = CARRIED * abs(self.until)
                end = self._where(last, (one, other), lambda one: one.point.load - self.until, close)
                return None if end is None else [*way[:k], end._replace(point=end.point._replace(load=self.until))]
        return way

    def _where(self, last: Step, ends: tuple[Step, Step], value: Callable[[Step], float], close: float) -> Step | None:
        """The point between two, both at an arc from the last one, where a value is zero: by false position, the weight
        of an end that stays halved."""
        arcs, values, side = [0.0 if one is last else one.arc for one in ends], [value(one) for one in ends], -1
        for _ in range(MAX_SEARCHES):
            arc = (arcs[0] * values[1] - arcs[1] * values[0]) / (values[1] - values[0])
            found = self._step(last, arc) if arc > 0.0 else None
            if found is None or abs(value(found)) <= close:
                return found
            which = 0 if value(found) * values[0] > 0.0 else 1
            arcs[which], values[which] = arc, value(found)
            if which == side:
                values[1 - which] *= 0.5
            side = which
        return None

    def _append(self, step: Step, length: float) -> None:
        """length: of the path until there [m]."""
        if step.is_limit:
            self.limits.append(len(self.steps))
        state = self.state.copy()
        state.x = step.point.x
        if step.point.multipliers.size:
            state.memory["multipliers"] = step.point.multipliers
        self.steps.append(step)
        self.states.append(state)
        self.lengths.append(length)

    def _stops(self) -> bool:
        return self.stop is not None and bool(self.stop(self.steps[-1].point.load, self.states[-1].copy()))

    def _ended(self, outcome: Outcome, residual: float | None = None) -> EquilibriumPath:
        worst = max((step.residual for step in self.steps), default=0.0) if residual is None else residual
        return EquilibriumPath(
            np.array([step.point.load for step in self.steps]),
            tuple(self.states),
            np.array(self.lengths),
            np.array(self.limits, dtype=int),
            StepReport(outcome, self.iterations, residual=worst, steps=max(len(self.steps) - 1, 1)),
            self.system,
        )


def equilibrium_path(
    system: System,
    state: State | None = None,
    *,
    until: float = 1.0,
    stop: Stop | None = None,
    load_steps: int = 10,
    longest: float | None = None,
    max_points: int = 500,
    tolerance: float = 1e-8,
) -> EquilibriumPath:
    """The equilibria that gravity and loads lead through, past the largest load that is carried, from none of them to
    `until` times all of them.

    state: where to begin, by default the start of the scene. stop(load, state): whether the path ends there; load is
    the factor of gravity and loads. load_steps, longest, max_points, tolerance: as of `ArcLength`. ConvergenceError
    where the path is lost, or longer than max_points; `ArcLength(...).follow(...)` gives what there is of it.

    >>> import supple as sp
    >>> scene = sp.Scene()
    >>> bars = dict(springs=[(0, 1), (1, 2)], stiffness=1000.0)
    >>> truss = scene.add(sp.Particles([(-1, 0, 0), (0, 0, 0.2), (1, 0, 0)], 0.1, **bars), fix=[0, 2], name="truss")
    >>> _ = scene.add(sp.FixedAxes(truss, [1], axes="y"))
    >>> _ = scene.add(sp.Load(truss.points([1]), (0, 0, -10)))
    >>> path = sp.equilibrium_path(scene.compile())
    >>> [round(10 * float(load), 3) for load in path.limit_loads]
    [3.019, -3.019]
    """
    check_instance(system, System, "a compiled scene", where="equilibrium_path", fix="Give scene.compile().")
    if state is not None:
        check_instance(state, State, "a state", where="equilibrium_path, state")
    options = ArcLength(tolerance, load_steps=load_steps, longest=longest, max_points=max_points)
    path = options.follow(system, system.initial_state() if state is None else state, until=until, stop=stop)
    if not path.report.is_solved:
        carried = float(path.loads[-1]) if len(path) else 0.0
        raise ConvergenceError(
            f"{len(path)} points of the path led to {carried:.4g} of the loads: {path.report.outcome.sentence}",
            where="equilibrium_path",
            value=path.report.residual,
            allowed=f"residual <= {tolerance:g}",
            fix="Allow more max_points, look at what ArcLength(...).follow(...) found, or end it with `stop`.",
        )
    return path
