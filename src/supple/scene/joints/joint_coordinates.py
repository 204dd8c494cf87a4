"""What a joint leaves free, as one number: the angle of a hinge, the displacement of a slider.

Points are (o, x, y, z of a; o, x, y, z of b), axes of unit length; both numbers are of a against b:

    angle          theta = atan2(y_b . x_a, x_b . x_a)      about z of b [rad], in (-pi, pi]
    displacement   s = z_a . (o_a - o_b)                    along z [m]
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

Array = np.ndarray


class JointCoordinate(Protocol):
    """name and unit of the number, its value and derivatives by the eight points of a joint."""

    @property
    def name(self) -> str: ...
    @property
    def unit(self) -> str: ...
    def value(self, x: Array) -> float: ...
    def gradient(self, x: Array) -> Array: ...
    def second(self, x: Array) -> Array: ...
    def nearest(self, change: float) -> float: ...


class HingeAngle:
    """theta."""

    name, unit = "angle", "rad"

    def value(self, x: Array) -> float:
        """theta in (-pi, pi] [rad]."""
        xa, xb, yb = x[1] - x[0], x[5] - x[4], x[6] - x[4]
        return float(np.arctan2(yb @ xa, xb @ xa))

    def nearest(self, change: float) -> float:
        """The same change of angle within a half turn."""
        return (change + np.pi) % (2 * np.pi) - np.pi

    def gradient(self, x: Array) -> Array:
        """dtheta/dx, (8, 3)."""
        xa, xb, yb = x[1] - x[0], x[5] - x[4], x[6] - x[4]
        s, c = yb @ xa, xb @ xa
        r = s * s + c * c
        by_xa, by_yb, by_xb = (c * yb - s * xb) / r, c * xa / r, -s * xa / r
        G = np.zeros((8, 3))
        G[1], G[0] = by_xa, -by_xa
        G[5], G[6], G[4] = by_xb, by_yb, -by_xb - by_yb
        return G

    def second(self, x: Array) -> Array:
        """d²theta/dx², (8, 8, 3, 3)."""
        H = np.zeros((8, 8, 3, 3))
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
        return H


class SlideDisplacement:
    """s."""

    name, unit = "displacement", "m"

    def value(self, x: Array) -> float:
        """s [m]."""
        return float((x[3] - x[0]) @ (x[0] - x[4]))

    def nearest(self, change: float) -> float:
        """The change itself."""
        return change

    def gradient(self, x: Array) -> Array:
        """ds/dx, (8, 3)."""
        z, way = x[3] - x[0], x[0] - x[4]
        G = np.zeros((8, 3))
        G[0], G[3], G[4] = z - way, way, -z
        return G

    def second(self, x: Array) -> Array:
        """d²s/dx², (8, 8, 3, 3): constant."""
        H, eye = np.zeros((8, 8, 3, 3)), np.eye(3)
        for p, q, value in ((0, 0, -2.0), (0, 3, 1.0), (0, 4, 1.0), (3, 4, -1.0)):
            H[p, q] = H[q, p] = value * eye
        return H
