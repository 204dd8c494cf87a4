"""Which elements are inside out: det F <= 0 at a quadrature point, F the deformation gradient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.elements.inversion_kernels import mark_tets
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
    word = "elements"

    @classmethod
    def of(cls, rest: Array, elements: Array, law: Law) -> ElementInversion:
        """For nodes at `rest` (n, 3) [m]."""
        elements = np.ascontiguousarray(elements, dtype=np.int64)
        return cls(elements, rest_gradients(rest, elements)[0], law is Law.STVK)

    @property
    def count(self) -> int:
        """Of the elements."""
        return len(self.elements)

    def place(self, number: int) -> str:
        """Where an element is."""
        return f"element {number}"

    def inverted(self, x: Array) -> Array:
        """Numbers of the inverted elements at node positions x (n, 3) [m]."""
        return np.flatnonzero(self.mask(x[None])[0])

    def mask(self, x: Array) -> Array:
        """Which elements (copies, m) are inverted at node positions x (copies, n, 3) [m]."""
        if self.elements.shape[1] == 4:  # of tets det F has the sign of their volume
            out = np.empty((len(x), len(self.elements)), dtype=np.bool_)
            mark_tets(np.ascontiguousarray(x, dtype=float), self.elements, self._orientation, out)
            return out
        F = np.einsum("ceai,eqaj->ceqij", x[:, self.elements], self.gradients)
        return np.asarray((np.linalg.det(F) <= 0).any(axis=2))

    @cached_property
    def _orientation(self) -> Array:
        """Sign of the volume of each tet at rest, (m,)."""
        return np.sign(np.linalg.det(self.gradients[:, 0, 1:]))
