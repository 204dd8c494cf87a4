"""The filters of a system in flat form: which 3-blocks of velocity are restricted, and where they must be.

(I - C_k)(x_k - p_k(t)) = 0       for points and origins of frames
q_k = given(t)                    for frames whose rotation is held
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supple.algebra.dense import rotations
from supple.errors import InputError
from supple.scene.acting.filters import PointConditions
from supple.scene.slots import Slot

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class _Moving:
    """Entries [start, stop) of the filter whose places follow a function of time."""

    start: int
    stop: int
    path: Callable[[float], Array]


@dataclass(frozen=True, eq=False)
class _Held:
    """Frames whose rotations are given: entries k (m,) of the filter, where their quaternions start in flat x (m,),
    what they were (m, 4), and the orientation in time of all of them, None to stay as they were."""

    k: Array
    x_at: Array
    start: Array
    orientation: Callable[[float], Array] | None

    def target(self, t: float) -> Array:
        """Quaternions at time t, (m, 4)."""
        return self.start if self.orientation is None else np.broadcast_to(self.orientation(t), self.start.shape)

    def current(self, x: Array) -> Array:
        """Quaternions in flat positions x, (m, 4)."""
        return x[self.x_at[:, None] + np.arange(4)]


@dataclass(frozen=True, eq=False)
class SystemFilter:
    """blocks (k,) restricted 3-blocks; projectors (k, 3, 3); x_at (k,) where their positions start in flat x, -1 for
    rotations; start (k, 3) places at the beginning."""

    blocks: Array
    projectors: Array
    x_at: Array
    start: Array
    moving: tuple[_Moving, ...]
    held: tuple[_Held, ...]

    @classmethod
    def make(cls, conditions: list[tuple[Slot, PointConditions]], x: Array, block_count: int) -> SystemFilter:
        """Merge the conditions on the slots; two on one point meet in the directions free for both."""
        blocks: list[int] = []
        projectors: list[Array] = []
        x_at: list[int] = []
        moving: list[_Moving] = []
        held: list[_Held] = []
        seen: dict[int, int] = {}
        for slot, c in conditions:
            if not slot.is_body:
                raise InputError(
                    "filters act on bodies, not on mapped points", where=slot.name, fix="Use a ball joint."
                )
            is_frame, stride = slot.coordinates.turns, slot.coordinates.v_width // 3
            first = len(blocks)
            for i, C in zip(c.indices, c.projector):
                block = slot.block_start + int(i) * stride
                if block in seen:
                    k = seen[block]
                    if c.path is not None or any(m.start <= k < m.stop for m in moving):
                        raise InputError("two filters move one point", where=slot.name, value=int(i))
                    projectors[k] = _common(projectors[k], C)
                    continue
                seen[block] = len(blocks)
                blocks.append(block)
                projectors.append(C)
                x_at.append(slot.x_start + int(i) * slot.coordinates.x_width)
            if c.path is not None:
                moving.append(_Moving(first, len(blocks), c.path))
            if is_frame and c.hold_rotation:
                frames = np.array(
                    [i for i in c.indices if slot.block_start + stride * int(i) + 1 not in seen], dtype=np.int64
                )
                angular = slot.block_start + stride * frames + 1
                q_at = slot.x_start + slot.coordinates.x_width * frames + 3
                k0 = len(blocks)
                entries = np.arange(k0, k0 + len(frames))
                held.append(_Held(entries, q_at, x[q_at[:, None] + np.arange(4)], c.orientation))
                seen |= dict(zip(angular.tolist(), entries.tolist()))
                blocks += angular.tolist()
                projectors += [np.zeros((3, 3))] * len(frames)
                x_at += [-1] * len(frames)
        at = np.array(x_at, dtype=np.int64)
        start = np.zeros((len(blocks), 3))
        start[at >= 0] = x[at[at >= 0][:, None] + np.arange(3)]
        C_all = np.array(projectors).reshape(-1, 3, 3)
        return cls(np.array(blocks, dtype=np.int64), C_all, at, start, tuple(moving), tuple(held))

    def __len__(self) -> int:
        return len(self.blocks)

    def project(self, d: Array) -> None:
        """d <- C d in place, for flat velocity-like vectors (increments, residuals)."""
        if len(self):
            blocks = d.reshape(-1, 3)
            blocks[self.blocks] = np.einsum("kij,kj->ki", self.projectors, blocks[self.blocks])

    def within(self, keep: Array) -> SystemFilter:
        """The projections of some of the 3-blocks, (blocks of the system,), in a numbering of their own."""
        if not len(self):
            return self
        on = keep[self.blocks]
        blocks = (np.cumsum(keep) - 1)[self.blocks[on]]
        return SystemFilter(blocks, self.projectors[on], self.x_at[on], self.start[on], (), ())

    def places(self, t: float) -> Array:
        """p(t), (k, 3) [m]."""
        if not self.moving:
            return self.start
        p = self.start.copy()
        for m in self.moving:
            p[m.start : m.stop] = m.path(t)
        return p

    def increment(self, x: Array, t: float) -> Array:
        """The velocity-like move (k, 3) that takes the restricted parts of x to where they must be at time t."""
        out = np.zeros((len(self), 3))
        linear = self.x_at >= 0
        at = self.x_at[linear][:, None] + np.arange(3)
        gap = (self.places(t)[linear] - x[at])[..., None]
        out[linear] = ((np.eye(3) - self.projectors[linear]) @ gap)[..., 0]
        for h in self.held:
            out[h.k] = rotations.log(rotations.multiply(rotations.conjugate(h.current(x)), h.target(t)))
        return out

    def flat(self, values: Array, size: int) -> Array:
        """Values (k, 3) of the restricted blocks as a flat vector of the given size, zero elsewhere."""
        out = np.zeros(size)
        out.reshape(-1, 3)[self.blocks] = values
        return out

    def project_position(self, x: Array, t: float) -> None:
        """Put the restricted parts of flat positions x where they must be, in place."""
        if not len(self):
            return
        linear = self.x_at >= 0
        at = self.x_at[linear][:, None] + np.arange(3)
        p = self.places(t)[linear]
        x[at] = p + (self.projectors[linear] @ (x[at] - p)[..., None])[..., 0]
        for h in self.held:
            x[h.x_at[:, None] + np.arange(4)] = h.target(t)

    def speeds(self, t: float, step: float) -> Array:
        """Prescribed velocities (k, 3) at time t: central differences of the places over a small part of a step."""
        out = np.zeros((len(self), 3))
        if not self.moving and not self.held:
            return out
        e = 1e-3 * step
        if t < e:  # at the start the past is not asked for: one-sided, of the same order
            now, soon, later = (self.places(t + k * e) for k in range(3))
            out = (4 * (soon - now) - (later - now)) / (2 * e)
            for h in self.held:
                out[h.k] = (4 * _turned(h, t, t + e) - _turned(h, t, t + 2 * e)) / (2 * e)
            return out
        out = (self.places(t + e) - self.places(t - e)) / (2 * e)
        for h in self.held:
            out[h.k] = _turned(h, t - e, t + e) / (2 * e)
        return out

    def accelerations(self, t: float, step: float) -> Array:
        """Prescribed accelerations (k, 3) at time t, by second differences over a tenth of a step."""
        if not self.moving and not self.held:
            return np.zeros((len(self), 3))
        e = 0.1 * step
        if t < e:  # one-sided at the start: the rates over three intervals, extrapolated
            times = t + e * np.arange(4)
            moves = [self._moves(times[k], times[k + 1]) for k in range(3)]
            return (3 * moves[1] - 2 * moves[0] - moves[2]) / e**2
        return (self._moves(t, t + e) - self._moves(t - e, t)) / e**2

    def _moves(self, t0: float, t1: float) -> Array:
        """How far the places and orientations go from one time to another, (k, 3) [m, rad]."""
        out = self.places(t1) - self.places(t0)
        for h in self.held:
            out[h.k] = _turned(h, t0, t1)
        return out

    def project_velocity(self, v: Array, t: float, step: float) -> None:
        """Give the restricted parts of flat velocities v their prescribed values, in place."""
        if len(self):
            self.project(v)
            keep = np.eye(3) - self.projectors
            v.reshape(-1, 3)[self.blocks] += np.einsum("kij,kj->ki", keep, self.speeds(t, step))


def _turned(held: _Held, t0: float, t1: float) -> Array:
    """Rotation vector from one time to another, in body axes [rad]."""
    q0, q1 = held.target(t0), held.target(t1)
    return rotations.log(rotations.multiply(rotations.conjugate(q0), q1))


def _common(C: Array, D: Array) -> Array:
    """The projector on the directions free for both."""
    values, vectors = np.linalg.eigh(C + D)
    free = vectors[:, values > 2 - 1e-9]
    return free @ free.T
