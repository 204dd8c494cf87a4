"""Elements of a floating body that are inside out, by its shapes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.bodies.floating.model import FloatingModel
from supple.modal.basis_inversion import BasisInversion

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FloatingInversion:
    """basis: None where the body has no elements."""

    basis: BasisInversion | None
    stays = False
    word = "elements"

    @classmethod
    def of(cls, model: FloatingModel) -> FloatingInversion:
        """Of a model."""
        mesh = model.solid.mesh
        if not hasattr(mesh, "elements"):
            return cls(None)
        return cls(BasisInversion.of(model.X, mesh.elements, model.shapes.reshape(3 * len(model.X), -1)))

    @property
    def count(self) -> int:
        """Of the elements."""
        return 0 if self.basis is None else self.basis.count

    def place(self, number: int) -> str:
        """Where an element is."""
        return f"element {number}"

    def inverted(self, x: Array) -> Array:
        """Numbers of the inverted elements at coordinates x (1, 7 + p)."""
        if self.basis is None:
            return np.zeros(0, dtype=np.int64)
        return self.basis.inverted(x[:, 7 : 7 + len(self.basis.strains)])[1]
