"""Types of kernels' arguments as text, so that a list of kernels can be kept in a file and compiled before a run.

float64                             a number; also int64, bool, none
float64[2]                          an array of two dimensions, in C order; [2A] and [2F] in others
readonly float64[2]                 an array that is not written
(int64, float64)                    a tuple
supple.x.y:Chain(int64[1], int64)   a named tuple, with the module that defines it
@supple.x.y:Chain(int64[1], int64)  the address of one (`by_address`)
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from numba.core import types

from supple.algebra.compiling.by_address import AddressType, address_type

NUMBER = re.compile(r"(readonly )?(\w+)(?:\[(\d+)([CFA]?)\])?")
CLASS = re.compile(r"([\w.]+):([\w.]+)")


def type_as_text(kind: Any) -> str:
    """The text of a type; ValueError for one that has none, such as a function or a default value."""
    if isinstance(kind, AddressType):
        return "@" + type_as_text(kind.of)
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        fields = ", ".join(type_as_text(part) for part in parts)
        named = getattr(kind, "instance_class", None)
        return f"({fields})" if named is None else f"{named.__module__}:{named.__qualname__}({fields})"
    if isinstance(kind, types.Array) and kind.aligned:
        order = "" if kind.layout == "C" else kind.layout
        return f"{'' if kind.mutable else 'readonly '}{type_as_text(kind.dtype)}[{kind.ndim}{order}]"
    if isinstance(kind, types.Number | types.Boolean | types.NoneType) and hasattr(types, str(kind)):
        return str(kind)
    raise ValueError(f"{kind} cannot be written as text")


def type_from_text(text: str) -> Any:
    """The type that a text names; ValueError, or an error of the import, where there is none."""
    kind, end = _read(text, 0)
    if end != len(text):
        raise ValueError(f"{text[end:]!r} follows a type")
    return kind


def _read(text: str, at: int) -> tuple[Any, int]:
    """The type that begins at a place of the text, and where it ends."""
    if text[at : at + 1] == "@":
        kind, end = _read(text, at + 1)
        return address_type(kind), end
    named = CLASS.match(text, at)
    if named or text[at : at + 1] == "(":
        fields, end = _read_fields(text, named.end() if named else at)
        return types.BaseTuple.from_types(fields, _found(*named.groups()) if named else None), end
    number = NUMBER.match(text, at)
    if number is None:
        raise ValueError(f"{text[at:]!r} is no type")
    readonly, name, dimensions, order = number.groups()
    kind = getattr(types, name)
    if dimensions is not None:
        layout: Any = order or "C"
        kind = types.Array(kind, int(dimensions), layout, readonly=bool(readonly))
    return kind, number.end()


def _read_fields(text: str, at: int) -> tuple[list[Any], int]:
    """Types between brackets."""
    fields: list[Any] = []
    at += 1
    while text[at : at + 1] != ")":
        kind, at = _read(text, at)
        fields.append(kind)
        at += 2 if text[at : at + 2] == ", " else 0
        if at >= len(text):
            raise ValueError("a bracket is not closed")
    return fields, at + 1


def _found(module: str, name: str) -> Any:
    """A class of a module."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found
