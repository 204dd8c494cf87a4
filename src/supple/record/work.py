"""Work: how much energy may have come into a scene from outside between two of its frames, at most [J].

    given loads      sum_i  max |f_i(t)|  max(|dx_i|, |v_i| dt)     f_i(t): known at all times
    other loads      sum_i max(0, f_i·dx_i, f_i·v_i dt)              winds, fluids, pressures, forces of a person's own
    actuation        sum |V(x, t_j+1) - V(x, t_j)|                   rest sizes change while nothing moves
    limited motors   dt max |torque| |speed|
    what is led      2 M u (w + u) + u dt sum |f|                    obstacles, points on paths, motors without a limit

u is the largest speed of what is led, w that of the bodies before, by their kinetic energy, M their mass: a body of
speed w that bounces off a wall of speed u leaves with w + 2 u. The last term is what it takes to press on: f are the
forces in the bodies and of their contacts. Forces that may depend on the motion are taken as they were before it; those
after it count by their power. All of it grows no faster than linearly with the amplitude of a motion, the
energy quadratically: where a simulation diverges, its energy outgrows what these estimates allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from supple.bodies.protocols import GivenForce, LocalState
from supple.bodies.traits import is_load, is_passive
from supple.scene.acting.loads import Load
from supple.scene.acting.wind import Wind
from supple.scene.joints.bounded_rows import BoundedRows
from supple.scene.kinematics import Kinematics, hanging_on
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray
PARTS = np.array([0.0, 0.11, 0.24, 0.38, 0.5, 0.62, 0.73, 0.86, 1.0])
"""Where in the time between two frames what is driven is looked at: in no rhythm, as what is driven may have one."""


@dataclass(frozen=True, eq=False)
class OutsideWork:
    """What can give energy to a system, whose mass is `mass` [kg]. dt: the step [s]."""

    system: System
    mass: float
    dt: float

    @cached_property
    def forces(self) -> list[tuple[Slot, Any]]:
        """Those that may give more than they store."""
        return [(slot, force) for _, slot, force in self.system.forces if not is_passive(force)]

    @cached_property
    def motors(self) -> list[BoundedRows]:
        """All of them."""
        return [rows for _, _, rows in self.system.joints if isinstance(rows, BoundedRows) and rows.is_driven]

    @cached_property
    def motions(self) -> list[Any]:
        """Those of obstacles."""
        obstacles = {} if self.system.scene is None else self.system.scene.obstacles
        return [obstacle.motion for obstacle in obstacles.values() if obstacle.motion is not None]

    @cached_property
    def leads(self) -> bool:
        """Whether something is moved as it was told, whatever that takes."""
        f = self.system.filter
        paths = bool(f.moving) or any(h.orientation is not None for h in f.held)
        return paths or bool(self.motions) or any(not np.isfinite(rows.largest) for rows in self.motors)

    def between(self, before: State, now: State, kinetic: float) -> float:
        """[J]. kinetic: energy of the bodies before [J]."""
        dt = now.t - before.t
        times = before.t + dt * PARTS
        total = dt * sum(max(map(rows.power, times)) for rows in self.motors if np.isfinite(rows.largest))
        if self.forces:
            end = now.copy()
            ends = [self._seen(before), self._seen(end)]
            total += sum(self._of_force(slot, force, ends, times) for slot, force in self.forces)
            self._last[:] = [end, ends[1]]
        return total + (self._of_led(now, times, kinetic) if self.leads else 0.0)

    @cached_property
    def _slots(self) -> frozenset[int]:
        return hanging_on(slot for slot, _ in self.forces)

    @cached_property
    def _last(self) -> list[Any]:
        """The state at the end of the work that was asked for last, and where its points are."""
        return []

    def _seen(self, state: State) -> Kinematics:
        """The points of the forces at a state, kept of the last one, with which the next work begins."""
        if self._last and not state.memory and is_same(self._last[0], state):
            kept: Kinematics = self._last[1]
            return kept
        return self.system.propagate(state.t, state.x, state.v, state.memory, only=self._slots)

    def _of_force(self, slot: Slot, force: Any, ends: list[Kinematics], times: Array) -> float:
        a, b = (kin.local(slot) for kin in ends)
        dt = times[-1] - times[0]
        if isinstance(force, GivenForce):
            ways = np.maximum(_lengths(b.x - a.x), dt * np.maximum(_lengths(a.v), _lengths(b.v)))
            given = [force.given(t) for t in times] if isinstance(force, Load) else [force.values(t) for t in times]
            if all(f.ndim == 1 for f in given):  # shared equally
                return float(_largest(np.array(given)) * ways.mean())
            each = [_lengths(f if f.ndim == 2 else force.values(t)) for f, t in zip(given, times)]
            return float(np.max(each, axis=0) @ ways)
        if not is_load(force) and (force.energy(a) or force.energy(b)):
            # memory, such as commands, is known at both ends alone
            seen = [[a._replace(x=s.x, v=s.v), *(b._replace(x=s.x, v=s.v, t=t) for t in times)] for s in (a, b)]
            return max(sum(abs(e1 - e0) for e0, e1 in pairwise([force.energy(s) for s in row])) for row in seen)
        ways = [slot.coordinates.difference(a.x, b.x), dt * a.v, dt * b.v]
        if isinstance(force, Wind):
            pushed, _ = force.works(a, times, np.array(ways))
            _, whole = force.works(b, times, ways[2][None])
            return max(0.0, float(pushed.max()), float(whole.max()))
        done = 0.0
        for t in times:
            f = _forces(force, a._replace(t=t))
            done = max(done, *(float(np.maximum(np.einsum("pi,pi->p", f, way), 0.0).sum()) for way in ways))
            done = max(done, dt * float(np.vdot(_forces(force, b._replace(t=t)), b.v)))
        return done

    def _of_led(self, now: State, times: Array, kinetic: float) -> float:
        u, spin = self._led_speeds(now, times)
        if not u and not spin:
            return 0.0
        dt = times[-1] - times[0]
        force, torque = self._carried(now)
        w = np.sqrt(2 * kinetic / self.mass)
        return float(2 * self.mass * u * (w + u) + dt * (u * force + spin * torque))

    def _led_speeds(self, now: State, times: Array) -> tuple[float, float]:
        """Largest speed [m/s] of what is led, as far away as the bodies reach, and its spin [rad/s]."""
        corners, reach = self._box(now)
        speed = spin = 0.0
        for motion in self.motions:
            speed = max(speed, *(_largest(motion.velocity_at(t, corners)) for t in times))
            spin = max(spin, *(_largest(motion.spin_at(t)[None]) for t in times))
        rows = np.max([np.linalg.norm(self.system.filter.speeds(t, self.dt), axis=1) for t in times], axis=0)
        turns = self.system.filter.x_at < 0
        speed, turn = max([speed, *rows[~turns]]), max([0.0, *rows[turns]])
        for motor in (m for m in self.motors if not np.isfinite(m.largest)):
            rate = max(abs(motor.speed_at(t)) for t in times)
            if motor.coordinate.unit == "rad":
                turn = max(turn, rate)
            else:
                speed = max(speed, rate)
        return speed + turn * reach, max(spin, turn)

    def _box(self, now: State) -> tuple[Array, float]:
        """Corners (8, 3) [m] of a box around all bodies, and its diagonal [m]."""
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for slot in self.system.bodies:
            x = slot.view_x(now.x)[:, :3]
            size = float(np.ptp(slot.node.rest, axis=0).max()) if slot.node is not None and len(x) == 1 else 0.0
            low, high = np.minimum(low, x.min(axis=0) - size), np.maximum(high, x.max(axis=0) + size)
        corners = np.array(
            [[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i, j, k in np.ndindex(2, 2, 2)]
        )
        return corners, float(np.linalg.norm(high - low))

    def _carried(self, now: State) -> tuple[float, float]:
        """Sums of the sizes of forces [N] and torques [N m] on points and frames, those of contacts included."""
        f = self.system.force(self.system.propagate(now.t, now.x, now.v, now.memory))
        force = torque = 0.0
        for slot in self.system.bodies:
            rows = slot.view_v(f)
            force += float(np.linalg.norm(rows[:, :3], axis=1).sum())
            torque += float(np.linalg.norm(rows[:, 3:6], axis=1).sum())
        for contact in self.system.made_contacts:
            force += float(np.linalg.norm(contact.touching(now.memory).force, axis=1).sum())
        return force, torque


def is_same(a: State, b: State) -> bool:
    """Whether two states have the same time, positions and velocities."""
    return a.t == b.t and a.x.shape == b.x.shape and bool((a.x == b.x).all() and (a.v == b.v).all())


def _forces(force: Any, state: LocalState) -> Array:
    f = np.zeros_like(state.v)
    force.add_force(state, f)
    return f


def _lengths(vectors: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("pi,pi->p", vectors, vectors)))


def _largest(vectors: Array) -> float:
    return float(_lengths(vectors).max())
