"""`align_equal`: one choice among vectors of equal values, so that a symmetric solid has the same basis everywhere.

Any turn within the space of a multiple value, such as that of bending in x and in y of a square rod, is as right as
another, and rounding decides. Here the turn diagonalises a form that weighs the three directions differently,

    sum_a m_a u_a^T diag(0, 1, 2) u_a,      m_a the lumped mass,

with ascending diagonal: modes that move along x come before those along y and z.
"""

from __future__ import annotations

import numpy as np

from supple.algebra.compiling.blas_threads import one_blas_thread

Array = np.ndarray
WEIGHTS = np.array([0.0, 1.0, 2.0])


def align_equal(values: Array, vectors: Array, lumped_mass: Array, *, tolerance: float) -> Array:
    """Vectors (3 node_count, count), those whose values differ by less than `tolerance` of the larger turned together.

    values (count,): ascending or descending, positive. lumped_mass (node_count,) [kg].

    >>> turned = np.array([[0.6, -0.8], [0.8, 0.6], [0.0, 0.0]])
    >>> np.abs(align_equal(np.ones(2), turned, np.ones(1), tolerance=1e-9)).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    larger = np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    breaks = np.flatnonzero(np.abs(np.diff(values)) > tolerance * larger) + 1
    out = vectors.copy()
    row_weight = (lumped_mass[:, None] * WEIGHTS).reshape(-1, 1)
    for start, stop in zip([0, *breaks], [*breaks, len(values)]):
        if stop - start > 1:
            part = vectors[:, start:stop]
            with one_blas_thread():
                out[:, start:stop] = part @ np.linalg.eigh(part.T @ (row_weight * part))[1]
    return out
