"""Fingerprints: a handful of numbers that stand for all numbers of a value, whatever it is made of.

Up to FEW numbers stand for themselves. Of more, x, are kept how many there are, a sum with weights that are all
unlike, so that two numbers which change places are noticed, and the norm:

    sum   sum_k w_k x_k,   |w_k| between 0.5 and 1.5          norm   sqrt(sum_k x_k²)

Two sums are alike where they differ by less than a tolerance times the norm. Texts are hashed without the numbers in
them, which count like all others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray
Fingerprint = dict[str, Any]
FEW = 4
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?![\w])|(?<![\w.])[-+]?\.\d+(?:[eE][-+]?\d+)?")


def weights(count: int) -> Array:
    """Numbers w (count,) between 0.5 and 1.5 or their opposites, all unlike."""
    k = np.arange(1, count + 1)
    size = 0.5 + np.modf(k * 0.6180339887498949)[0]
    return np.where(np.modf(k * 0.41421356237309515)[0] < 0.5, size, -size)


def fingerprint(value: Any) -> Fingerprint:
    """Of arrays, numbers, texts, and anything made of them: sparse matrices, dataclasses, mappings, sequences."""
    numbers: list[Array] = []
    words: list[str] = []
    for part in _parts(value):
        if isinstance(part, str):
            words.append(NUMBER.sub("#", part))
            part = np.array([float(found) for found in NUMBER.findall(part)])
        numbers.append(np.asarray(part, dtype=float).ravel())
    x = np.concatenate(numbers) if numbers else np.zeros(0)
    strange = ~np.isfinite(x)
    made: Fingerprint = {}
    if strange.any():
        made["infinite"] = int(strange.sum())
        x = np.where(strange, 0.0, x)
    if x.size <= FEW:
        made["values"] = x.tolist()
    else:
        made |= {"count": int(x.size), "sum": float(weights(x.size) @ x), "norm": float(np.linalg.norm(x))}
    if words:
        made["text"] = hashlib.sha256("\n".join(words).encode()).hexdigest()[:12]
    return made


def _parts(value: Any) -> Iterator[Array | str]:
    """The arrays and texts that a value is made of, in its order."""
    if value is None:
        return
    if isinstance(value, np.ndarray | np.generic | int | float):
        a = np.asarray(value)
        if a.dtype.names:
            for name in a.dtype.names:
                yield from _parts(a[name])
        elif a.dtype.kind in "OUS":
            for item in a.ravel().tolist():
                yield from _parts(item)
        elif a.dtype.kind == "c":
            yield from (a.real, a.imag)
        else:
            yield a
    elif isinstance(value, str | Path):
        yield str(value)
    elif isinstance(value, bytes):
        yield np.frombuffer(value, dtype=np.uint8)
    elif isinstance(value, Enum):
        yield value.name
    elif hasattr(value, "tocoo"):
        matrix = value.tocsr().copy()
        matrix.sum_duplicates()
        yield from (np.array(matrix.shape), matrix.indptr, matrix.indices, matrix.data)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _parts(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, Sequence):
        for item in value:
            yield from _parts(item)
    elif not callable(value):
        raise TypeError(f"no fingerprint of a {type(value).__name__}")


def difference(found: Fingerprint, known: Fingerprint, rtol: float, atol: float) -> str:
    """In which way two fingerprints are unlike; empty where they are alike."""
    exact = ("count", "infinite", "text")
    for name in exact:
        if found.get(name) != known.get(name):
            return f"{name}: {found.get(name)} is not {known.get(name)}"
    if "values" in known:
        a, b = np.array(found.get("values", [])), np.array(known["values"])
        if a.shape != b.shape:
            return f"{a.size} numbers, not {b.size}"
        if np.abs(a - b).max(initial=0.0) > rtol * np.abs(b).max(initial=0.0) + atol:
            return f"{a.tolist()} is not {b.tolist()}"
        return ""
    allowed = rtol * known["norm"] + atol
    for name in ("sum", "norm"):
        if not abs(found[name] - known[name]) <= allowed:
            return f"{name}: {found[name]!r} is not {known[name]!r} (to {allowed:.1e})"
    return ""
