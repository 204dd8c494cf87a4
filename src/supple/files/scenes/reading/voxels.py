"""Voxel bodies from a scene file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.bodies.voxel import Actuation, Drive, VoxelBody
from supple.errors import InputError
from supple.files.scenes.places import Place
from supple.files.scenes.schema import voxels as schema
from supple.files.scenes.section import nearest
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial

Array = np.ndarray


def build_voxel_material(section: schema.VoxelMaterial, name: str) -> VoxelMaterial:
    """The voxel material of a table."""
    numbers = {key: value for key, value in section if value is not None}
    if "colour" in numbers:
        numbers["colour"] = tuple(numbers["colour"].tolist())
    if "curve" in numbers:
        numbers["curve"] = numbers["curve"].tolist()
    return VoxelMaterial(**numbers, name=name)


def build_voxel_body(section: Any, materials: Mapping[str, VoxelMaterial], place: Place) -> VoxelBody:
    """The voxel body of a table."""
    if section.file is not None:
        from supple.files.voxcad.load import load_voxcad, voxcad_body

        file = load_voxcad(place.at(f"{place.keys}.file").named_file(section.file))
        return voxcad_body(file, **section.given("stiffness_by_rest"))
    grid = VoxelGrid(_cells(section), section.voxel_size, **section.given("origin"))
    actuation = None if section.actuation is None else [_driver(driver) for driver in section.actuation]
    more = section.given("young", "density", "transverse", "stiffness_by_rest")
    return VoxelBody(grid, _palette(section.material, materials, place), actuation=actuation, **more)


def _palette(given: Any, materials: Mapping[str, VoxelMaterial], place: Place) -> Any:
    def find(name: str) -> VoxelMaterial:
        if name not in materials:
            near = nearest(name, materials)
            fix = f"Did you mean '{near}'?" if near else f"Define it in [voxel_materials.{name}]."
            raise place.at(f"{place.keys}.material").error(f"no voxel material is called '{name}'", fix=fix)
        return materials[name]

    return find(given) if isinstance(given, str) else {number: find(name) for number, name in given.items()}


def _cells(section: schema.VoxelKeys) -> Array:
    """Material numbers of the cells."""
    if section.layers is not None:
        return np.asarray(section.layers)
    shape = (section.sphere.cells,) * 3 if section.sphere is not None else tuple(section.box.cells.tolist())  # type: ignore[union-attr]
    if min(shape) < 1 or np.prod([float(n) for n in shape]) > schema.MAX_CELLS:
        raise InputError("the number of cells is out of range", value=shape, allowed=f"1 to {schema.MAX_CELLS} in all")
    cells = np.ones(shape, dtype=np.uint8)
    if section.sphere is not None:
        across = np.arange(shape[0]) + 0.5 - shape[0] / 2
        x, y, z = np.meshgrid(across, across, across, indexing="ij", sparse=True)
        cells[x * x + y * y + z * z > shape[0] ** 2 / 4] = 0
    return cells


def _driver(section: schema.Driver) -> Actuation | Drive:
    if section.signal is not None:
        return Drive(section.signal, **section.given("gain", "phase", "period", "amplitude", "phase_shift"))
    given = section.given("phase", "gain", "rise", "phase_shift")
    return Actuation(section.amplitude, section.frequency, **given)  # type: ignore[arg-type]
