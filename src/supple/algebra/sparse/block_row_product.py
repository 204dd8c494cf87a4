"""`block_row_product`: one row of 3x3 blocks times a vector, as one loop of explicit SIMD.

    y_r = sum_k A_k x_c(k)        k = begin ... end - 1

A block's nine entries lie in a row-major run a0 ... a8. The first eight are multiplied, lane by lane, with
(x0 x1 x2 x0 x1 x2 x0 x1) and the ninth with x2, so that a block costs one vector load, one shuffle and two
fused multiply-adds. The nine running sums are added up in a fixed order at the end of the row. Each row is
therefore the same bits whoever computes it. Nothing is read beyond the last block or the last unknown.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

DOUBLE = ir.DoubleType()
INT32, INT64 = ir.IntType(32), ir.IntType(64)
PAIR, OCTET = ir.VectorType(DOUBLE, 2), ir.VectorType(DOUBLE, 8)
CONTRACT = ("contract",)


def _integer(value: int) -> ir.Constant:
    return ir.Constant(INT64, value)


def _lane(value: int) -> ir.Constant:
    return ir.Constant(INT32, value)


def _multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    return builder.fadd(builder.fmul(a, b, flags=CONTRACT), c, flags=CONTRACT)


def _accumulate_block(builder: Any, block: Any, x_block: Any, sums: Any, last_sum: Any) -> None:
    """Add the nine products of one block to the running sums (eight lanes and one scalar)."""
    x01 = builder.load(builder.bitcast(x_block, PAIR.as_pointer()), align=8)
    x2 = builder.load(builder.gep(x_block, [_integer(2)]))
    x2_pair = builder.insert_element(ir.Constant(PAIR, [0.0, 0.0]), x2, _lane(0))
    order = ir.Constant(ir.VectorType(INT32, 8), [0, 1, 2, 0, 1, 2, 0, 1])
    x = builder.shuffle_vector(x01, x2_pair, order)
    entries = builder.load(builder.bitcast(block, OCTET.as_pointer()), align=8)
    last_entry = builder.load(builder.gep(block, [_integer(8)]))
    builder.store(_multiply_add(builder, entries, x, builder.load(sums)), sums)
    builder.store(_multiply_add(builder, last_entry, x2, builder.load(last_sum)), last_sum)


@intrinsic
def block_row_product(
    typing_context: Any, data: Any, indices: Any, x: Any, begin: types.Integer, end: types.Integer
) -> Any:
    """The three components of sum_k data[k] x[indices[k]] for begin <= k < end.

    data: (9 block_count) float64, contiguous. indices: (block_count) int32. x: (3 block_row_count) float64,
    contiguous. begin, end: int64. Returns three floats.
    """
    signature = types.UniTuple(types.float64, 3)(data, indices, x, types.int64, types.int64)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data_at, indices_at, x_at = (
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[:3], arguments[:3])
        )
        sums = cgutils.alloca_once_value(builder, ir.Constant(OCTET, [0.0] * 8))
        last_sum = cgutils.alloca_once_value(builder, ir.Constant(DOUBLE, 0.0))
        with cgutils.for_range_slice(builder, arguments[3], arguments[4], _integer(1)) as (k, _):
            column = builder.sext(builder.load(builder.gep(indices_at, [k])), INT64)
            block = builder.gep(data_at, [builder.mul(k, _integer(9))])
            x_block = builder.gep(x_at, [builder.mul(column, _integer(3))])
            _accumulate_block(builder, block, x_block, sums, last_sum)
        total = builder.load(sums)
        entries = [builder.extract_element(total, _lane(lane)) for lane in range(8)] + [builder.load(last_sum)]
        components = [
            builder.fadd(builder.fadd(entries[3 * i], entries[3 * i + 1]), entries[3 * i + 2]) for i in range(3)
        ]
        return context.make_tuple(builder, signature.return_type, components)

    return signature, codegen
