"""Elements inside out in a reduced solid: x = X + U q.

    F = I + A,  A = sum q_i grad U_i;    det F <= 0  =>  |sym A| >= 1,    |sym A| <= sum |q_i| max |sym grad U_i|

On the way from I to F the determinant passes zero: (I + t A) v = 0 for some 0 < t <= 1 and |v| = 1, so that
v . sym A v = -1/t. The sum costs r numbers a copy; elements are looked at where it does not rule an inversion out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.elements.inversion import ElementInversion
from supple.material import Law

Array = np.ndarray
AT_ONCE = 4096
"""Elements whose strains are computed together."""


@dataclass(frozen=True, eq=False)
class BasisInversion:
    """X (n, 3) [m], U (3 n, r), elements of the solid; strains (r,): the largest |sym grad U_i| of any element."""

    X: Array
    U: Array
    elements: ElementInversion
    strains: Array

    @classmethod
    def of(cls, X: Array, elements: Array, U: Array) -> BasisInversion:
        """For nodes X (n, 3) [m] and a basis U (3 n, r)."""
        found = ElementInversion.of(X, elements, Law.LINEAR)
        return cls(X, U, found, largest_strains(found, U))

    @property
    def count(self) -> int:
        """Of the elements."""
        return self.elements.count

    def inverted(self, q: Array) -> tuple[Array, Array]:
        """Copies and elements that are inverted at q (copies, r)."""
        near = np.flatnonzero(np.abs(q) @ self.strains >= 1.0)
        copy, element = self.seen(q[near]) if len(near) else (near, near)
        return near[copy], element

    def seen(self, q: Array) -> tuple[Array, Array]:
        """The same of all elements, whatever the bound says."""
        x = self.X + (q @ self.U.T).reshape(len(q), -1, 3)
        copy, element = np.nonzero(self.elements.mask(x))
        return copy, element


def largest_strains(elements: ElementInversion, U: Array) -> Array:
    """The largest |sym grad U_i| (r,) at any quadrature point, Frobenius' norm."""
    r = U.shape[1]
    shapes, out = U.reshape(-1, 3 * r), np.zeros(r)
    for first in range(0, elements.count, AT_ONCE):
        nodes, g = (part[first : first + AT_ONCE] for part in (elements.elements, elements.gradients))
        A = (np.swapaxes(g, 2, 3).reshape(len(g), -1, g.shape[2]) @ shapes[nodes]).reshape(-1, 3, 3, r)
        S = 0.5 * (A + A.swapaxes(1, 2))
        out = np.maximum(out, np.sqrt(np.einsum("pijr,pijr->pr", S, S)).max(axis=0))
    return out
