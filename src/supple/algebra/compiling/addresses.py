"""`Addresses`: several named tuples of one type whose arrays differ in shape, as kernels take them.

A tuple of tuples would be compiled anew for every number of them. So a kernel is handed where their addresses lie, and
`address_at` gives the address of one; its fields are read as those of a `ByAddress`.

    bodies = Addresses([one, two])      # in Python, once
    advance(bodies, ...)                # a kernel, which reads address_at(bodies, 1).x
"""

# mypy: ignore-errors
from __future__ import annotations

from functools import cache

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model, unbox

from supple.algebra.compiling.by_address import ByAddress, address_type, unboxed


class AddressesType(types.Type):
    """Where the addresses of named tuples of type `of` lie."""

    def __init__(self, of):
        self.of = of
        super().__init__(name=f"Addresses({address_type(of).name})")


addresses_type = cache(AddressesType)


@register_model(AddressesType)
class AddressesModel(models.PrimitiveModel):
    """A pointer to 64-bit numbers."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.IntType(64).as_pointer())


unbox(AddressesType)(unboxed)


@intrinsic
def address_at(typing, many, k):
    """The address of tuple k."""
    one = address_type(many.of)

    def generate(context, builder, signature, arguments):
        pointer, index = arguments
        number = builder.load(builder.gep(pointer, [index]))
        return builder.inttoptr(number, context.get_value_type(one))

    return one(many, types.int64), generate


class Addresses:
    """Named tuples of arrays, all of one type, as kernels take them; it keeps the arrays alive."""

    def __init__(self, values):
        self.values = list(values)
        self._each = [ByAddress(value) for value in self.values]
        kinds = {one._numba_type_ for one in self._each}
        if len(kinds) != 1:
            raise TypeError(f"tuples of {len(kinds)} types: {sorted(kind.name for kind in kinds)}")
        self._memory = np.array([one.address for one in self._each], dtype=np.int64)
        self.address = self._memory.ctypes.data
        self._numba_type_ = addresses_type(kinds.pop().of)
