"""Solutions of an unsymmetric matrix by the factor of one that is near, by conjugate residuals [EES83].

    x = sum_k a_k P^-1 r_k,   r_k = b - A x_k        a_k: such that b - A x is the shortest

Refinement, a_k = 1, diverges where friction slides; this takes some ten solutions with the factor there, and one where
A = P.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supple.algebra.sparse.cholesky.block_factor import FINEST, SOLVED

Array = np.ndarray
Operator = Callable[[Array], Array]
ROUNDS, RESTARTS = 40, 4
"""Solutions that are combined, and how often."""


def solve_by_residuals(once: Operator, product: Operator, b: Array) -> tuple[Array, float]:
    """x with product(x) = b, from solutions `once` for a matrix that is near, and its true relative residual.

    Raises numpy.linalg.LinAlgError where it is not near enough.
    """
    size = float(np.linalg.norm(b))
    if size == 0.0:
        return np.zeros_like(b), 0.0
    x, rest, left = np.zeros_like(b), b, np.inf
    for _ in range(RESTARTS):
        closer = x + _shortest(once, product, rest, FINEST * size)
        rest = b - product(closer)
        now = float(np.linalg.norm(rest)) / size
        if not now < left:
            break
        x, left, before = closer, now, left
        if now <= FINEST or now > 0.5 * before:
            break
    if not left <= SOLVED:
        raise np.linalg.LinAlgError("the residuals do not converge")
    return x, left


def _shortest(once: Operator, product: Operator, r: Array, enough: float) -> Array:
    """x of which r - product(x) is the shortest in the span of solutions for what was left before."""
    x = np.zeros_like(r)
    ways: list[tuple[Array, Array]] = []
    for _ in range(ROUNDS):
        p = once(r)
        q = product(p)
        whole = float(np.linalg.norm(q))
        for other_p, other_q in ways:
            part = float(q @ other_q)
            p, q = p - part * other_p, q - part * other_q
        length = float(np.linalg.norm(q))
        if not 1e-13 * whole < length < np.inf:  # nothing new
            break
        p, q = p / length, q / length
        part = float(r @ q)
        x, r = x + part * p, r - part * q
        ways.append((p, q))
        if np.linalg.norm(r) <= enough:
            break
    return x
