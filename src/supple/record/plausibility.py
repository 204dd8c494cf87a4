"""Plausibility: when a simulation has diverged, where, and what to try.

Three signs are looked for:

    not finite    a position or velocity is NaN or infinite, after every step; or a force, where a step failed
    energy        E = T + V  >  GROWTH (S + FLOOR),   S = T0 + V0 + W,       at every frame
    inversion     det F <= 0 in more than 1 % of a body's elements and at least twelve of them, at every frame;
                  in a single one whose law has no way back. Of lattices: voxels that have passed their neighbours

V is what bodies and springs store, V0 the same at the start, with that of lattices which begin inside of obstacles. W
is the work of gravity and of constant loads, the largest fall of their potential until now, with that of all else which
gives energy (`supple.record.work`), and of ends of springs that were moved between two steps. The work of all else
is asked for in those frames alone in which E has outgrown five times S, half of what ends a run: no frame gains more
than the work done since the one before, so that E then stays below five times S, and a run pays next to nothing. E is
compared with ten times the sum, since estimates of work are rough and steps have errors.

FLOOR is what cannot be told from rest: a hundredth of the weight of the bodies times their size, their kinetic
energy at the speed at which contacts push apart bodies that overlap, and what round-off makes of the potential and in
a step of the positions.

St. Venant-Kirchhoff's energy has a second minimum at the mirror image: an element that passed through stays there. The
corotational, neo-Hookean and linear laws push inverted elements back: a few of them are counted only.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import InitVar, dataclass, field

import numpy as np

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.bodies.capabilities import InversionCheck, Inverting, Massed, Pressed
from supple.bodies.traits import is_load
from supple.errors import ConvergenceError, DivergenceError, InputError
from supple.interaction.obstacles import MeshObstacle
from supple.record.measures import Measures, measure
from supple.record.work import OutsideWork
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray
GROWTH = 10.0
INVERTED_PART, INVERTED_LEAST = 0.01, 12  # of the elements of a body
SAG = 1e-2  # part of its size by which a body may sink or rise unseen
ROUND_OFF = 1e-9  # part of the potential's own size, and of a body's size in a step, that counts as no change


@dataclass(eq=False)
class Plausibility:
    """Checks of one run. dt: the step [s], for the advice; state, start: where it begins, and its measures; known: what
    energy it has been seen to have before, as it goes on [J]."""

    system: System
    dt: float
    state: InitVar[State]
    start: Measures
    known: float = 0.0
    allowed: float = field(init=False)  # S, without the work of gravity and of constant loads
    fall: float = field(init=False, default=0.0)
    kinetic: float = field(init=False)  # at the last frame
    given: float = field(init=False)  # by moved ends of springs, until then
    reached: float = field(init=False, default=0.0)  # the largest part of the energy that ends a run

    def __post_init__(self, state: State) -> None:
        system = self.system
        kin = system.propagate(state.t, state.x, state.v, state.memory)
        inner = [(force, slot) for _, slot, force in system.forces if not is_load(force)]
        self.stored = sum(abs(force.energy(kin.local(slot))) for force, slot in inner)
        self.allowed = max(self.known, self.start.kinetic + self.stored + _pressed(system, state))
        self.kinetic, self.given = self.start.kinetic, system.given
        mass = float(sum(mass.first_moment(kin.x[slot.index])[0] for _, slot, mass in system.masses))
        self.work = OutsideWork(system, mass, self.dt)
        self.floor, self.inversion = 0.0, dict[str, InversionCheck]()
        with one_blas_thread():  # more of them wait for each other longer than they work
            for slot in system.bodies:
                rest = slot.node.rest
                self.floor += _floor(system, slot, rest, self.dt)
                if isinstance(body := slot.body, Inverting):
                    self.inversion[slot.name] = body.inversion_check(rest)
        pushed = max((bound.contact.push_speed for bound in system.made_contacts), default=0.0)
        self.floor += 0.5 * mass * pushed**2

    def check_step(self, state: State, step: int) -> None:
        """After a step: everything is finite."""
        if state.is_finite:
            return
        for slot in self.system.bodies:
            bad = ~np.isfinite(slot.view_x(state.x)).all(axis=1) | ~np.isfinite(slot.view_v(state.v)).all(axis=1)
            if bad.any():
                where = _place(slot, int(np.flatnonzero(bad)[0]))
                raise self._error("the simulation diverged: a position or velocity is not finite", where, state, step)

    def check_failed(self, state: State, step: int, before: State) -> None:
        """Where a step could not be taken: the state that it started from is plausible, the forces there, and at the
        time of its end, are finite. before: as in `check_frame`."""
        with suppress(InputError, ConvergenceError):  # the error that brought us here says more
            self._check_forces(state, step)
            self._check_energy(state, measure(self.system, state), step, before)

    def _check_forces(self, state: State, step: int) -> None:
        for t in (state.t, state.t + self.dt):
            f = self.system.force(self.system.propagate(t, state.x, state.v))
            for slot in self.system.bodies:
                bad = ~np.isfinite(slot.view_v(f)).all(axis=1)
                if bad.any():
                    where = _place(slot, int(np.flatnonzero(bad)[0]))
                    raise self._error("the simulation diverged: a force is not finite", where, state, step)

    def check_frame(self, state: State, measures: Measures, step: int, before: State) -> int:
        """At a frame: the energy is plausible, few elements are inverted. before: the state at the last frame. Returns
        how many are inverted.
        """
        if not np.isfinite(measures.total):
            raise self._error("the simulation diverged: the energy is not finite", self._fastest(state), state, step)
        self._check_energy(state, measures, step, before)
        return self._check_inversion(state, step)

    def _check_energy(self, state: State, m: Measures, step: int, before: State) -> None:
        self.fall = max(self.fall, self.start.outer - m.outer)
        self.allowed += self.system.given - self.given
        self.given = self.system.given
        energy = m.kinetic + (m.potential - m.outer) - (self.start.potential - self.start.outer) + self.stored
        if energy > 0.5 * GROWTH * (self.allowed + self.fall):
            self.allowed += self.work.between(before, state, self.kinetic)
        self.kinetic = m.kinetic
        scale = self.allowed + self.fall
        floor = self.floor + ROUND_OFF * max(abs(self.start.potential), abs(m.potential))
        limit = GROWTH * (scale + floor)
        self.reached = max(self.reached, energy / limit) if limit > 0 else self.reached
        if energy > limit:
            what = (
                f"the simulation diverged: its energy has grown to {energy:.3g} J, more than {GROWTH:g} times the "
                f"{scale:.3g} J that it began with or that gravity, loads and drives may have given"
            )
            raise self._error(what, self._fastest(state), state, step)

    def _check_inversion(self, state: State, step: int) -> int:
        count = 0
        for slot in self.system.bodies:
            if slot.name not in self.inversion:
                continue
            check = self.inversion[slot.name]
            inverted = check.inverted(slot.view_x(state.x))
            count += len(inverted)
            where = f"body '{slot.name}', {check.place(int(inverted[0]))}" if len(inverted) else ""
            if len(inverted) and check.stays:
                what = f"{len(inverted)} element(s) turned inside out; under the law stvk they stay so"
                raise self._error(what, where, state, step, 'law="neo-hookean" or "corotational", ')
            if len(inverted) >= INVERTED_LEAST and len(inverted) > INVERTED_PART * check.count:
                what = f"the simulation diverged: {len(inverted)} of {check.count} {check.word} turned inside out"
                raise self._error(what, where, state, step)
        return count

    def _fastest(self, state: State) -> str:
        best, where = -1.0, ""
        for slot in self.system.bodies:
            with np.errstate(over="ignore"):
                speed = np.linalg.norm(slot.view_v(state.v)[:, :3], axis=1)
            if speed.max() > best:
                best, where = (
                    float(speed.max()),
                    f"{_place(slot, int(speed.argmax()))} ({speed.max():.3g} m/s)",
                )
        return where

    def _error(self, what: str, where: str, state: State, step: int, first: str = "") -> DivergenceError:
        return DivergenceError(
            what,
            where=f"{where}, t = {state.t:.6g} s, step {step}",
            fix=f"Try {first}a smaller dt (it was {self.dt:g} s), more damping, an implicit solver, or "
            "smaller loads; the last good state is in the error's `run.state` and in the checkpoint.",
        )


def _pressed(system: System, state: State) -> float:
    """Energy of contacts with obstacles that bodies meet by themselves [J]: those that are formulas, not meshes."""
    known = {} if system.scene is None else system.scene.obstacles
    obstacles = [obstacle for obstacle in known.values() if not isinstance(obstacle, MeshObstacle)]
    pressed = [(slot.body, slot) for slot in system.bodies if isinstance(slot.body, Pressed)]
    return sum(body.pressed_energy(slot.view_x(state.x), obstacles) for body, slot in pressed)


def _floor(system: System, slot: Slot, rest: Array, dt: float) -> float:
    """Energy of a body with points rest (n, 3) [m] that cannot be told from rest [J]; see the module's docstring."""
    g, size = float(np.linalg.norm(system.gravity)), float(np.ptp(np.ascontiguousarray(rest.T), axis=1).max())
    return float(slot.body.total_mass * (SAG * g * size + 0.5 * (ROUND_OFF * size / dt) ** 2))


def _place(slot: Slot, index: int) -> str:
    body = slot.body
    return f"body '{slot.name}', {body.point_word()} {index}" if isinstance(body, Massed) else f"body '{slot.name}'"
