"""Timoshenko's beam: tip deflections in closed form, and natural frequencies from the exact transfer matrix.

    w' = phi + V / (kappa G A),  phi' = M / (E I),  M' = -V - rho I W² phi,  V' = -rho A W² w       at frequency W

kappa = 5/6 for a rectangular section of Poisson's ratio zero [Cowper66].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

Array = np.ndarray


@dataclass(frozen=True)
class TimoshenkoBeam:
    """A cantilever of square section: length, side [m], young [Pa], density [kg/m³]; Poisson's ratio zero."""

    length: float
    side: float
    young: float
    density: float
    kappa: float = 5 / 6

    @property
    def EI(self) -> float:
        """Bending stiffness [N m²]."""
        return self.young * self.side**4 / 12

    @property
    def kGA(self) -> float:
        """Shear stiffness [N]."""
        return self.kappa * self.young / 2 * self.side**2

    def tip_load(self, force: float) -> float:
        """Deflection of the tip under an end force [m]."""
        return force * self.length**3 / (3 * self.EI) + force * self.length / self.kGA

    def weight(self, gravity: float) -> float:
        """Deflection of the tip under its weight [m]."""
        q = self.density * self.side**2 * gravity
        return q * self.length**4 / (8 * self.EI) + q * self.length**2 / (2 * self.kGA)

    def _free_end(self, w: float) -> float:
        """Determinant of moment and shear at the free end, for a clamped start, at angular frequency w."""
        A, I = self.side**2, self.side**4 / 12
        rate = np.zeros((4, 4))  # of (deflection, rotation, moment, shear)
        rate[0, 1], rate[0, 3] = 1.0, 1 / self.kGA
        rate[1, 2] = 1 / self.EI
        rate[2, 1], rate[2, 3] = -self.density * I * w * w, -1.0
        rate[3, 0] = -self.density * A * w * w
        T = expm(rate * self.length)
        scale = np.array([self.EI / self.length, self.EI / self.length**2])
        return float(np.linalg.det(T[2:, 2:] / scale[:, None] * scale[None, :]))

    def frequencies(self, count: int) -> Array:
        """Lowest bending frequencies [Hz] in one plane."""
        base = np.sqrt(self.EI / (self.density * self.side**2)) / self.length**2
        found: list[float] = []
        w, step = 0.05 * base, 0.1 * base
        last = self._free_end(w)
        while len(found) < count:
            now = self._free_end(w + step)
            if last * now < 0:
                found.append(brentq(self._free_end, w, w + step, xtol=1e-10 * base))
            w, last = w + step, now
            step = max(0.1 * base, 0.01 * w)
        return np.array(found) / (2 * np.pi)
