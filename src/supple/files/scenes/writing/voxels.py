"""Voxel bodies as tables of a scene file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from supple.bodies.voxel import Actuation, Commands, Drive, VoxelBody
from supple.errors import InputError
from supple.files.scenes.writing.values import Table, in_time, one_or_each, plain
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial


def describe_voxel_body(body: VoxelBody, names: Mapping[int, str]) -> Table:
    """The table of a body. names: of the material of each number in its grid."""
    table = _grid(body.grid)
    same = isinstance(body.palette, VoxelMaterial)
    table["material"] = next(iter(names.values())) if same else {str(n): name for n, name in names.items()}
    if body.actuation is not None:
        drivers = [body.actuation] if isinstance(body.actuation, Actuation | Drive | Commands) else body.actuation
        table["actuation"] = [_driver(driver) for driver in drivers]
    for name in ("young", "density"):
        if getattr(body, name) is not None:
            table[name] = plain(np.asarray(getattr(body, name), dtype=float))
    return table | {name: True for name in ("transverse", "stiffness_by_rest") if getattr(body, name)}


def _grid(grid: VoxelGrid) -> Table:
    cells = grid.materials
    table: Table
    if (cells == 1).all():
        table = {"box": {"cells": list(grid.shape)}}
    elif cells.max() <= 9:
        digits = (cells.astype(np.uint8) + np.uint8(ord("0"))).transpose(2, 1, 0)
        table = {"layers": [[np.ascontiguousarray(row).tobytes().decode("ascii") for row in layer] for layer in digits]}
    else:
        table = {"layers": plain(cells.transpose(2, 1, 0))}
    table["voxel_size"] = grid.voxel_size
    return table | ({"origin": plain(grid.origin)} if np.any(grid.origin) else {})


def _driver(driver: Any) -> Table:
    if isinstance(driver, Actuation):
        table: Table = {"amplitude": float(driver.amplitude), "frequency": float(driver.frequency)}
        table |= {"rise": float(driver.rise)} if driver.rise else {}
    elif isinstance(driver, Drive):
        table = {"signal": in_time(driver.signal, "a control signal")}
        if driver.period is not None:
            table["period"] = float(driver.period)
        table |= {"amplitude": float(driver.amplitude)} if driver.amplitude != 1.0 else {}
    else:
        raise InputError(
            "commands come from a Python function, which a file cannot hold",
            fix="Use Actuation or Drive, or keep the scene as a .py file.",
        )
    table |= {"phase_shift": float(driver.phase_shift)} if driver.phase_shift else {}
    return table | _per_voxel("phase", driver.phase, 0.0) | _per_voxel("gain", driver.gain, 1.0)


def _per_voxel(name: str, given: Any, default: float) -> Table:
    if isinstance(given, Mapping):
        return {name: {str(number): float(value) for number, value in given.items()}}
    value = one_or_each(given)
    return {} if value == default else {name: value}


def voxel_material_table(material: VoxelMaterial) -> Table:
    """A voxel material, with what differs from the defaults."""
    table: Table = {}
    for f in fields(material):
        value = getattr(material, f.name)
        if f.name == "name" or (f.default is not MISSING and value == f.default):
            continue
        table[f.name] = value if f.name == "rigid" else plain(value) if f.name in ("colour", "curve") else float(value)
    return table
