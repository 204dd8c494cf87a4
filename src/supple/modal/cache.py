"""Models kept by content: arrays in one `.npz` file, named after a hash of everything they were computed from.

The folder is `$SUPPLE_CACHE`, or the platform's cache folder, with one subfolder a kind. A file holds plain arrays
and a JSON text, never pickled objects. The text names the key and a hash of the arrays: a file that is damaged, of
another key, or whose arrays are not those that were kept counts as absent. Files are written under another name first,
so that a reader never sees half of one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from supple.algebra.compiling.compiled import cache_root
from supple.errors import InputError

Array = np.ndarray
META = "meta.json"


def content_key(*parts: Any) -> str:
    """SHA-256, as hexadecimal text, of arrays and of what JSON can hold: numbers, texts, lists, mappings, None.

    >>> content_key(np.eye(2), {"count": 8}) == content_key(np.eye(2), {"count": 8})
    True
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            if part.dtype.hasobject:
                raise InputError("an array of objects has no content to hash", where="content_key")
            digest.update(f"array {part.dtype.str} {part.shape} ".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        else:
            try:
                text = json.dumps(part, sort_keys=True, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise InputError("this has no content to hash", value=part, allowed="arrays and JSON values") from error
            digest.update(f"json {len(text)} {text} ".encode())
    return digest.hexdigest()


def cache_path(kind: str, key: str) -> Path:
    """Where arrays of a kind and a key are kept."""
    return cache_root() / kind / f"{key}.npz"


def load_cached(kind: str, key: str) -> dict[str, Array] | None:
    """The arrays kept under a key, or None where there are none that can be read."""
    try:
        with np.load(cache_path(kind, key), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(arrays.pop(META).tobytes().decode())
        return arrays if meta == _meta(kind, key, arrays) else None
    except Exception:  # what zipfile and NumPy raise depends on the damage: a dozen kinds are known
        return None


def save_cached(kind: str, key: str, arrays: Mapping[str, Array]) -> None:
    """Keep arrays under a key. A folder that cannot be written is no error: nothing is kept then."""
    path = cache_path(kind, key)
    meta = np.frombuffer(json.dumps(_meta(kind, key, arrays)).encode(), dtype=np.uint8)
    part = path.with_name(f"{path.stem}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            contents: dict[str, Any] = {META: meta, **arrays}
            np.savez(file, **contents)
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()


def _meta(kind: str, key: str, arrays: Mapping[str, Array]) -> dict[str, str]:
    """What a file says about itself."""
    content = content_key(*(part for name in sorted(arrays) for part in (name, np.asarray(arrays[name]))))
    return {"kind": kind, "key": key, "content": content}


def cached_arrays(kind: str, key: str, make: Callable[[], dict[str, Array]]) -> dict[str, Array]:
    """The arrays of a key: read where they are kept, else made and kept."""
    arrays = load_cached(kind, key)
    if arrays is None:
        arrays = make()
        save_cached(kind, key, arrays)
    return arrays
