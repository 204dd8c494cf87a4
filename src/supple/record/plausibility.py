"""Plausibility: when a simulation has diverged, where, and what to try.

Three signs are looked for:

    not finite    a position or velocity is NaN or infinite, after every step; or a force, where a step failed
    energy        T + V - E0  >  GROWTH (T0 + V0⁺ + W + P t),   W = max over frames of V0 - V,  at every frame
    inversion     det F <= 0 in an element whose law has no way back, at every frame

Energy is judged only where it is known how much can come from outside: no force or pressure in time, no point led along
a path, no motor without a largest torque, no force but those known here. Then T + V cannot exceed E0 and what the
motors gave, at most their power P, torque times speed; V0⁺ is what springs and elements store at
the start, W what gravity and constant loads have given. Exact steps keep T + V - E0 <= 0, and the errors of a
working step are a small part of what is exchanged, so that a factor of a hundred raises no false alarm.

Inversion ends a run under St. Venant-Kirchhoff only: its energy has a second minimum at the mirror image, an
element that passed through stays there. The corotational, neo-Hookean and linear laws push inverted elements
back: these are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from supple.bodies.capabilities import Inverting, Massed
from supple.bodies.traits import is_load, is_passive
from supple.errors import DivergenceError
from supple.record.measures import Measures
from supple.scene.joints.bounded_rows import BoundedRows
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray
GROWTH = 100.0
ROUND_OFF = 1e-9  # part of the potential's own size, and of a body's size in a step, that counts as no change
SAMPLES = 17  # times at which what is driven is looked at


@dataclass(eq=False)
class Plausibility:
    """Checks of one run. start: measures at its first state; dt: the step [s], for the advice."""

    system: System
    dt: float
    start: Measures
    stored: float = field(init=False)
    work: float = field(init=False, default=0.0)
    is_closed: bool = field(init=False)
    trembling: float = field(init=False)

    def __post_init__(self) -> None:
        kin = self.system.propagate(0.0, *_start(self.system))
        inner = [(f, s) for _, s, f in self.system.forces if is_passive(f) and not is_load(f)]
        self.stored = sum(abs(force.energy(kin.local(slot))) for force, slot in inner)
        self.is_closed = is_closed(self.system)
        self.trembling = _trembling(self.system, self.dt)
        self.inversion = {
            slot.name: body.inversion_check(slot.node.rest)
            for slot in self.system.bodies
            if isinstance(body := slot.body, Inverting)
        }

    def check_step(self, state: State, step: int) -> None:
        """After a step: everything is finite."""
        if state.is_finite:
            return
        for slot in self.system.bodies:
            bad = ~np.isfinite(slot.view_x(state.x)).all(axis=1) | ~np.isfinite(slot.view_v(state.v)).all(axis=1)
            if bad.any():
                where = _place(slot, int(np.flatnonzero(bad)[0]))
                raise self._error("the simulation diverged: a position or velocity is not finite", where, state, step)

    def check_forces(self, state: State, step: int) -> None:
        """Where a step could not be solved: the forces it started from, or would end with, are finite."""
        for t in (state.t, state.t + self.dt):
            f = self.system.force(self.system.propagate(t, state.x, state.v))
            for slot in self.system.bodies:
                bad = ~np.isfinite(slot.view_v(f)).all(axis=1)
                if bad.any():
                    where = _place(slot, int(np.flatnonzero(bad)[0]))
                    raise self._error("the simulation diverged: a force is not finite", where, state, step)

    def check_frame(self, state: State, measures: Measures, step: int) -> int:
        """At a frame: the energy is plausible, no element is inverted for good. Returns how many are
        inverted.
        """
        if not np.isfinite(measures.total):
            raise self._error("the simulation diverged: the energy is not finite", self._fastest(state), state, step)
        self.is_closed = self.is_closed and not is_led(self.system, state.t)
        if self.is_closed:
            self._check_energy(state, measures, step)
        return self._check_inversion(state, step)

    def _check_energy(self, state: State, m: Measures, step: int) -> None:
        self.work = max(self.work, self.start.potential - m.potential)
        floor = ROUND_OFF * max(abs(self.start.potential), abs(m.potential)) + self.trembling
        scale = self.start.kinetic + self.stored + self.work + floor + self._given(state.t)
        gained = m.total - self.start.total
        if step >= 3 and gained > GROWTH * scale:
            what = (
                f"the simulation diverged: the mechanical energy grew by {gained:.3g} J, though nothing "
                f"feeds it (it had {scale:.3g} J to exchange)"
            )
            raise self._error(what, self._fastest(state), state, step)

    def _given(self, t: float) -> float:
        """What motors may have given until t [s], at most [J]."""
        times = np.linspace(0.0, t, SAMPLES)
        return t * sum(
            max(map(rows.power, times)) for _, _, rows in self.system.joints if isinstance(rows, BoundedRows)
        )

    def _check_inversion(self, state: State, step: int) -> int:
        count = 0
        for slot in self.system.bodies:
            if slot.name not in self.inversion:
                continue
            check = self.inversion[slot.name]
            inverted = check.inverted(slot.view_x(state.x))
            count += len(inverted)
            if len(inverted) and check.stays:
                where = f"body '{slot.name}', element {inverted[0]}"
                what = f"{len(inverted)} element(s) turned inside out; under the law stvk they stay so"
                raise self._error(what, where, state, step, 'law="neo-hookean" or "corotational", ')
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


def _trembling(system: System, dt: float) -> float:
    """Kinetic energy of bodies that move by the round-off of their size in a step [J]."""
    bodies = [slot for slot in system.bodies if slot.node is not None]
    return sum(0.5 * s.body.total_mass * float(np.ptp(s.node.rest, axis=0).max() * ROUND_OFF / dt) ** 2 for s in bodies)


def is_closed(system: System) -> bool:
    """Whether it is known how much energy can come from outside: all forces known, none in time, motors limited, no
    obstacle that moves."""
    if system.scene is not None and any(obstacle.motion is not None for obstacle in system.scene.obstacles.values()):
        return False
    if not all(is_passive(force) for _, _, force in system.forces):
        return False
    driven = [rows for _, _, rows in system.joints if rows.is_driven]
    return all(isinstance(rows, BoundedRows) and np.isfinite(rows.power(0.0)) for rows in driven)


def is_led(system: System, t: float) -> bool:
    """Whether a filter has moved or turned a point until t [s]; one that keeps it in place gives nothing."""
    f = system.filter
    if any(h.orientation is not None for h in f.held):
        return True
    return bool(f.moving) and any((f.places(time) != f.places(0.0)).any() for time in np.linspace(0.0, t, SAMPLES))


def _start(system: System) -> tuple[Array, Array]:
    state = system.initial_state()
    return state.x, state.v


def _place(slot: Slot, index: int) -> str:
    body = slot.body
    return f"body '{slot.name}', {body.point_word()} {index}" if isinstance(body, Massed) else f"body '{slot.name}'"
