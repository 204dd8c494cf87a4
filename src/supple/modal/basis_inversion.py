"""Elements inside out in a reduced solid: x = X + U q.

    F = I + A,  A = sum q_i grad U_i;    det F <= 0  =>  |sym A| >= 1,    |sym A| <= sum |q_i| max |sym grad U_i|

On the way from I to F the determinant passes zero: (I + t A) v = 0 for some 0 < t <= 1 and |v| = 1, so that
v . sym A v = -1/t. The sum costs r numbers a copy. Where it does not rule an inversion out, a quadratic form does that
covers the strains s_p = B_p q of all quadrature points p,

    |s_p|² <= k q^T M q,    M = sum_p w_p B_p^T B_p,   sum w_p = 1,    k = max_p |B_p M^-1 B_p^T| >= 1

With the weights that make M^-1 B_p^T B_p have equal traces where w_p > 0, k is r at most (Kiefer and Wolfowitz): the
bound is sqrt(r) times the largest strain at most, however strains of coordinates cancel. Elements are looked at beyond.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.elements.inversion import ElementInversion
from supple.material import Law

Array = np.ndarray
AT_ONCE = 4096
"""Elements whose strains are computed together."""
ROUNDS = 30
"""In which the weights of the quadratic form are found."""
ROUND_OFF = 1e-9
MOST_NUMBERS = 1 << 23
"""Numbers of strains of a basis for which a quadratic form is made."""
TINY = 1e-12
"""Part of its trace that is added to the diagonal of the form, for coordinates that strain nothing."""
SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Numbers of a symmetric matrix."""


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

    @property
    def can_cover(self) -> bool:
        """Whether there are few enough strains for a quadratic form that covers them."""
        return 6 * self.elements.gradients[:, :, 0, 0].size * self.U.shape[1] <= MOST_NUMBERS

    @cached_property
    def covering(self) -> Array:
        """L (r, r): no element has a larger |sym A| than |q^T L|."""
        return covering_form(np.concatenate(list(_strain_rows(self.elements, self.U))))

    def inverted(self, q: Array) -> tuple[Array, Array]:
        """Copies and elements that are inverted at q (copies, r)."""
        near = np.flatnonzero(np.abs(q) @ self.strains >= 1.0)
        if len(near) and self.can_cover:
            near = near[((q[near] @ self.covering) ** 2).sum(axis=1) >= 1.0]
        copy, element = self.seen(q[near]) if len(near) else (near, near)
        return near[copy], element

    def seen(self, q: Array) -> tuple[Array, Array]:
        """The same of all elements, whatever the bound says."""
        x = self.X + (q @ self.U.T).reshape(len(q), -1, 3)
        copy, element = np.nonzero(self.elements.mask(x))
        return copy, element


def _strain_rows(elements: ElementInversion, U: Array) -> Iterator[Array]:
    """B (p, 6, r) of the quadrature points of some elements: |B q| is |sym A| by Frobenius' norm."""
    r, weight = U.shape[1], np.sqrt([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    shapes = U.reshape(-1, 3 * r)
    for first in range(0, elements.count, AT_ONCE):
        nodes, g = (part[first : first + AT_ONCE] for part in (elements.elements, elements.gradients))
        A = (np.swapaxes(g, 2, 3).reshape(len(g), -1, g.shape[2]) @ shapes[nodes]).reshape(-1, 3, 3, r)
        yield np.stack([0.5 * f * (A[:, i, j] + A[:, j, i]) for f, (i, j) in zip(weight, SIX)], axis=1)


def largest_strains(elements: ElementInversion, U: Array) -> Array:
    """The largest |sym grad U_i| (r,) at any quadrature point, Frobenius' norm."""
    out = np.zeros(U.shape[1])
    for B in _strain_rows(elements, U):
        out = np.maximum(out, np.sqrt(np.einsum("psr,psr->pr", B, B)).max(axis=0))
    return out


def covering_form(B: Array) -> Array:
    """L (r, r) with |B_p q| <= |q^T L| for all rows B (p, s, r) and all q."""
    count, width, r = B.shape
    rows, w = B.reshape(-1, r), np.full(count, 1.0 / count)
    for n in range(ROUNDS + 1):
        M = (np.repeat(w, width)[:, None] * rows).T @ rows
        L = np.linalg.cholesky(M + TINY * np.trace(M) * np.eye(r))
        own = np.linalg.solve(L, rows.T).T.reshape(B.shape)  # B_p M^-1 B_p^T is own_p own_p^T
        if n < ROUNDS:
            w *= np.einsum("psi,psi->p", own, own) / r
            w /= w.sum()
    largest = np.linalg.eigvalsh(own @ own.swapaxes(1, 2))[:, -1].max()
    return np.asarray(L * np.sqrt(largest) * (1 + ROUND_OFF))
