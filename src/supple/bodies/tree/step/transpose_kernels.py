"""Rows of lanes from numbers that lie together, and back: squares of LANES x LANES numbers transposed in registers.

A domain's numbers lie side by side where others read them (what it shows, its interface's acceleration); a group's
kernels read one such number of LANES domains at once. Number by number the way between both takes longer than the
arithmetic.
"""

# mypy: ignore-errors
from __future__ import annotations

from llvmlite import ir
from numba.core import types

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, _address, _check_array, _lane_indices, _lanes_of, intrinsic


@intrinsic
def transpose_square(typingctx, source, at, step, target, there, target_step):
    """target[there + i target_step + b] = source[at + b step + i], i and b = 0 ... LANES - 1."""
    _check_array("transpose_square", source)
    _check_array("transpose_square", target)
    lanes = _lanes_of("transpose_square", source, None)

    def generate(context, builder, sig, args):
        pointer = context.get_value_type(lanes).as_pointer()

        def address(array, first, width, row):
            first, width = (context.cast(builder, args[k], sig.args[k], types.intp) for k in (first, width))
            index = builder.add(first, builder.mul(width, ir.Constant(first.type, row)))
            return builder.bitcast(_address(context, builder, sig.args[array], args[array], index, types.intp), pointer)

        rows = [builder.load(address(0, 1, 2, row), align=8) for row in range(lanes.n)]
        distance = 1
        while distance < lanes.n:  # swap off-diagonal blocks of this width
            low = [j if not j & distance else lanes.n + j - distance for j in range(lanes.n)]
            high = [j + distance if not j & distance else lanes.n + j for j in range(lanes.n)]
            for i in range(lanes.n):
                if not i & distance:
                    a, b = rows[i], rows[i + distance]
                    rows[i] = builder.shuffle_vector(a, b, _lane_indices(low))
                    rows[i + distance] = builder.shuffle_vector(a, b, _lane_indices(high))
            distance *= 2
        for row in range(lanes.n):
            builder.store(rows[row], address(3, 4, 5, row), align=8)
        return context.get_dummy_value()

    return types.void(source, at, step, target, there, target_step), generate


@compiled(inline=True)
def gather_rows(source, at, step, count, work, there):
    """Rows of work from `there`: row i holds source[at + b step + i] of lanes b; count: a multiple of LANES."""
    for i in range(0, count, LANES):
        transpose_square(source, at + i, step, work, there + i * LANES, LANES)


@compiled(inline=True)
def scatter_rows(work, at, target, there, step, count):
    """The way back: target[there + b step + i] from lane b of row i."""
    for i in range(0, count, LANES):
        transpose_square(work, at + i * LANES, LANES, target, there + i, step)
