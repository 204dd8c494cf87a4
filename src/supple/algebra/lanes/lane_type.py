"""SIMD lanes: a Numba value that is an LLVM vector `<n x double>` or `<n x float>`; one formula serves many.

A formula is a plain function of values. Called with floats it treats one link, element or interface; called
with lanes it treats n of them at once, lane by lane, with the same operations in the same order. Lanes know
`+ - * /`, unary minus, `abs`, and the functions below; numbers mix in and are spread over all lanes.

    sqrt, fabs, copysign            of `math`, here for lanes as well
    minimum, maximum                the smaller, the larger; the second argument where one is NaN
    select_ge(a, b, x, y)           x where a >= b, else y (also where a or b is NaN)
    any_greater(a, b)               whether a > b in any lane
    splat(value, like)              the value with the type of `like`
    roundoff(like)                  the distance from 1 to the next number in the type of `like`

These work the same on numbers inside compiled code and, without a compiler, on Python floats. Branches on
data are written with `select_ge`; `any_greater` ends a loop when no lane needs it any more.

    load, store, gather             between lanes and contiguous one-dimensional arrays, compiled code only
    value_at                        a number of a flat array, or lanes of an array (rows, lanes), compiled code only
    lane_shift_in                   the neighbour's lane, for stencils along the lane axis, compiled code only
    lane_sum                        the sum of all lanes, halves added to halves, compiled code only

Neither `load` nor `store` nor `gather` looks at bounds or accepts negative indices.
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
import sys
from collections.abc import Callable
from math import copysign, fabs, sqrt
from typing import Any

import llvmlite.binding
import numba.extending
import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.core.errors import TypingError
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast, models, overload, register_model

__all__ = [
    "LANES",
    "Lanes",
    "any_greater",
    "copysign",
    "fabs",
    "gather",
    "lane_count",
    "lane_shift_in",
    "lane_sum",
    "load",
    "maximum",
    "minimum",
    "roundoff",
    "select_ge",
    "splat",
    "sqrt",
    "store",
    "value_at",
]

FAST = ("contract",)
INT32 = ir.IntType(32)


def _has_avx512() -> bool:
    features = config.CPU_FEATURES
    if features is None:
        return bool(llvmlite.binding.get_host_cpu_features().get("avx512f", False))
    return "+avx512f" in features


# With AVX-512 LLVM keeps `<8 x double>` in 512-bit registers. Measured on an Emerald Rapids Xeon with the
# polar kernel (some 500 operations a matrix): 8 lanes 35-50 ns, 4 lanes 55-80 ns, scalars 200-270 ns each.
LANES = 8 if _has_avx512() else 4
"""float64 lanes of this processor."""


def lane_count(dtype: Any) -> int:
    """Lanes of this processor for an array's dtype: `LANES` for float64, twice that for float32."""
    return LANES * 8 // np.dtype(dtype).itemsize


@overload(lane_count)
def _lane_count(dtype):
    count = LANES * 64 // dtype.dtype.bitwidth
    return lambda dtype: count


# ---- the type ----


class Lanes(types.Type):
    """n values of one floating-point type."""

    def __init__(self, element: types.Float, n: int) -> None:
        self.element, self.n = element, n
        super().__init__(name=f"Lanes({element} x {n})")

    def unify(self, typingctx, other):
        """A variable that holds a number on one path and lanes on another holds lanes."""
        return self if isinstance(other, types.Number) else None

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if isinstance(other, types.Number) else None


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """Lanes lie in one LLVM vector."""

    def __init__(self, dmm, fe_type):
        element = dmm.lookup(fe_type.element).get_value_type()
        super().__init__(dmm, fe_type, ir.VectorType(element, fe_type.n))


def _lane_indices(indices) -> ir.Constant:
    indices = list(indices)
    return ir.Constant(ir.VectorType(INT32, len(indices)), indices)


@lower_cast(types.Number, Lanes)
def _spread(context, builder, from_type, to_type, value):
    scalar = context.cast(builder, value, from_type, to_type.element)
    undefined = ir.Constant(context.get_value_type(to_type), ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(INT32, 0))
    return builder.shuffle_vector(first, undefined, _lane_indices([0] * to_type.n))


def _common_type(args) -> types.Type | None:
    """What all arguments widen to: the lane type among them, else the widest float; None if there is none."""
    lanes = {a for a in args if isinstance(a, Lanes)}
    numbers = [a for a in args if not isinstance(a, Lanes)]
    if len(lanes) > 1 or not all(isinstance(a, types.Float | types.Integer) for a in numbers):
        return None
    if lanes:
        return lanes.pop()
    return types.float32 if all(a == types.float32 for a in numbers) else types.float64


def _register(
    function: Callable[..., Any],
    arity: int,
    emit: Callable[..., Any],
    *,
    scalars: bool = False,
    answer: types.Type | None = None,
) -> None:
    """Teach Numba `function` on lanes mixed with numbers; with `scalars`, on numbers alone too.

    emit(builder, *values) gets all values in their common type; `answer` is the result's type if it differs.
    """

    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            common = _common_type(args) if len(args) == arity else None
            if common is None or not (scalars or isinstance(common, Lanes)):
                return None
            return signature(answer or common, *args)

    def lower(context, builder, sig, args):
        common = _common_type(sig.args)
        return emit(builder, *(context.cast(builder, a, t, common) for a, t in zip(args, sig.args)))

    for kinds in itertools.product((Lanes, types.Number), repeat=arity):
        if scalars or Lanes in kinds:
            lower_builtin(function, *kinds)(lower)


# ---- arithmetic ----


def _operation(name: str) -> Callable[..., Any]:
    return lambda builder, *values: getattr(builder, name)(*values, flags=FAST)


def _llvm_function(name: str) -> Callable[..., Any]:
    def emit(builder, *values):
        kind = values[0].type
        suffix = f".v{kind.count}{'f64' if isinstance(kind.element, ir.DoubleType) else 'f32'}"
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind] * len(values)), name + suffix
        )
        return builder.call(function, values)

    return emit


for _name, _operators in {
    "fadd": (operator.add, operator.iadd),
    "fsub": (operator.sub, operator.isub),
    "fmul": (operator.mul, operator.imul),
    "fdiv": (operator.truediv, operator.itruediv),
}.items():
    for _operator in _operators:
        _register(_operator, 2, _operation(_name))
_register(operator.neg, 1, _operation("fneg"))
_register(math.sqrt, 1, _llvm_function("llvm.sqrt"))
_register(math.fabs, 1, _llvm_function("llvm.fabs"))
_register(builtins.abs, 1, _llvm_function("llvm.fabs"))
_register(math.copysign, 2, _llvm_function("llvm.copysign"))


# ---- choices ----


def minimum(a, b):
    """The smaller of a and b; b where one of them is NaN."""
    return a if a < b else b


def maximum(a, b):
    """The larger of a and b; b where one of them is NaN."""
    return a if a > b else b


def select_ge(a, b, x, y):
    """x where a >= b, else y."""
    return x if a >= b else y


def any_greater(a, b):
    """Whether a > b, in any lane."""
    return a > b


def _emit_minimum(builder, a, b):
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def _emit_maximum(builder, a, b):
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _emit_select_ge(builder, a, b, x, y):
    return builder.select(builder.fcmp_ordered(">=", a, b), x, y)


def _emit_any_greater(builder, a, b):
    greater = builder.fcmp_ordered(">", a, b)
    if not isinstance(greater.type, ir.VectorType):
        return greater
    bits = ir.IntType(greater.type.count)
    return builder.icmp_unsigned("!=", builder.bitcast(greater, bits), ir.Constant(bits, 0))


_register(minimum, 2, _emit_minimum, scalars=True)
_register(maximum, 2, _emit_maximum, scalars=True)
_register(select_ge, 4, _emit_select_ge, scalars=True)
_register(any_greater, 2, _emit_any_greater, scalars=True, answer=types.boolean)


# ---- constants ----


def splat(value, like):
    """The number `value` with the type of `like`: in every lane, or as it is."""
    return value


def roundoff(like):
    """The distance from 1 to the next larger number in the type of `like`."""
    return sys.float_info.epsilon


@infer_global(splat)
class SplatTemplate(AbstractTemplate):
    """splat(number, like) has the type of `like`."""

    def generic(self, args, kws):
        if len(args) == 2 and isinstance(args[0], types.Number) and isinstance(args[1], Lanes | types.Float):
            return signature(args[1], *args)
        return None


@infer_global(roundoff)
class RoundoffTemplate(AbstractTemplate):
    """roundoff(like) has the type of `like`."""

    def generic(self, args, kws):
        if len(args) == 1 and isinstance(args[0], Lanes | types.Float):
            return signature(args[0], *args)
        return None


@lower_builtin(splat, types.Number, types.Any)
def _lower_splat(context, builder, sig, args):
    return context.cast(builder, args[0], sig.args[0], sig.return_type)


@lower_builtin(roundoff, types.Any)
def _lower_roundoff(context, builder, sig, args):
    element = getattr(sig.return_type, "element", sig.return_type)
    value = ir.Constant(ir.DoubleType(), 2.0 ** (-52 if element.bitwidth == 64 else -23))
    return context.cast(builder, value, types.float64, sig.return_type)


# ---- memory ----

# Type checkers take the typing context for an argument of the call; `Any` hides it.
intrinsic: Any = numba.extending.intrinsic


def _check_array(name: str, array) -> None:
    if not (isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C"):
        raise TypingError(f"{name} needs a contiguous one-dimensional array, got {array}")


def _lanes_of(name: str, array, n) -> Lanes:
    if not isinstance(array.dtype, types.Float):
        raise TypingError(f"{name} needs an array of float32 or float64, got {array}")
    if isinstance(n, types.IntegerLiteral):
        return Lanes(array.dtype, n.literal_value)
    if n is None or isinstance(n, types.NoneType | types.Omitted):
        return Lanes(array.dtype, LANES * 64 // array.dtype.bitwidth)
    raise TypingError(f"{name} needs a number of lanes known when compiling, got {n}")


def _address(context, builder, array_type, array, index, index_type):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [context.cast(builder, index, index_type, types.intp)])


def _vector_address(context, builder, lanes, array_type, array, index, index_type):
    address = _address(context, builder, array_type, array, index, index_type)
    return builder.bitcast(address, context.get_value_type(lanes).as_pointer())


@intrinsic(prefer_literal=True)
def load(typingctx, array, index, n=None):
    """Lanes array[index : index + n]; n is a constant, `lane_count(array.dtype)` unless given."""
    _check_array("load", array)
    lanes = _lanes_of("load", array, n)

    def generate(context, builder, sig, args):
        address = _vector_address(context, builder, lanes, array, args[0], args[1], sig.args[1])
        return builder.load(address, align=array.dtype.bitwidth // 8)

    return lanes(array, index, types.Omitted(None) if n is None else n), generate


@intrinsic
def store(typingctx, array, index, lanes):
    """array[index : index + n] = lanes."""
    _check_array("store", array)
    if not isinstance(lanes, Lanes) or lanes.element != array.dtype:
        raise TypingError(f"store needs lanes of the array's type, got {lanes} for {array}")

    def generate(context, builder, sig, args):
        address = _vector_address(context, builder, lanes, array, args[0], args[1], sig.args[1])
        builder.store(args[2], address, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, index, lanes), generate


@intrinsic(prefer_literal=True)
def gather(typingctx, array, indices, start, n=None):
    """Lanes array[indices[start + k]], k = 0 ... n - 1; n as for `load`."""
    _check_array("gather", array)
    _check_array("gather", indices)
    if not isinstance(indices.dtype, types.Integer):
        raise TypingError(f"gather needs integer indices, got {indices}")
    lanes = _lanes_of("gather", array, n)

    def generate(context, builder, sig, args):
        first = _address(context, builder, indices, args[1], args[2], sig.args[2])
        value = ir.Constant(context.get_value_type(lanes), ir.Undefined)
        for k in range(lanes.n):
            index = builder.load(builder.gep(first, [ir.Constant(INT32, k)]))
            element = builder.load(_address(context, builder, array, args[0], index, indices.dtype))
            value = builder.insert_element(value, element, ir.Constant(INT32, k))
        return value

    return lanes(array, indices, start, types.Omitted(None) if n is None else n), generate


@intrinsic
def value_at(typingctx, array, index):
    """array[index], of all lanes the same, or lanes array[index, :] of a contiguous array (rows, lanes).

    A kernel written with it treats copies that share their constants as well as lanes that have constants of their own.
    """
    if not (isinstance(array, types.Array) and array.ndim in (1, 2) and array.layout == "C"):
        raise TypingError(f"value_at needs a contiguous array of one or two dimensions, got {array}")
    flat = array.ndim == 1
    answer = array.dtype if flat else _lanes_of("value_at", array, None)

    def generate(context, builder, sig, args):
        index = context.cast(builder, args[1], sig.args[1], types.intp)
        if flat:
            return builder.load(_address(context, builder, array, args[0], index, types.intp))
        index = builder.mul(index, ir.Constant(index.type, answer.n))
        address = _vector_address(context, builder, answer, array, args[0], index, types.intp)
        return builder.load(address, align=array.dtype.bitwidth // 8)

    return answer(array, index), generate


@intrinsic
def lane_shift_in(typingctx, previous, current):
    """Lanes (previous[n-1], current[0], ..., current[n-2])."""
    if not isinstance(current, Lanes) or previous != current:
        raise TypingError(f"lane_shift_in needs two lanes of one type, got {previous} and {current}")

    def generate(context, builder, sig, args):
        return builder.shuffle_vector(*args, _lane_indices(range(current.n - 1, 2 * current.n - 1)))

    return current(previous, current), generate


@intrinsic
def lane_sum(typingctx, lanes):
    """The sum of all lanes: the upper half is added to the lower, until one is left."""
    if not isinstance(lanes, Lanes):
        raise TypingError(f"lane_sum needs lanes, got {lanes}")

    def generate(context, builder, sig, args):
        value, n = args[0], lanes.n
        while n > 1:
            n //= 2
            upper = builder.shuffle_vector(value, value, _lane_indices(range(n, 2 * n)))
            lower = builder.shuffle_vector(value, value, _lane_indices(range(n)))
            value = builder.fadd(lower, upper, flags=FAST)
        return builder.extract_element(value, ir.Constant(INT32, 0))

    return lanes.element(lanes), generate
