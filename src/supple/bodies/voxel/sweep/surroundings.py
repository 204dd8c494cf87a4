"""What a caller gives to `VoxelBody.advance`, checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from supple.algebra.dense.checks import check_array, check_whole
from supple.bodies.voxel.touching.collision import Collision
from supple.errors import InputError, check_instance, check_row
from supple.interaction.fluid import Fluid
from supple.interaction.obstacles import Obstacle

Array = np.ndarray
WHERE = "VoxelBody.advance"


def check_surroundings(planes: Sequence[Obstacle], collision: Collision | None, fluid: Fluid | None) -> None:
    """Refuse what are no obstacles, no rules of collision, and no fluid."""
    check_row(planes, Obstacle, "obstacles", where=WHERE)
    if collision is not None:
        check_instance(collision, Collision, "a Collision", where=WHERE)
    if fluid is not None:
        check_instance(fluid, Fluid, "a Fluid", where=WHERE)


def check_held(held: ArrayLike) -> Array:
    """Numbers of voxels, each once and ascending, (k,)."""
    return np.unique(check_whole(held, name="held", where=WHERE))


def check_loads(loads: ArrayLike | None) -> Array | None:
    """Forces and moments as floats; their number is looked at where they are used."""
    return None if loads is None else check_array(loads, name="loads", where=WHERE)


def check_dtype(dtype: DTypeLike) -> np.dtype:
    """float64 or float32."""
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError):
        kind = np.dtype(object)
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise InputError("the sweep runs in float64 or float32", where=WHERE, value=dtype)
    return kind
