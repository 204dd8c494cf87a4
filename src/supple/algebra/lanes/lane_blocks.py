"""3x3 blocks of many elements, one in each lane, added to the blocks of a matrix.

    data[9 positions[at + w] + e] += blocks[start + LANES e + w]              `add_blocks_of_lanes`
    data[9 positions[at + w] + 3 k + i] += blocks[start + LANES (3 i + k) + w]    `add_transposed_blocks_of_lanes`

for e = 0 ... 8 and lanes w = 0 ... LANES - 1, one lane after the other, since some may have the same position. Entries
lie beside each other in the matrix and lanes in the blocks, so that as many entries as there are lanes are transposed
in registers: a block takes two or three additions in memory instead of nine.
"""

from __future__ import annotations

from typing import Any

import numba.extending
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError

from supple.algebra.lanes.lane_type import LANES

ENTRIES = 9
INT32 = ir.IntType(32)
# Type checkers take the typing context for an argument of the call; `Any` hides it.
intrinsic: Any = numba.extending.intrinsic


def _flat(name: str, array: Any, kind: type) -> None:
    if not (
        isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C" and isinstance(array.dtype, kind)
    ):
        raise TypingError(f"{name} needs contiguous one-dimensional arrays of numbers and of positions, got {array}")


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any = None, index_type: Any = None) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return data if index is None else builder.gep(data, [context.cast(builder, index, index_type, types.intp)])


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Vectors of as many values each as there are vectors: the k-th of the result has the k-th value of each.

    In each round halves of pairs of vectors change places: of the whole, then of halves, and so on.
    """
    n, apart = len(rows), len(rows) // 2
    while apart:
        kept = [k for k in range(n) if not k & apart]
        out = list(rows)
        for k in kept:
            pick = [j if not j & apart else n + j - apart for j in range(n)]
            rest = [j + apart if not j & apart else n + j for j in range(n)]
            one, two = rows[k], rows[k + apart]
            out[k] = builder.shuffle_vector(one, two, ir.Constant(ir.VectorType(INT32, n), pick))
            out[k + apart] = builder.shuffle_vector(one, two, ir.Constant(ir.VectorType(INT32, n), rest))
        rows, apart = out, apart // 2
    return rows


def _adding(name: str, order: tuple[int, ...]) -> Any:
    """Of entries of a block in this order."""

    def typed(typingctx: Any, blocks: Any, start: Any, positions: Any, at: Any, data: Any) -> Any:
        _flat(name, blocks, types.Float)
        _flat(name, data, types.Float)
        _flat(name, positions, types.Integer)
        if blocks.dtype != data.dtype:
            raise TypingError(f"{name} needs blocks of the type of the matrix, got {blocks} and {data}")

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            number = context.get_value_type(data.dtype)
            vector, align = ir.VectorType(number, LANES), data.dtype.bitwidth // 8
            source = _pointer(context, builder, blocks, args[0], args[1], sig.args[1])
            first = _pointer(context, builder, positions, args[2], args[3], sig.args[3])
            target = _pointer(context, builder, data, args[4])

            def entry(e: int) -> Any:
                place = builder.gep(source, [ir.Constant(ir.IntType(64), LANES * e)])
                return builder.load(builder.bitcast(place, vector.as_pointer()), align=align)

            whole = ENTRIES - ENTRIES % LANES
            parts = [_transposed(builder, [entry(e) for e in order[a : a + LANES]]) for a in range(0, whole, LANES)]
            rest = [entry(e) for e in order[whole:]]
            for w in range(LANES):
                position = builder.load(builder.gep(first, [ir.Constant(INT32, w)]))
                wide = context.cast(builder, position, positions.dtype, types.intp)
                block = builder.gep(target, [builder.mul(wide, ir.Constant(wide.type, ENTRIES))])
                for part, values in enumerate(parts):
                    place = builder.gep(block, [ir.Constant(INT32, part * LANES)])
                    place = builder.bitcast(place, vector.as_pointer())
                    total = builder.fadd(builder.load(place, align=align), values[w])
                    builder.store(total, place, align=align)
                for k, value in enumerate(rest):
                    place = builder.gep(block, [ir.Constant(INT32, whole + k)])
                    one = builder.extract_element(value, ir.Constant(INT32, w))
                    builder.store(builder.fadd(builder.load(place), one), place)
            return context.get_dummy_value()

        return types.void(blocks, start, positions, at, data), generate

    typed.__name__ = name
    return intrinsic(typed)


add_blocks_of_lanes = _adding("add_blocks_of_lanes", tuple(range(ENTRIES)))
add_transposed_blocks_of_lanes = _adding(
    "add_transposed_blocks_of_lanes", tuple(3 * k + i for i in range(3) for k in range(3))
)
