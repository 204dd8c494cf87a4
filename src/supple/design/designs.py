"""Design: a robot as data. Cells of materials, fields over them, and what its controller is made of."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import ndimage

from supple.algebra.dense.checks import check_whole
from supple.design.content import content_key
from supple.errors import NOT_NUMBERS, FileFormatError, InputError

Array = np.ndarray
VERSION = 1
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")


@dataclass(frozen=True, eq=False, repr=False)
class Design:
    """A robot as data.

    cells: (nx, ny, nz) whole numbers up to 255, 0 for empty, else a number of the palette; one piece, joined by faces.
    fields: numbers over the cells by name, (nx, ny, nz): an `Arena` knows "phase" [periods], "gain" [-], "stiffness"
    and "density" [-], factors of the material's own; they are zero in empty cells, whatever is given there.
    controller: plain data of a controller, such as the weights of a network: numbers, text, arrays, lists, mappings.
    Two designs of the same content are equal and have the same key.

    >>> import numpy as np
    >>> one = Design(np.ones((2, 1, 1)), {"phase": np.zeros((2, 1, 1))})
    >>> one == Design.from_json(one.to_json()), one.voxel_count
    (True, 2)
    """

    cells: Array
    fields: Mapping[str, Array] = field(default_factory=dict)
    controller: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        cells = _checked_cells(self.cells)
        given = {} if self.fields is None else self.fields
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            raise InputError("the fields are not arrays by name", where="design", value=type(given).__name__)
        fields = {name: _checked_field(name, given[name], cells) for name in sorted(given)}
        if self.controller is not None and not isinstance(self.controller, Mapping):
            raise InputError("the controller is not a mapping", where="design", value=type(self.controller).__name__)
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "fields", MappingProxyType(fields))
        object.__setattr__(self, "controller", _frozen(self.controller, "controller"))

    def key(self) -> str:
        """SHA-256 of the content, as hexadecimal text."""
        return self._key

    @cached_property
    def _key(self) -> str:
        return content_key("design", VERSION, self.cells, self.fields, self.controller)

    @property
    def voxel_count(self) -> int:
        """How many cells are filled."""
        return int(np.count_nonzero(self.cells))

    def to_json(self) -> dict[str, Any]:
        """Plain values that JSON can hold; arrays as their type, shape and bytes, so that nothing is rounded."""
        return {
            "design": VERSION,
            "cells": _encoded(self.cells),
            "fields": {name: _encoded(values) for name, values in self.fields.items()},
            "controller": _encoded(self.controller),
        }

    @staticmethod
    def from_json(data: Any) -> Design:
        """The design of `to_json`."""
        if not isinstance(data, Mapping) or data.get("design") != VERSION:
            found = data.get("design") if isinstance(data, Mapping) else type(data).__name__
            raise FileFormatError("this is not a design of this version", value=found, allowed=f"version {VERSION}")
        values = {name: _decoded(data.get(name), name) for name in ("cells", "fields", "controller")}
        return Design(**values)  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def __reduce__(self) -> tuple[Any, ...]:
        return Design, (self.cells, dict(self.fields), _thawed(self.controller))

    def __repr__(self) -> str:
        return f"Design({self.cells.shape}, {self.voxel_count} voxels, {self.key()[:12]})"


def is_one_piece(cells: ArrayLike) -> bool:
    """Whether filled cells (nx, ny, nz) are one piece, joined by faces; False where none is filled."""
    return int(ndimage.label(check_whole(cells, name="cells", where="is_one_piece") != 0)[1]) == 1


def largest_piece(cells: ArrayLike) -> Array:
    """The cells (nx, ny, nz) with all emptied but the largest piece that is joined by faces, the first of equal ones.

    >>> largest_piece([[[1, 0, 2, 2]]]).tolist()
    [[[0, 0, 2, 2]]]
    """
    numbers = np.array(check_whole(cells, name="cells", where="largest_piece"))
    labels, count = ndimage.label(numbers != 0)
    if count > 1:
        sizes = np.bincount(labels.ravel())[1:]
        numbers[labels != 1 + int(sizes.argmax())] = 0
    return numbers


def _checked_cells(given: Any) -> Array:
    try:
        cells = np.asarray(given)
    except ValueError:
        cells = np.zeros(0)
    if cells.ndim != 3 or cells.dtype.kind not in "biuf" or not cells.size:
        raise InputError(
            "the cells are not whole numbers (nx, ny, nz)", where="design", value=f"{cells.dtype} {cells.shape}"
        )
    finite = np.isfinite(cells).all()
    if not finite or (cells != np.round(cells)).any() or cells.min() < 0 or cells.max() > 255:
        raise InputError("a cell is not a number of the palette", where="design", allowed="whole numbers, 0 to 255")
    if not cells.any():
        raise InputError("the design is empty", where="design", fix="Fill at least one cell.")
    if not is_one_piece(cells):
        pieces = int(ndimage.label(cells != 0)[1])
        raise InputError(
            "the design is not one piece",
            where="design",
            value=f"{pieces} pieces",
            allowed="cells joined by their faces",
            fix="Keep one piece: supple.design.largest_piece(cells).",
        )
    out = np.array(cells, dtype=np.uint8, order="C")
    out.setflags(write=False)
    return out


def _checked_field(name: str, given: Any, cells: Array) -> Array:
    where = f"design, field '{name}'"
    try:
        values = np.asarray(given, dtype=np.float64)
    except NOT_NUMBERS:
        raise InputError("the field does not hold numbers", where=where, value=type(given).__name__) from None
    if values.shape != cells.shape:
        raise InputError("the field has another shape than the cells", where=where, value=values.shape,
                         allowed=str(cells.shape))  # fmt: skip
    out = np.where(cells != 0, values, 0.0) + 0.0  # no -0, which equals 0 and has other bits
    if not np.isfinite(out).all():
        raise InputError("the field is not finite", where=where, allowed="finite numbers in filled cells")
    out.setflags(write=False)
    return out


def _frozen(value: Any, where: str) -> Any:
    """Plain data that nobody can change, or an InputError."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        array = np.array(value, dtype=value.dtype.newbyteorder("<"), order="C")
        if array.dtype.str not in DTYPES:
            raise InputError("the array does not hold numbers", where=f"design, {where}", value=str(value.dtype))
        array.setflags(write=False)
        return array
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return MappingProxyType({name: _frozen(value[name], f"{where}.{name}") for name in sorted(value)})
    if isinstance(value, list | tuple):
        return tuple(_frozen(entry, f"{where}[{k}]") for k, entry in enumerate(value))
    raise InputError(
        "the controller is not plain data", where=f"design, {where}", value=type(value).__name__,
        allowed="numbers, text, arrays, lists, mappings by name",
    )  # fmt: skip


def _thawed(value: Any) -> Any:
    """The same with plain mappings, which can be pickled."""
    if isinstance(value, Mapping):
        return {name: _thawed(entry) for name, entry in value.items()}
    return tuple(map(_thawed, value)) if isinstance(value, tuple) else value


def _encoded(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        data = base64.b64encode(value.tobytes()).decode()
        return {"array": value.dtype.newbyteorder("<").str, "shape": list(value.shape), "data": data}
    if isinstance(value, Mapping):
        return {"mapping": {name: _encoded(entry) for name, entry in value.items()}}
    return [_encoded(entry) for entry in value] if isinstance(value, tuple) else value


def _decoded(value: Any, where: str) -> Any:
    if isinstance(value, list):
        return [_decoded(entry, where) for entry in value]
    if not isinstance(value, Mapping):
        return value
    if "mapping" in value or "array" not in value:
        entries = value.get("mapping", value)
        return {name: _decoded(entry, f"{where}.{name}") for name, entry in entries.items()}
    try:
        if value["array"] not in DTYPES:
            raise ValueError(value["array"])
        data = base64.b64decode(value["data"], validate=True)
        return np.frombuffer(data, dtype=value["array"]).reshape(value["shape"])
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError("an array of the design cannot be read", where=where, value=str(error)) from error
