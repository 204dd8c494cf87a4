"""Which elements are inside out: det F <= 0 at a quadrature point, F the deformation gradient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.elements.shapes import rest_gradients
from supple.material import Law

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ElementInversion:
    """elements (m, k) and gradients of their shape functions at rest. stays: the law has a second minimum at the mirror
    image, so that an inverted element does not come back."""

    elements: Array
    gradients: Array
    stays: bool

    @classmethod
    def of(cls, rest: Array, elements: Array, law: Law) -> ElementInversion:
        """For nodes at `rest` (n, 3) [m]."""
        return cls(elements, rest_gradients(rest, elements)[0], law is Law.STVK)

    @property
    def count(self) -> int:
        """Of the elements."""
        return len(self.elements)

    def inverted(self, x: Array) -> Array:
        """Numbers of the inverted elements at node positions x (n, 3) [m]."""
        if self.elements.shape[1] == 4:  # of tets det F has the sign of their volume, which takes a tenth of the time
            return np.flatnonzero(self._orientation * _volumes(x, self.elements) <= 0)
        F = np.einsum("eai,eqaj->eqij", x[self.elements], self.gradients)
        return np.flatnonzero((np.linalg.det(F) <= 0).any(axis=1))

    @cached_property
    def _orientation(self) -> Array:
        """Sign of the volume of each tet at rest, (m,)."""
        return np.sign(np.linalg.det(self.gradients[:, 0, 1:]))


def _volumes(x: Array, tets: Array) -> Array:
    """Six times the volumes [m³] of tets (m, 4), (m,)."""
    corners = [np.ascontiguousarray(x[:, i])[tets.T] for i in range(3)]
    (a, b, c), (d, e, f), (g, h, i) = ([column[k] - column[0] for column in corners] for k in (1, 2, 3))
    return np.asarray(a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g))
