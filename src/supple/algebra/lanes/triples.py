"""Lanes of three coordinates written point by point, in single precision."""

# mypy: ignore-errors
from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError

from supple.algebra.lanes.lane_type import Lanes, _address, _check_array, _lane_indices, intrinsic


@intrinsic
def store_triples(typingctx, array, index, x, y, z):
    """array[index + 3 k : index + 3 k + 3] = x_k, y_k, z_k of all lanes k, rounded; array: float32."""
    _check_array("store_triples", array)
    if array.dtype != types.float32 or not (isinstance(x, Lanes) and x == y == z):
        raise TypingError(f"store_triples needs float32 and three lanes of one type, got {array}, {x}, {y}, {z}")

    def generate(context, builder, sig, args):
        n, single = x.n, ir.VectorType(ir.FloatType(), x.n)
        parts = [builder.fptrunc(part, single) if x.element == types.float64 else part for part in args[2:]]
        two = builder.shuffle_vector(parts[0], parts[1], _lane_indices(range(2 * n)))
        third = builder.shuffle_vector(parts[2], parts[2], _lane_indices(range(2 * n)))
        order = [c * n + k for k in range(n) for c in range(3)]
        rows = builder.shuffle_vector(two, third, _lane_indices(order))
        address = _address(context, builder, array, args[0], args[1], sig.args[1])
        builder.store(rows, builder.bitcast(address, rows.type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(array, index, x, y, z), generate
