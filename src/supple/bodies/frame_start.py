"""How a body that one frame carries starts: its frame in the world, and its coordinates q in the frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_array
from supple.bodies.coordinates import FrameWithModes
from supple.bodies.placement import Placement
from supple.errors import InputError

Array = np.ndarray


def check_start(given: ArrayLike | None, size: int, *, name: str, where: str) -> Array:
    """q or its rate, (size,); zeros where nothing is given."""
    value = np.zeros(size) if given is None else check_array(given, name=name, where=where).ravel()
    if value.shape != (size,) or not np.isfinite(value).all():
        raise InputError(f"{name} is not {size} finite numbers", where=where, value=value.shape)
    return value


def place_frame(
    coordinates: FrameWithModes, placement: Placement, origin: Array, q: Array, q_rate: Array
) -> tuple[Array, Array]:
    """Coordinates x (1, 7 + p) and velocities v (1, 6 + p) of a body; origin (3,) [m]: of its frame at rest."""
    x, v = np.zeros((1, coordinates.x_width)), np.zeros((1, coordinates.v_width))
    x[0, :3] = placement.apply(origin[None])[0]
    x[0, 3:7] = placement.rotation
    x[0, 7 : 7 + len(q)] = q
    v[0, :3] = placement.point_velocities(x[0, :3])
    v[0, 3:6] = rotations.rotate_inverse(placement.rotation, placement.spin)
    v[0, 6 : 6 + len(q)] = q_rate
    return x, v
