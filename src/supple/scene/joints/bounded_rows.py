"""Limits and motor of a joint: conditions on its coordinate q whose multipliers, torques or forces, are bounded.

    low      q - low = 0    with torque >= 0,   or  q > low  and no torque
    high     q - high = 0   with torque <= 0,   or  q < high and no torque
    motor    q - q_0 - dt speed(t) = 0,  with |torque| <= its largest; at the largest it turns slower

q_0 is the coordinate at the start of the step; `begin` notes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from supple.scene.joints.joint_coordinates import JointCoordinate

Array = np.ndarray
MotorSpeed: TypeAlias = Callable[[float], float] | float | None
"""[rad/s] or [m/s]: a number, a function of time, or None for no motor."""


class BoundedRows:
    """Rows on the points (o, x, y, z of a; o, x, y, z of b) of a joint: low, high, motor, each where given.

    limits (low, high) of the coordinate, [rad] or [m], or None; speed [rad/s] or [m/s], a number or a function of
    time, or None; largest: torque [N m] or force [N] of the motor.
    """

    def __init__(
        self, coordinate: JointCoordinate, limits: tuple[float, float] | None, speed: MotorSpeed, largest: float
    ) -> None:
        self.coordinate, self.limits, self.speed, self.largest = coordinate, limits, speed, largest
        self.start, self.advance, self.rate = 0.0, 0.0, 0.0

    @property
    def count(self) -> int:
        """Number of rows."""
        return 2 * (self.limits is not None) + (self.speed is not None)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest torque [N m] or force [N] of each row."""
        low, high = ([0.0, -np.inf], [np.inf, 0.0]) if self.limits is not None else ([], [])
        if self.speed is not None:
            low, high = [*low, -self.largest], [*high, self.largest]
        return np.array(low), np.array(high)

    def begin(self, x: Array, dt: float, t1: float) -> None:
        """Note the coordinate at the start of a step that ends at t1."""
        if self.speed is not None:
            self.start = self.coordinate.value(x)
            self.rate = self.speed_at(t1)
            self.advance = dt * self.rate

    @property
    def is_driven(self) -> bool:
        """Whether there is a motor."""
        return self.speed is not None

    def speed_at(self, t: float) -> float:
        """Of the motor at time t [s], [rad/s] or [m/s]; 0 without one."""
        if self.speed is None:
            return 0.0
        return float(self.speed(t) if callable(self.speed) else self.speed)

    def power(self, t: float) -> float:
        """What the motor gives at time t [s], at most [W]; infinite where its torque or force is."""
        if self.speed is None:
            return 0.0
        return self.largest * abs(self.speed_at(t)) if np.isfinite(self.largest) else np.inf

    @property
    def meets(self) -> Array:
        """No row asks points to meet."""
        return np.zeros(self.count, dtype=bool)

    @property
    def names(self) -> list[str]:
        """What each row asks for."""
        name = self.coordinate.name
        limits = [f"lowest {name}", f"highest {name}"] if self.limits is not None else []
        return [*limits, "motor"] if self.speed is not None else limits

    @property
    def units(self) -> list[str]:
        """Of each row's violation."""
        return [self.coordinate.unit] * self.count

    @property
    def rates(self) -> Array:
        """How fast the coordinate changes where a row holds, (count,) [rad/s] or [m/s]."""
        return np.array([0.0] * (2 * (self.limits is not None)) + [self.rate] * (self.speed is not None))

    def violation(self, x: Array) -> Array:
        """q less what it should be, (count,) [rad] or [m]."""
        q = self.coordinate.value(x)
        rows = [] if self.limits is None else [q - self.limits[0], q - self.limits[1]]
        if self.speed is not None:
            rows.append(self.coordinate.nearest(q - self.start - self.advance))
        return np.array(rows)

    def jacobian(self, x: Array) -> Array:
        """dq/dx for every row, (count, 24)."""
        return np.tile(self.coordinate.gradient(x).ravel(), (self.count, 1))

    def second(self, multipliers: Array, x: Array) -> Array:
        """d(G^T l)/dx, (8, 8, 3, 3)."""
        torque = float(multipliers.sum())
        return torque * self.coordinate.second(x) if torque else np.zeros((8, 8, 3, 3))

    def motor(self, multipliers: Array) -> float:
        """Torque [N m] or force [N] of the motor on a, 0 without one."""
        return float(multipliers[-1]) if self.speed is not None else 0.0

    def limit(self, multipliers: Array) -> int:
        """Which limit pushes: -1 the lowest, 1 the highest, 0 none."""
        if self.limits is None:
            return 0
        low, high = multipliers[:2]
        least = NOTHING * (1.0 + float(np.abs(multipliers).max()))
        return int(-high > least) - int(low > least)


NOTHING = 1e-9
"""Torque [N m] or force [N] that counts as none, also over the largest of a joint: what iterations leave open."""
