"""Which elements are inside out: det F <= 0 at a quadrature point, F the deformation gradient."""

from __future__ import annotations

from dataclasses import dataclass

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
        F = np.einsum("eai,eqaj->eqij", x[self.elements], self.gradients)
        return np.flatnonzero((np.linalg.det(F) <= 0).any(axis=1))
