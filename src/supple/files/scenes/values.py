"""The leaves of a scene file: numbers, vectors, rows of numbers, names, functions of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Self

import numpy as np
from pydantic import BeforeValidator, PlainValidator, model_validator

from supple.bodies.voxel import Samples as SampledSignal
from supple.files.scenes.section import Section, complaint, shorten
from supple.scene.acting.time_functions import RampInTime, SineInTime, TableInTime

Array = np.ndarray
MAX_NAME = 100


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> float:
    if not _is_number(value):
        raise complaint("is not a number", value=shorten(value))
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise complaint("is not a finite number", value=shorten(value))
    return number


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME:
        raise complaint("is not a name", value=shorten(value), allowed=f"text of 1 to {MAX_NAME} letters")
    return value


def _array(value: Any, shapes: tuple[tuple[int | None, ...], ...], what: str, dtype: type = float) -> Array:
    """Numbers in one of the shapes; None stands for any length but zero."""
    wanted = np.integer if dtype is int else np.number
    try:
        array = np.array(value if _all_numbers(value, dtype) else "text")
    except (ValueError, OverflowError, TypeError):
        array = np.array("text")
    fits = any(
        array.ndim == len(shape) and all(n == m or (m is None and n) for n, m in zip(array.shape, shape))
        for shape in shapes
    )
    if not np.issubdtype(array.dtype, wanted) or not fits:
        raise complaint(f"is not {what}", value=shorten(value))
    array = array.astype(np.int64 if dtype is int else float)
    if not np.isfinite(array).all():
        raise complaint(f"is not {what}: a number is not finite", value=shorten(value))
    return array


def _all_numbers(value: Any, dtype: type) -> bool:
    """Whether nested lists hold numbers alone; numpy would take truth values and text for numbers."""
    if isinstance(value, list):
        return all(_all_numbers(v, dtype) for v in value)
    return _is_number(value) and (dtype is float or isinstance(value, int))


def number_each(value: Any) -> Array:
    """A number or a list of them."""
    return _array(value, ((), (None,)), "a number, a list of numbers, or a table by the numbers of materials")


def number_rows(value: Any, what: str) -> Array:
    """A number, a list of them, or a list of lists of one length."""
    return _array(value, ((), (None,), (None, None)), f"finite numbers ({what})")


def _array_of(what: str, *shapes: tuple[int | None, ...], dtype: type = float) -> Any:
    return PlainValidator(lambda value: _array(value, shapes, what, dtype))


Number = Annotated[float, BeforeValidator(_number)]
Name = Annotated[str, BeforeValidator(_name)]
Vector = Annotated[Array, _array_of("a vector of 3 numbers", (3,))]
Rotation = Annotated[
    Array, _array_of("a quaternion of 4 numbers (w, x, y, z) or a rotation vector of 3 [rad]", (3,), (4,))
]
Pair = Annotated[Array, _array_of("a pair of numbers", (2,))]
Times = Annotated[Array, _array_of("a list of numbers", (None,))]
Positions = Annotated[Array, _array_of("a list of positions of 3 numbers", (None, 3))]
OnePosition = Annotated[Array, _array_of("a position of 3 numbers, or a list of them", (3,), (None, 3))]
NumberEach = Annotated[Array, _array_of("a number or a list of numbers", (), (None,))]
Inertia = Annotated[Array, _array_of("3 principal moments or a matrix of 3 rows of 3", (3,), (3, 3))]
Numbers = Annotated[Array, _array_of("a list of whole numbers", (None,), dtype=int)]
Pairs = Annotated[Array, _array_of("a list of pairs of whole numbers", (None, 2), dtype=int)]
IndexRows = Annotated[Array, _array_of("a list of rows of whole numbers", (None, None), dtype=int)]
Cells = Annotated[Array, _array_of("three whole numbers", (3,), dtype=int)]
Colour = Annotated[Array, _array_of("a colour of 4 numbers", (4,))]
PairRows = Annotated[Array, _array_of("rows of two numbers", (None, 2))]
HeightRows = Annotated[Array, _array_of("rows of heights", (None, None))]
OneOrTwo = Annotated[Array, _array_of("a number or a pair of them", (), (2,))]
FieldNumbers = Annotated[Array, _array_of("numbers, one a voxel or one a cell", (None,), (None, None, None))]
WeightRows = Annotated[Array, _array_of("a list of rows of numbers", (None, None))]
_Values = Annotated[Array, _array_of("a number, a vector or rows of 3", (), (None,), (None, 3), (None, None, 3))]


class Sine(Section):
    """offset + amplitude sin(2 pi frequency t + phase)."""

    amplitude: _Values
    frequency: Number
    phase: Number | None = None
    offset: _Values | None = None

    def function(self) -> SineInTime:
        """The callable."""
        return SineInTime(self.amplitude, self.frequency, **self.given("phase", "offset"))


class Table(Section):
    """Piecewise linear in time."""

    times: Times
    values: _Values

    def function(self) -> TableInTime:
        """The callable."""
        return TableInTime(self.times, self.values)


class Ramp(Section):
    """From zero to `end` within a duration [s], smoothly."""

    end: _Values
    duration: Number

    def function(self) -> RampInTime:
        """The callable."""
        return RampInTime(self.end, self.duration)


class Samples(Section):
    """Numbers at a rate [Hz], linear in between."""

    values: Times
    rate: Number
    repeats: bool | None = None

    def function(self) -> SampledSignal:
        """The callable."""
        return SampledSignal(self.values, self.rate, **self.given("repeats"))


class TimeFunction(Section):
    """A function of time: a sine, a table, a ramp or samples."""

    sine: Sine | None = None
    table: Table | None = None
    ramp: Ramp | None = None
    samples: Samples | None = None

    def function(self) -> Callable[[float], Any]:
        """The callable."""
        chosen = self.sine or self.table or self.ramp or self.samples
        assert chosen is not None
        return chosen.function()

    @model_validator(mode="after")
    def _one(self) -> Self:
        self.choose("sine", "table", "ramp", "samples")
        return self


def _in_time(what: str, *shapes: tuple[int | None, ...]) -> Any:
    """A constant of the given shapes, or a function of time whose values have them."""

    def check(value: Any) -> Any:
        if not isinstance(value, dict):
            return _array(value, shapes, f"{what}, or a table with 'sine', 'table', 'ramp' or 'samples'")
        function = TimeFunction.model_validate(value).function()
        shape = np.shape(function(0.0))
        if not any(len(shape) == len(s) and all(m is None or n == m for n, m in zip(shape, s)) for s in shapes):
            raise complaint(f"does not give {what} at each time", value=shape)
        return function

    return PlainValidator(check)


NumberInTime = Annotated[Any, _in_time("a number", ())]
VectorInTime = Annotated[Any, _in_time("a vector of 3 numbers", (3,))]
ForceInTime = Annotated[Any, _in_time("a force of 3 numbers or one a point", (3,), (None, 3))]
