"""Plain values of a scene file: arrays as lists, functions of time as tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.voxel import Samples
from supple.errors import InputError
from supple.scene.acting.time_functions import RampInTime, SineInTime, TableInTime

Table = dict[str, Any]


def plain(value: Any) -> Any:
    """Arrays as lists and numpy's numbers as Python's, which TOML and JSON hold."""
    return np.asarray(value).tolist()


def plain_table(table: Table) -> Table:
    """The same of a table's values, tables within included."""
    return {key: plain_table(value) if isinstance(value, dict) else plain(value) for key, value in table.items()}


def one_or_each(value: Any) -> Any:
    """One number where all are equal, else the list."""
    array = np.asarray(value, dtype=float)
    return float(array.flat[0]) if array.size and (array == array.flat[0]).all() else array.tolist()


def in_time(value: Any, what: str) -> Any:
    """A constant, or a function of time that is data."""
    if isinstance(value, SineInTime):
        table: Table = {"amplitude": plain(value.amplitude), "frequency": float(value.frequency)}
        table |= {"phase": float(value.phase)} if value.phase else {}
        return {"sine": table | ({"offset": plain(value.offset)} if np.any(value.offset) else {})}
    if isinstance(value, TableInTime):
        return {"table": {"times": plain(value.times), "values": plain(value.values)}}
    if isinstance(value, RampInTime):
        return {"ramp": {"end": plain(value.end), "duration": float(value.duration)}}
    if isinstance(value, Samples):
        samples = {"values": plain(value.values), "rate": float(value.rate)}
        return {"samples": samples | ({"repeats": True} if value.repeats else {})}
    if callable(value):
        raise InputError(
            f"{what} is a Python function, which a file cannot hold",
            fix="Use SineInTime or TableInTime of supple.scene.acting.time_functions.",
        )
    return plain(np.asarray(value, dtype=float))
