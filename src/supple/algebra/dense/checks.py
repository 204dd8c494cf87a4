"""Vectors and rotations from a caller, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.errors import NOT_NUMBERS, InputError

Array = np.ndarray


def check_array(value: ArrayLike, *, name: str, where: str) -> Array:
    """Numbers as a float array, or an InputError that names what is none."""
    try:
        return np.asarray(value, dtype=float)
    except NOT_NUMBERS:
        raise InputError(f"{name} is not made of numbers", where=where, value=value) from None


def check_whole(value: ArrayLike, *, name: str, where: str) -> Array:
    """Whole numbers as an array of int64, or an InputError that names what is none."""
    numbers = check_array(value, name=name, where=where)
    if not np.isfinite(numbers).all() or (numbers != np.rint(numbers)).any() or np.asarray(value).dtype == bool:
        raise InputError(f"{name} is not made of whole numbers", where=where, value=value)
    return numbers.astype(np.int64)


def check_vector(value: ArrayLike, *, name: str, where: str | None = None, size: int = 3) -> Array:
    """A finite float vector of the given size, or an InputError that names it."""
    try:
        vector = np.asarray(value, dtype=float)
    except NOT_NUMBERS:
        vector = np.full(0, np.nan)
    if vector.shape != (size,) or not np.isfinite(vector).all():
        raise InputError(f"{name} is not a vector of {size} finite numbers", where=where, value=value)
    return vector


def as_quaternion(rotation: ArrayLike | None, *, where: str | None = None) -> Array:
    """A unit quaternion (w, x, y, z) from a quaternion (4), a rotation vector (3) [rad] or None."""
    if rotation is None:
        return np.array([1.0, 0, 0, 0])
    value = check_array(rotation, name="rotation", where=where or "placement")
    if value.shape == (3,) and np.isfinite(value).all():
        return rotations.exp(value)
    norm = np.linalg.norm(value)
    if value.shape == (4,) and np.isfinite(norm) and norm > 0:
        return value / norm
    raise InputError(
        "not a rotation", where=where, value=rotation, allowed="a quaternion (w, x, y, z) or a rotation vector [rad]"
    )
