"""Bricks of voxels in SIMD lanes: who is whose neighbour when a vector holds 2x2x2 voxels.

A vector of 4, 8 or 16 lanes holds a brick of 2x2x1, 2x2x2 or 4x2x2 voxels, x fastest. Along each axis,

    neighbour_x(brick, next)       the voxel one further along x, for every lane: in the brick or in the next one
    arrive_x(brick, previous)      the voxel one back along x, for every lane: in the brick or in the previous one

and likewise for y and z; compiled code only.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import Any

import numba.extending
from llvmlite import ir
from numba.core.errors import TypingError

from supple.algebra.lanes.lane_type import INT32, Lanes

intrinsic: Any = numba.extending.intrinsic

BRICKS = {4: (2, 2, 1), 8: (2, 2, 2), 16: (4, 2, 2)}
"""Voxels of a brick along x, y, z, by the number of lanes."""


def lane_places(n: int) -> list[tuple[int, int, int]]:
    """Place (x, y, z) in the brick of each of n lanes."""
    nx, ny, nz = BRICKS[n]
    return [(x, y, z) for z in range(nz) for y in range(ny) for x in range(nx)]


def _shift(n: int, axis: int, step: int) -> list[int]:
    """For each lane, the lane one step along an axis; n and above: in the adjoining brick."""
    shape, places = BRICKS[n], lane_places(n)
    found = []
    for place in places:
        at = list(place)
        at[axis] += step
        outside = not 0 <= at[axis] < shape[axis]
        at[axis] %= shape[axis]
        found.append(places.index((at[0], at[1], at[2])) + (n if outside else 0))
    return found


def _shuffle(name: str, axis: int, step: int) -> Any:
    def typed(typingctx, own, other):
        if not isinstance(own, Lanes) or own != other or own.n not in BRICKS:
            raise TypingError(f"{name} needs two bricks of one type, got {own} and {other}")

        def generate(context, builder, sig, args):
            lanes = ir.Constant(ir.VectorType(INT32, own.n), _shift(own.n, axis, step))
            return builder.shuffle_vector(args[0], args[1], lanes)

        return own(own, other), generate

    typed.__name__ = typed.__qualname__ = name
    return intrinsic(typed)


neighbour_x, neighbour_y, neighbour_z = (_shuffle(f"neighbour_{a}", k, 1) for k, a in enumerate("xyz"))
arrive_x, arrive_y, arrive_z = (_shuffle(f"arrive_{a}", k, -1) for k, a in enumerate("xyz"))
