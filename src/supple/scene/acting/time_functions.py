"""Functions of time that are data: they can be saved with a scene, and called like any function of time.

sine     value(t) = offset + amplitude sin(2 pi frequency t + phase)
table    linear between the times given, constant before the first and after the last
ramp     value(t) = end s² (3 - 2 s), s = t / duration from 0 to 1: starts and ends at rest
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi, sin

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import InputError, is_finite, is_number

Array = np.ndarray


def _finite(value: ArrayLike, name: str, where: str) -> Array:
    """A read-only copy of finite numbers."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        array = np.full(1, np.nan)
    if not array.size or not np.isfinite(array).all():
        raise InputError(f"{name} is not made of finite numbers", where=where, value=value)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class SineInTime:
    """offset + amplitude sin(2 pi frequency t + phase).

    amplitude: a number, a vector (3,) or rows (n, 3), in the unit of what it drives. frequency [Hz].
    phase [rad]. offset: of the same shape as the amplitude, or one number.

    >>> push = SineInTime((0.0, 0.0, 2.0), 0.25)
    >>> push(1.0).tolist()
    [0.0, 0.0, 2.0]
    """

    amplitude: ArrayLike
    frequency: float
    phase: float = field(default=0.0, kw_only=True)
    offset: ArrayLike = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        where = "SineInTime"
        amplitude = _finite(self.amplitude, "amplitude", where)
        offset = _finite(self.offset, "offset", where)
        for name in ("frequency", "phase"):
            value = getattr(self, name)
            if not is_number(value) or not is_finite(value):
                raise InputError(f"{name} is not a finite number", where=where, value=value)
        if offset.ndim and offset.shape != amplitude.shape:
            raise InputError(
                "offset and amplitude have different shapes",
                where=where,
                value=offset.shape,
                allowed=str(amplitude.shape),
            )
        object.__setattr__(self, "amplitude", amplitude)
        object.__setattr__(self, "offset", offset)

    def __call__(self, t: float) -> float | Array:
        """The value at time t [s]."""
        value = np.asarray(self.offset) + np.asarray(self.amplitude) * sin(2 * pi * self.frequency * t + self.phase)
        return value if value.ndim else float(value)


@dataclass(frozen=True, eq=False)
class TableInTime:
    """Piecewise linear: values[k] at times[k], constant before the first and after the last.

    times: ascending [s], (k,). values: numbers (k,), vectors (k, 3) or rows (k, n, 3).

    >>> ramp = TableInTime([0, 1], [0, 10])
    >>> ramp(0.25), ramp(3)
    (2.5, 10.0)
    """

    times: ArrayLike
    values: ArrayLike

    def __post_init__(self) -> None:
        where = "TableInTime"
        times, values = _finite(self.times, "times", where), _finite(self.values, "values", where)
        if times.ndim != 1 or (np.diff(times) <= 0).any():
            raise InputError("the times do not ascend", where=where, value=times.tolist())
        if values.ndim < 1 or len(values) != len(times):
            raise InputError("there is not one value a time", where=where, value=(len(times), values.shape))
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    def __call__(self, t: float) -> float | Array:
        """The value at time t [s]."""
        times, values = np.asarray(self.times), np.asarray(self.values)
        k = int(np.searchsorted(times, t, side="right")) - 1
        if k < 0 or k == len(times) - 1:
            value = values[max(k, 0)]
        else:
            weight = (t - times[k]) / (times[k + 1] - times[k])
            value = (1 - weight) * values[k] + weight * values[k + 1]
        return value if np.ndim(value) else float(value)


@dataclass(frozen=True, eq=False)
class RampInTime:
    """From zero to `end` within a duration [s], starting and ending without speed; constant afterwards.

    end: a number or a vector (3,), in the unit of what it drives.

    >>> RampInTime(2.0, 1.0)(0.5), RampInTime(2.0, 1.0)(3.0)
    (1.0, 2.0)
    """

    end: ArrayLike
    duration: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "end", _finite(self.end, "end", "RampInTime"))
        if not (is_number(self.duration) and is_finite(self.duration) and self.duration > 0):
            raise InputError("the duration is not positive", where="RampInTime", value=self.duration, allowed="> 0 s")

    def __call__(self, t: float) -> float | Array:
        """The value at time t [s]."""
        s = min(max(t / self.duration, 0.0), 1.0)
        value = np.asarray(self.end) * (s * s * (3 - 2 * s))
        return value if value.ndim else float(value)
