"""Bricks of voxels in SIMD lanes: who is whose neighbour when a vector holds 2x2x2 voxels.

A vector of 4, 8 or 16 lanes holds a brick of 2x2x1, 2x2x2 or 4x2x2 voxels, x fastest. Along each axis,

    neighbour_x(brick, next)       the voxel one further along x, for every lane: in the brick or in the next one
    arrive_x(brick, previous)      the voxel one back along x, for every lane: in the brick or in the previous one

and likewise for y and z; compiled code only. The voxels of a brick with the lowest z are its lower face, those with the
highest its upper one: `face_count` lanes, which `store_lower` and the like move alone.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import Any

import numba.core.types
import numba.extending
from llvmlite import ir
from numba.core.errors import TypingError

from supple.algebra.lanes.lane_type import INT32, Lanes, _check_array, _lanes_of, _vector_address, lane_count

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


def face_count(dtype: Any) -> int:
    """Voxels of a face along z, for an array's dtype."""
    return _face(lane_count(dtype))


def _face(n: int) -> int:
    return n // BRICKS[n][2]


@numba.extending.overload(face_count)
def _face_count(dtype):
    count = face_count(str(dtype.dtype))
    return lambda dtype: count


def _store_face(name: str, *, upper: bool) -> Any:
    def typed(typingctx, array, index, lanes):
        _check_array(name, array)
        if not isinstance(lanes, Lanes) or lanes.element != array.dtype:
            raise TypingError(f"{name} needs lanes of the array's type, got {lanes} for {array}")

        def generate(context, builder, sig, args):
            m, first = _face(lanes.n), lanes.n - _face(lanes.n) if upper else 0
            chosen = ir.Constant(ir.VectorType(INT32, m), list(range(first, first + m)))
            face = builder.shuffle_vector(args[2], args[2], chosen)
            address = _vector_address(context, builder, Lanes(array.dtype, m), array, args[0], args[1], sig.args[1])
            builder.store(face, address, align=array.dtype.bitwidth // 8)
            return context.get_dummy_value()

        return numba.core.types.void(array, index, lanes), generate

    typed.__name__ = typed.__qualname__ = name
    return intrinsic(typed)


def _load_face(name: str, *, upper: bool) -> Any:
    def typed(typingctx, array, index):
        _check_array(name, array)
        lanes = _lanes_of(name, array, None)

        def generate(context, builder, sig, args):
            m = _face(lanes.n)
            address = _vector_address(context, builder, Lanes(array.dtype, m), array, args[0], args[1], sig.args[1])
            face = builder.load(address, align=array.dtype.bitwidth // 8)
            rest, own = [m] * (lanes.n - m), list(range(m))
            chosen = ir.Constant(ir.VectorType(INT32, lanes.n), rest + own if upper else own + rest)
            return builder.shuffle_vector(face, ir.Constant(face.type, None), chosen)

        return lanes(array, index), generate

    typed.__name__ = typed.__qualname__ = name
    return intrinsic(typed)


store_lower, store_upper = _store_face("store_lower", upper=False), _store_face("store_upper", upper=True)
"""array[index : index + face_count] = the face's lanes."""
load_lower, load_upper = _load_face("load_lower", upper=False), _load_face("load_upper", upper=True)
"""Lanes with those of a face from array[index : index + face_count], and zeros in the others."""
