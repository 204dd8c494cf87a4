"""Elements of the layer that are inside out, in the frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.bodies.layered.model import LayeredModel
from supple.elements.inversion import ElementInversion

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LayerInversion:
    """numbers (k,): of the layer's elements in the mesh."""

    model: LayeredModel
    layer: ElementInversion
    numbers: Array
    word = "elements"

    @classmethod
    def of(cls, model: LayeredModel) -> LayerInversion:
        """Of the layer; the core is rigid."""
        layer = ElementInversion.of(model.X, model.layer_elements, model.law)
        return cls(model, layer, np.flatnonzero(~model.core))

    @property
    def stays(self) -> bool:
        """As of `ElementInversion`."""
        return self.layer.stays

    @property
    def count(self) -> int:
        """Of the layer's elements."""
        return self.layer.count

    def place(self, number: int) -> str:
        """Where an element of the layer is."""
        return f"element {self.numbers[number]}"

    def inverted(self, x: Array) -> Array:
        """Numbers in the layer of the inverted elements at coordinates x (1, 7 + 3 n)."""
        nodes = self.model.X.copy()
        nodes[self.model.free] += x[0, 7:].reshape(-1, 3)
        return self.layer.inverted(nodes)
