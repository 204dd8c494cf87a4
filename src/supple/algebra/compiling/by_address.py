"""`ByAddress`: a named tuple of arrays that kernels are handed by its address.

Numba hands a tuple over by value, seven words an array: with a hundred arrays a call takes 0.3 us between kernels and
30 us from Python, and every kernel on the way is compiled with all of them as arguments. So what lives long, such as
the constants and the workspace of a tree, is written into memory once, and a call hands over where it lies. Kernels
read its fields as those of the tuple; a tuple in it is again handed on by its address.

    tree = ByAddress(arrays)        # in Python, once
    advance(tree, ...)              # a kernel, which reads tree.q, and hands tree on to others

The arrays may change, but not which they are: their addresses are read as constants. Kernels do not count who uses
them; whoever has made the `ByAddress` keeps it while a kernel runs.
"""

# mypy: ignore-errors
from __future__ import annotations

import hashlib
from functools import cache

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, models, register_model, unbox


class AddressType(types.Type):
    """The address of a named tuple of type `of`. Its name, a part of the names of kernels, is short and its own."""

    def __init__(self, of):
        self.of = of
        digest = hashlib.sha256(str(of).encode()).hexdigest()[:16]
        super().__init__(name=f"Address({of.instance_class.__name__} {digest})")


address_type = cache(AddressType)


@register_model(AddressType)
class AddressModel(models.PrimitiveModel):
    """A pointer."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, dmm.lookup(fe_type.of).get_value_type().as_pointer())


def _field(kind, name):
    """Place and type of a field; a tuple in a tuple is reached by its address."""
    place = kind.of.fields.index(name)
    inner = kind.of.types[place]
    return place, address_type(inner) if isinstance(inner, types.BaseNamedTuple) else inner


@infer_getattr
class AddressFields(AttributeTemplate):
    """Fields are those of the tuple."""

    key = AddressType

    def generic_resolve(self, kind, name):
        return _field(kind, name)[1] if name in kind.of.fields else None


def _load(builder, address, kind):
    """A value by its parts, each as a constant that loops need not read again."""
    if not isinstance(kind, ir.LiteralStructType | ir.ArrayType):
        value = builder.load(address)
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value
    value = ir.Constant(kind, ir.Undefined)
    parts = kind.elements if isinstance(kind, ir.LiteralStructType) else [kind.element] * kind.count
    for k, part in enumerate(parts):
        value = builder.insert_value(value, _load(builder, cgutils.gep_inbounds(builder, address, 0, k), part), k)
    return value


@lower_getattr_generic(AddressType)
def _read_field(context, builder, kind, value, name):
    place, inner = _field(kind, name)
    address = cgutils.gep_inbounds(builder, value, 0, place)
    if isinstance(inner, AddressType):
        return address
    return _load(builder, address, context.get_value_type(inner))


@unbox(AddressType)
def unboxed(kind, value, c):
    """The pointer that the `address` of a Python object is."""
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, c.context.get_value_type(kind)))


def _words(value):
    """A tuple as it lies in memory: of an array no owners, then size, bytes of an item, address, shape, strides."""
    if isinstance(value, np.ndarray):
        return [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
    if isinstance(value, tuple):
        return [word for part in value for word in _words(part)]
    if isinstance(value, float | int) and not isinstance(value, bool):
        return [int(np.array(value, dtype=type(value)).view(np.int64))]
    raise TypeError(f"a kernel takes no {type(value).__name__} by its address")


class ByAddress:
    """A named tuple of arrays, numbers and such tuples, as kernels take it; it keeps the arrays alive.

    A copy of it has copies of the arrays.
    """

    def __init__(self, value):
        self.value = value
        self._memory = np.array(_words(value), dtype=np.int64)
        self.address = self._memory.ctypes.data
        self._numba_type_ = address_type(numba.typeof(value))

    def __reduce__(self):
        return ByAddress, (self.value,)
