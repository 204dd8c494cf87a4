"""`prefetch(array, i)`: ask for the memory of row i of an array before it is needed. It changes no result.

`prefetch_to_write` also takes it away from other cores, for which a store would wait otherwise.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def prefetch(typing_context: Any, array: Any, row: Any) -> Any:
    """In compiled code: begin to read row `row` of an array; a row outside it is no error."""
    return _prefetch(array, row, 0)


@intrinsic
def prefetch_to_write(typing_context: Any, array: Any, row: Any) -> Any:
    """The same of a row that will be written."""
    return _prefetch(array, row, 1)


def _prefetch(array: Any, row: Any, writes: int) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        value = context.make_array(kind)(context, builder, arguments[0])
        stride = builder.extract_value(value.strides, 0)
        index = context.cast(builder, arguments[1], signature.args[1], types.intp)
        byte = ir.IntType(8).as_pointer()
        begin = builder.gep(builder.bitcast(value.data, byte), [builder.mul(stride, index)])
        number = ir.IntType(32)
        kinds = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kinds, "llvm.prefetch.p0i8")
        builder.call(function, [begin, number(writes), number(3), number(1)])  # keep, data
        return context.get_dummy_value()

    return types.void(array, row), generate
