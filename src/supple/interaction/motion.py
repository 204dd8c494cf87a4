"""How an obstacle moves, as plain numbers: at constant velocity, or through samples with straight ways in between.

x(t) = c + p(t) + R(t) (X - c)        X: where a point of the obstacle was given, c: the centre of its turning
constant   p = v t,  R = exp(w t)
samples    p linear, R at constant angular velocity between two samples; at rest before the first and after the last
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_array, check_vector
from supple.errors import InputError, check_number

Array = np.ndarray
WHERE = "Motion"
MOST_SAMPLES = 10_000_000


@dataclass(frozen=True, eq=False)
class Motion:
    """velocity (3,) [m/s], angular_velocity (3,) [rad/s] in world axes, about the centre (3,) [m], which moves along.

    Or instead of both velocities: times (n,) [s], ascending, with positions (n, 3) [m], how far it has moved from where
    it was given, and rotations (n, 3) [rad], by which it has turned, as rotation vectors; either may be left out.

    >>> belt = Motion(velocity=(0.5, 0, 0))
    >>> belt.pose(2.0).tolist()
    [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    >>> belt.velocity_at(2.0, [[0, 0, 0.1]]).tolist()
    [[0.5, 0.0, 0.0]]
    """

    velocity: ArrayLike = (0.0, 0.0, 0.0)
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)
    centre: ArrayLike = (0.0, 0.0, 0.0)
    times: ArrayLike | None = field(default=None, kw_only=True)
    positions: ArrayLike | None = field(default=None, kw_only=True)
    rotations: ArrayLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("velocity", "angular_velocity", "centre"):
            object.__setattr__(self, name, check_vector(getattr(self, name), name=name, where=WHERE))
        if self.times is None:
            if self.positions is not None or self.rotations is not None:
                raise InputError("samples have no times", where=WHERE, fix="Give times=.")
            return
        if np.any(self.velocity) or np.any(self.angular_velocity):
            raise InputError("both velocities and samples are given", where=WHERE, allowed="one of both")
        times = check_array(self.times, name="times", where=WHERE).copy()
        if times.ndim != 1 or len(times) < 2 or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise InputError(
                "the times are not finite and ascending", where=WHERE, value=times.shape, allowed="(n,) [s], n >= 2"
            )
        object.__setattr__(self, "times", times)
        for name in ("positions", "rotations"):
            object.__setattr__(self, name, _samples(getattr(self, name), len(times), name))

    @classmethod
    def sampled(cls, position: Callable[[float], Any], until: float, every: float = 1 / 240) -> Motion:
        """Through samples of a function of time that gives how far the obstacle has moved (3,) [m].

        >>> import math
        >>> shaking = Motion.sampled(lambda t: (0.01 * math.sin(6 * t), 0, 0), until=2.0)
        >>> len(shaking.times)
        481
        """
        if not callable(position):
            raise InputError("this is not a function of time", where="Motion.sampled", value=type(position).__name__)
        check_number(until, name="until", where="Motion.sampled", above=0.0)
        check_number(every, name="every", where="Motion.sampled", above=0.0)
        count = check_number(until / every, name="until / every", where="Motion.sampled", most=MOST_SAMPLES)
        times = np.linspace(0.0, float(until), max(2, int(np.ceil(count * (1 - 1e-9))) + 1))
        return cls(times=times, positions=[position(float(t)) for t in times])

    def pose(self, time: float) -> Array:
        """Where it is at a time [s]: a frame (7,), position [m] and quaternion, with x = position + R X."""
        moved, q = self._moved(float(time))
        c = np.asarray(self.centre)
        return np.concatenate([c + moved - rotations.rotate(q, c), q])

    def poses(self, times: ArrayLike) -> Array:
        """The same at many times (n,) [s] at once, (n, 7).

        >>> Motion(velocity=(0.5, 0, 0)).poses([0.0, 2.0])[:, 0].tolist()
        [0.0, 1.0]
        """
        t = np.asarray(times, dtype=float)
        if self.times is None:
            moved = t[:, None] * np.asarray(self.velocity)
            q = rotations.exp(t[:, None] * np.asarray(self.angular_velocity))
        else:
            known, p = np.asarray(self.times), np.asarray(self.positions)
            k = np.clip(np.searchsorted(known, t, side="right") - 1, 0, len(known) - 2)
            part = np.clip((t - known[k]) / (known[k + 1] - known[k]), 0.0, 1.0)[:, None]
            turned = rotations.exp(np.asarray(self.rotations))
            turn = rotations.log(rotations.multiply(turned[k + 1], rotations.conjugate(turned[k])))
            moved = (1 - part) * p[k] + part * p[k + 1]
            q = rotations.multiply(rotations.exp(part * turn), turned[k])
        c = np.asarray(self.centre)
        return np.concatenate([c + moved - rotations.rotate(q, c), q], axis=1)

    def velocity_at(self, time: float, points: ArrayLike) -> Array:
        """Velocities (k, 3) [m/s] at a time [s] of its material at points (k, 3) [m] in the world."""
        x = np.asarray(points, dtype=float).reshape(-1, 3)
        moved, _ = self._moved(float(time))
        v, w = self._rates(float(time))
        return np.asarray(v + np.cross(w, x - np.asarray(self.centre) - moved))

    def spin_at(self, time: float) -> Array:
        """Angular velocity (3,) [rad/s] at a time [s], in world axes."""
        return self._rates(float(time))[1]

    def displacement(self, time: float, dt: float, points: ArrayLike) -> Array:
        """How far its material at points (k, 3) [m] in the world moves within dt [s] from a time [s], (k, 3) [m]."""
        x = np.asarray(points, dtype=float).reshape(-1, 3)
        before, after = self.pose(time), self.pose(time + dt)
        X = rotations.rotate_inverse(before[3:], x - before[:3])
        return np.asarray(after[:3] + rotations.rotate(after[3:], X) - x)

    def _interval(self, t: float) -> tuple[int, float]:
        """Number of the interval of samples at t, and its part that has passed, from 0 to 1 and beyond."""
        times = np.asarray(self.times)
        k = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2))
        return k, (t - times[k]) / (times[k + 1] - times[k])

    def _moved(self, t: float) -> tuple[Array, Array]:
        """p(t) (3,) and R(t) as a quaternion (4,)."""
        if self.times is None:
            return t * np.asarray(self.velocity), rotations.exp(t * np.asarray(self.angular_velocity))
        k, part = self._interval(t)
        part = float(np.clip(part, 0.0, 1.0))
        p, turned = np.asarray(self.positions), rotations.exp(np.asarray(self.rotations)[k : k + 2])
        turn = rotations.log(rotations.multiply(turned[1], rotations.conjugate(turned[0])))
        q = rotations.multiply(rotations.exp(part * turn), turned[0])
        return (1 - part) * p[k] + part * p[k + 1], q

    def _rates(self, t: float) -> tuple[Array, Array]:
        """dp/dt and the angular velocity at t, (3,) each."""
        if self.times is None:
            return np.asarray(self.velocity), np.asarray(self.angular_velocity)
        k, part = self._interval(t)
        if not 0.0 <= part < 1.0:
            return np.zeros(3), np.zeros(3)
        times, p = np.asarray(self.times), np.asarray(self.positions)
        turned = rotations.exp(np.asarray(self.rotations)[k : k + 2])
        turn = rotations.log(rotations.multiply(turned[1], rotations.conjugate(turned[0])))
        step = times[k + 1] - times[k]
        return (p[k + 1] - p[k]) / step, turn / step


def _samples(values: ArrayLike | None, count: int, name: str) -> Array:
    if values is None:
        return np.zeros((count, 3))
    found = check_array(values, name=name, where=WHERE).copy()
    if found.shape != (count, 3) or not np.isfinite(found).all():
        raise InputError(
            f"{name} are not three finite numbers a time", where=WHERE, value=found.shape, allowed=f"({count}, 3)"
        )
    return found
