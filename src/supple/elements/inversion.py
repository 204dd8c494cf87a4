"""Which elements are inside out: det F <= 0 at a quadrature point, F the deformation gradient.

    F = I + sum_r q_r grad U_r         of bodies that deform by shapes U, where those elements are looked at that the
                                       shapes strain most: of each shape over its largest, the largest of all shapes

The shapes of a body are strained together, so that an element that turns inside out has others beside it that do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from supple.elements.shapes import rest_gradients
from supple.material import Law

Array = np.ndarray
CHUNK = 4096
"""Elements whose strains by shapes are found together."""


@dataclass(frozen=True, eq=False)
class ElementInversion:
    """elements (m, k) and gradients of their shape functions at rest. stays: the law has a second minimum at the mirror
    image, so that an inverted element does not come back. nodes: positions (n, 3) [m] from the body's coordinates, in
    axes of its own; None where they are these."""

    elements: Array
    gradients: Array
    stays: bool
    nodes: Callable[[Array], Array] | None = None

    @classmethod
    def of(
        cls, rest: Array, elements: Array, law: Law, nodes: Callable[[Array], Array] | None = None
    ) -> ElementInversion:
        """For nodes at `rest` (n, 3) [m]."""
        return cls(elements, rest_gradients(rest, elements)[0], law is Law.STVK, nodes)

    def inverted(self, x: Array) -> Array:
        """Numbers of the inverted elements at coordinates x."""
        at = x if self.nodes is None else self.nodes(x)
        F = np.einsum("eai,eqaj->eqij", at[self.elements], self.gradients)
        return np.flatnonzero((np.linalg.det(F) <= 0).any(axis=1))


@dataclass(frozen=True, eq=False)
class ShapeElements:
    """Of copies of a solid that deform by r shapes: elements (m,) that are looked at; gradients (m points, 9, r) of the
    shapes there; where (copies, r): their coordinates in those of the body; first (copies,): their first elements."""

    elements: Array
    gradients: Array
    where: Array
    first: Array

    @classmethod
    def of(cls, rest: Array, elements: Array, U: Array, where: Array, first: Array, most: int) -> ShapeElements:
        """Of shapes U (3 n, r) of nodes at `rest` (n, 3) [m]; most: elements to look at."""
        shapes = U.reshape(len(rest), 3, -1)
        tried = np.arange(len(elements))[:: 1 + len(elements) // (10 * most)]
        strained = np.concatenate([_strain(rest, elements[part], shapes) for part in _parts(tried)])
        largest = np.maximum(strained.max(axis=0, initial=0.0), np.finfo(float).tiny)
        score = (strained / largest).max(axis=1, initial=0.0)
        chosen = np.sort(tried[np.argsort(-score, kind="stable")[:most]])
        gradients = _gradients(rest, elements[chosen], shapes).reshape(-1, 9, shapes.shape[2])
        return cls(chosen, gradients, where, first)

    def inverted(self, q: Array) -> Array:
        """Numbers of those that are inverted at coordinates q of the body."""
        F = np.einsum("mkr,cr->cmk", self.gradients, q[self.where], optimize=True)
        F = F.reshape(len(self.where), -1, 3, 3) + np.eye(3)
        bad = (np.linalg.det(F) <= 0).reshape(len(self.where), len(self.elements), -1).any(axis=2)
        copy, row = np.nonzero(bad)
        return np.asarray(self.first[copy] + self.elements[row])


@dataclass(frozen=True, eq=False)
class ShapeInversion:
    """Of a body of solids that deform by shapes. Elements come back with these, whatever the law."""

    solids: Sequence[ShapeElements]
    stays: bool = False

    def inverted(self, x: Array) -> Array:
        """Numbers of the elements that are inverted, of those that are looked at, at coordinates x (1, width)."""
        return np.concatenate([*(solid.inverted(x[0]) for solid in self.solids), np.zeros(0, dtype=np.int64)])


def _parts(numbers: Array) -> list[Array]:
    return [numbers[k : k + CHUNK] for k in range(0, max(len(numbers), 1), CHUNK)]


def _gradients(rest: Array, elements: Array, shapes: Array) -> Array:
    """(m, points, 3, 3, r)."""
    return np.asarray(np.einsum("eair,eqaj->eqijr", shapes[elements], rest_gradients(rest, elements)[0], optimize=True))


def _strain(rest: Array, elements: Array, shapes: Array) -> Array:
    """Largest gradient (m, r) of each shape in each element."""
    return np.asarray(np.abs(_gradients(rest, elements, shapes)).max(axis=(1, 2, 3), initial=0.0))
