"""Vectors and rotations as people write them, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import NOT_NUMBERS, InputError
from supple.geometry.meshes.region import FloatArray


def as_vector(values: ArrayLike, name: str) -> FloatArray:
    """Three finite numbers, (3,)."""
    try:
        vector = np.asarray(values, dtype=np.float64)
    except NOT_NUMBERS:
        vector = np.full(0, np.nan)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"{name} is not three finite numbers", value=values)
    return vector


def as_rotation(values: ArrayLike) -> FloatArray:
    """A rotation matrix (3, 3), body to world, from a quaternion (w, x, y, z) or a matrix."""
    given = np.asarray(values, dtype=np.float64)
    if given.shape == (4,) and np.isfinite(given).all() and np.linalg.norm(given) > 0:
        w, x, y, z = given / np.linalg.norm(given)
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
    orthogonal = given.shape == (3, 3) and np.allclose(given @ given.T, np.eye(3), atol=1e-9)
    if orthogonal and np.linalg.det(given) > 0:
        return given
    raise InputError(
        "the rotation is neither a quaternion nor a rotation matrix",
        value=given.tolist(),
        allowed="(w, x, y, z), not all zero, or an orthogonal (3, 3) matrix with determinant 1",
    )
