"""Limits and motor of a hinge: conditions on its angle whose multipliers, torques, are bounded.

    angle    theta = atan2(y_b . x_a, x_b . x_a)                    of a against b about b's z axis, axes of unit length
    low      theta - low = 0    with torque >= 0,   or  theta > low  and no torque
    high     theta - high = 0   with torque <= 0,   or  theta < high and no torque
    motor    theta - theta_0 - dt speed(t) = 0,  with |torque| <= its largest; at the largest it turns slower

theta_0 is the angle at the start of the step; `begin` notes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray


class HingeRows:
    """Rows on the points (o, x, y, z of a; o, x, y, z of b) of a hinge: low, high, motor, each where given.

    limits (low, high) [rad] or None; speed [rad/s], a number or a function of time, or None; torque [N m].
    """

    def __init__(self, limits: tuple[float, float] | None, speed: Any, torque: float) -> None:
        self.limits, self.speed, self.torque = limits, speed, torque
        self.start, self.advance, self.rate = 0.0, 0.0, 0.0

    @property
    def count(self) -> int:
        """Number of rows."""
        return 2 * (self.limits is not None) + (self.speed is not None)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest torque of each row [N m]."""
        low, high = ([0.0, -np.inf], [np.inf, 0.0]) if self.limits is not None else ([], [])
        if self.speed is not None:
            low, high = [*low, -self.torque], [*high, self.torque]
        return np.array(low), np.array(high)

    def begin(self, x: Array, dt: float, t1: float) -> None:
        """Note the angle at the start of a step that ends at t1."""
        if self.speed is not None:
            speed: Callable[[float], float] | float = self.speed
            self.start = self.angle(x)
            self.rate = float(speed(t1) if callable(speed) else speed)
            self.advance = dt * self.rate

    @property
    def is_driven(self) -> bool:
        """Whether there is a motor."""
        return self.speed is not None

    @property
    def meets(self) -> Array:
        """No row asks points to meet."""
        return np.zeros(self.count, dtype=bool)

    @property
    def names(self) -> list[str]:
        """What each row asks for."""
        limits = ["lowest angle", "highest angle"] if self.limits is not None else []
        return [*limits, "motor"] if self.speed is not None else limits

    @property
    def units(self) -> list[str]:
        """Of each row's violation."""
        return ["rad"] * self.count

    @property
    def rates(self) -> Array:
        """How fast the angle turns where a row holds, (count,) [rad/s]."""
        return np.array([0.0] * (2 * (self.limits is not None)) + [self.rate] * (self.speed is not None))

    @staticmethod
    def angle(x: Array) -> float:
        """theta in (-pi, pi] [rad]."""
        xa, xb, yb = x[1] - x[0], x[5] - x[4], x[6] - x[4]
        return float(np.arctan2(yb @ xa, xb @ xa))

    def violation(self, x: Array) -> Array:
        """theta less what it should be, (count,) [rad]."""
        theta = self.angle(x)
        rows = [] if self.limits is None else [theta - self.limits[0], theta - self.limits[1]]
        if self.speed is not None:
            turned = theta - self.start - self.advance
            rows.append((turned + np.pi) % (2 * np.pi) - np.pi)
        return np.array(rows)

    def jacobian(self, x: Array) -> Array:
        """dtheta/dx for every row, (count, 24)."""
        xa, xb, yb = x[1] - x[0], x[5] - x[4], x[6] - x[4]
        s, c = yb @ xa, xb @ xa
        r = s * s + c * c
        by_xa, by_yb, by_xb = (c * yb - s * xb) / r, c * xa / r, -s * xa / r
        G = np.zeros((8, 3))
        G[1], G[0] = by_xa, -by_xa
        G[5], G[6], G[4] = by_xb, by_yb, -by_xb - by_yb
        return np.tile(G.ravel(), (self.count, 1))

    def second(self, multipliers: Array, x: Array) -> Array:
        """d(G^T l)/dx, (8, 8, 3, 3)."""
        torque = float(multipliers.sum())
        H = np.zeros((8, 8, 3, 3))
        if torque == 0.0:
            return H
        xa, xb, yb = x[1] - x[0], x[5] - x[4], x[6] - x[4]
        s, c = yb @ xa, xb @ xa
        r = s * s + c * c
        # theta = atan2(s, c):  d²theta = c/r d²s - s/r d²c + d(c/r) ds - d(s/r) dc
        ds = np.zeros((3, 3))  # rows: by xa, xb, yb
        dc = np.zeros((3, 3))
        ds[0], ds[2] = yb, xa
        dc[0], dc[1] = xb, xa
        dr = 2 * (s * ds + c * dc)
        d_cr, d_sr = dc / r - c * dr / r**2, ds / r - s * dr / r**2
        T = np.einsum("ai,bj->abij", ds, d_cr) - np.einsum("ai,bj->abij", dc, d_sr)
        eye = np.eye(3)
        for p, q, value in ((0, 2, c / r), (2, 0, c / r), (0, 1, -s / r), (1, 0, -s / r)):
            T[p, q] += value * eye
        ends = ((1, 0), (5, 4), (6, 4))  # xa, xb, yb as differences of points
        for p, (tip_p, root_p) in enumerate(ends):
            for q, (tip_q, root_q) in enumerate(ends):
                H[tip_p, tip_q] += T[p, q]
                H[tip_p, root_q] -= T[p, q]
                H[root_p, tip_q] -= T[p, q]
                H[root_p, root_q] += T[p, q]
        return torque * H
