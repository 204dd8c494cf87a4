"""What is checked before a value of a record is used: a record may be damaged, or made by a stranger to do harm.

Groups and datasets must lie in the file itself: links to other files, external storage and virtual datasets would read
whatever file they name. A dataset of HDF5 may claim any number of rows that nobody wrote; those that are stored are
counted here, so that memory is taken for these alone.

All functions raise ValueError with the reason; who opens the file says which one it is.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

Group = Any  # h5py.Group; h5py is loaded where a record is opened
Dataset = Any
MAX_DEFLATED = 1032  # bytes that one byte of a deflate stream may stand for
PLAIN_KINDS = "biufS"


def check_group(parent: Group, name: str) -> Group:
    """A group of another one."""
    import h5py

    found = _lying_in(parent, name)
    if not isinstance(found, h5py.Group):
        raise ValueError(f"'{name}' is not a group")
    return found


def check_dataset(parent: Group, name: str, kind: str | None = None, tail: tuple[int, ...] | None = None) -> Dataset:
    """A dataset of plain values in the file itself. kind: its NumPy type; tail: its shape after the first axis."""
    import h5py

    found = _lying_in(parent, name)
    if not isinstance(found, h5py.Dataset) or found.dtype.kind not in PLAIN_KINDS or found.shape is None:
        raise ValueError(f"'{name}' is not an array of plain values")
    if found.external or found.is_virtual:
        raise ValueError(f"'{name}' is kept in another file, which is not read")
    if kind is not None and found.dtype != np.dtype(kind):
        raise ValueError(f"'{name}' holds {found.dtype} instead of {np.dtype(kind)}")
    if tail is not None and (found.ndim != 1 + len(tail) or found.shape[1:] != tail):
        raise ValueError(f"'{name}' has the shape {found.shape}")
    return found


def read_all(dataset: Dataset) -> np.ndarray:
    """All values of a dataset; refuses one that claims more than is stored."""
    if dataset.nbytes > _stored_bytes(dataset):
        raise ValueError(f"'{_own_name(dataset)}' claims {dataset.size} values, more than the file holds")
    return np.asarray(dataset[()])


def stored_rows(dataset: Dataset) -> int:
    """How many rows of a dataset are in the file, at most."""
    row = dataset.dtype.itemsize * math.prod(dataset.shape[1:])
    return _stored_bytes(dataset) // max(row, 1)


def whole_number(value: Any, what: str, *, least: int = 0) -> int:
    """A whole number out of a file."""
    array = np.asarray(value)
    if array.shape != () or array.dtype.kind not in "iu" or array < least:
        raise ValueError(f"{what} is not a whole number >= {least}: {_short(value)}")
    return int(array)


def real_number(value: Any, what: str, *, finite: bool = True) -> float:
    """A number out of a file, not NaN."""
    array = np.asarray(value)
    if array.shape != () or array.dtype.kind not in "iuf" or np.isnan(array) or (finite and np.isinf(array)):
        raise ValueError(f"{what} is not a {'finite ' if finite else ''}number: {_short(value)}")
    return float(array)


def plain_json(value: Any, what: str) -> Any:
    """The value of a JSON text out of a file."""
    if not isinstance(value, str):
        raise ValueError(f"{what} is not a text: {_short(value)}")
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} is not JSON: {_short(value)}") from error


def _lying_in(parent: Group, name: str) -> Any:
    import h5py

    if name not in parent:
        raise ValueError(f"'{name}' is missing")
    if not isinstance(parent.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"'{name}' is a link, which is not followed")
    return parent[name]


def _stored_bytes(dataset: Dataset) -> int:
    stored = min(dataset.id.get_storage_size(), dataset.file.id.get_filesize())
    return int(stored) * (MAX_DEFLATED if dataset.id.get_create_plist().get_nfilters() else 1)


def _own_name(dataset: Dataset) -> str:
    return str(dataset.name).rsplit("/", 1)[-1]


def _short(value: Any) -> str:
    return " ".join(repr(value).split())[:60]
