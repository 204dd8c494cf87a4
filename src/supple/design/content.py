"""Content hashes of plain data, arrays and frozen dataclasses: the same content gives the same key on any machine.

Every value is written with its type, its size and its bytes, so that no two different contents are written alike.
Floats are written by their bits; arrays by shape, kind and little-endian bytes; mappings in the order of their keys.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import struct
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from supple.errors import InputError

Write = Callable[[bytes], None]


def content_key(*values: Any) -> str:
    """SHA-256 of values, as hexadecimal text.

    >>> content_key(1, "a") == content_key(1, "a"), content_key(1) == content_key(1.0)
    (True, False)
    """
    digest = hashlib.sha256()
    for value in values:
        _write(value, digest.update)
    return digest.hexdigest()


def function_name(function: Callable[..., Any], *, where: str) -> str:
    """ "module:name" of a function that another process can import, or an InputError."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if not module or not name or "<" in name:
        raise InputError(
            "the function cannot be imported by another process",
            where=where,
            value=name or type(function).__name__,
            allowed="a function at the top of a module",
            fix="Write it with `def` at the top of a file that can be imported.",
        )
    return f"{module}:{name}"


def named_function(name: str, *, where: str) -> Any:
    """What "module:name" names, which can be called, or an InputError.

    >>> named_function("math:hypot", where="example")(3.0, 4.0)
    5.0
    """
    module, _, attribute = name.partition(":")
    fix = "Write it as module:function, of a module that Python can import."
    try:
        found = importlib.import_module(module) if module and attribute else None
    except ImportError as error:
        raise InputError(f"the module cannot be imported: {error}", where=where, value=name, fix=fix) from error
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise InputError("no function of that name", where=where, value=name, fix=fix)
    return found


def _write(value: Any, write: Write) -> None:
    if isinstance(value, np.ndarray):
        _write_array(value, write)
    elif isinstance(value, np.generic):
        _write(value.item(), write)
    elif value is None or isinstance(value, bool | int):
        _write_text(type(value).__name__, repr(value), write)
    elif isinstance(value, float):
        write(b"float" + struct.pack("<d", value))
    elif isinstance(value, str):
        _write_text("str", str(value), write)
    elif isinstance(value, bytes):
        _write_bytes("bytes", value, write)
    elif isinstance(value, Mapping):
        _write_mapping(value, write)
    elif isinstance(value, Sequence):
        _write_text("list", str(len(value)), write)
        for entry in value:
            _write(entry, write)
    elif isinstance(value, Set):
        _write_text("set", " ".join(sorted(content_key(entry) for entry in value)), write)
    elif isinstance(getattr(value, "content_hash", None), str):
        _write_text(type(value).__name__, value.content_hash, write)
    elif is_dataclass(value) and not isinstance(value, type):
        _write_text("dataclass", f"{type(value).__module__}.{type(value).__qualname__}", write)
        _write_mapping({field.name: getattr(value, field.name) for field in fields(value)}, write)
    elif callable(value):
        _write_function(value, write)
    else:
        raise InputError(
            "this cannot be told from others by its content", where="content key", value=type(value).__name__,
            allowed="numbers, text, arrays, lists, mappings, dataclasses, functions of a module",
        )  # fmt: skip


def _write_bytes(kind: str, data: bytes, write: Write) -> None:
    write(f"{kind} {len(data)} ".encode())
    write(data)


def _write_text(kind: str, text: str, write: Write) -> None:
    _write_bytes(kind, text.encode(), write)


def _write_array(array: np.ndarray, write: Write) -> None:
    if array.dtype.kind not in "biuf":
        raise InputError("the array does not hold numbers", where="content key", value=str(array.dtype))
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    _write_text("array", f"{array.shape} {array.dtype.kind}{array.dtype.itemsize}", write)
    _write_bytes("data", little.tobytes(), write)


def _write_mapping(mapping: Mapping[Any, Any], write: Write) -> None:
    _write_text("mapping", str(len(mapping)), write)
    for key in sorted(mapping, key=lambda k: (type(k).__name__, k)):
        _write(key, write)
        _write(mapping[key], write)


def _write_function(function: Callable[..., Any], write: Write) -> None:
    """Its name and its source, where Python knows it: an edited function is another one."""
    _write_text("function", function_name(function, where="content key"), write)
    try:
        _write_text("source", inspect.getsource(function), write)
    except (OSError, TypeError):
        _write_text("source", "", write)
