"""Voxel bodies from a scene file, and what they meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from supple.bodies.voxel import Actuation, Box, Collision, Drive, Fluid, HeightField, Plane, Sphere, VoxelBody
from supple.errors import InputError
from supple.files.scenes.places import Place
from supple.files.scenes.schema import voxels as schema
from supple.files.scenes.section import nearest
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.scene import Scene
from supple.solvers import LatticeSolver

Array = np.ndarray
UNIT_TOLERANCE = 1e-15  # a direction this near to unit length is taken as written, so that a saved one comes back


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

        return voxcad_body(load_voxcad(place.at(f"{place.keys}.file").named_file(section.file)))
    grid = VoxelGrid(_cells(section), section.voxel_size, **section.given("origin"))
    actuation = None if section.actuation is None else [_driver(driver) for driver in section.actuation]
    more = section.given("young", "density", "transverse")
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
        return Drive(section.signal, **section.given("gain", "phase", "period"))
    given = section.given("phase", "gain", "rise")
    return Actuation(section.amplitude, section.frequency, **given)  # type: ignore[arg-type]


def build_obstacle(section: Any) -> Any:
    """The obstacle of a table."""
    if isinstance(section, schema.Floor):
        return Plane(offset=section.height or 0.0)
    if isinstance(section, schema.Plane):
        plane = Plane(section.normal, **section.given("offset"))
        return _as_written(plane, "normal", section.normal)
    if isinstance(section, schema.Sphere):
        return Sphere(tuple(section.centre.tolist()), section.radius)
    if isinstance(section, schema.Box):
        block = Box(section.centre, section.edges, section.rotation)
        given = section.rotation
        return block if given is None or given.shape != (4,) else _as_written(block, "rotation", given)
    return HeightField(section.heights, **section.given("origin", "spacing"))


def _as_written(thing: Any, name: str, given: Array) -> Any:
    if abs(np.linalg.norm(given) - 1) <= UNIT_TOLERANCE:
        object.__setattr__(thing, name, given)
    return thing


def surround(scene: Scene, document: Any, place: Place) -> None:
    """Give the scene's stride its obstacles, collisions and fluid; a scene without a solver gets a stride."""
    given = [key for key in ("obstacles", "collision", "fluid") if getattr(document, key)]
    if not given:
        return
    with place.at(given[0]).guarded():
        if not scene.nodes or not all(node.is_lattice for node in scene.nodes):
            raise InputError(
                f"{given[0]} belongs to scenes of voxel bodies alone", fix="Leave it out, or the other bodies."
            )
        solver = scene.solver if scene.solver is not None else LatticeSolver()
        if not isinstance(solver, LatticeSolver):
            raise InputError(
                f"{given[0]} needs the solver lattice_solver", fix='Give [solver] kind = "lattice_solver".'
            )
    more: dict[str, Any] = {}
    obstacles = []
    for k, section in enumerate(document.obstacles):
        with place.at(f"obstacles[{k}]").guarded():
            obstacles.append(build_obstacle(section))
    for key, kind in (("collision", Collision), ("fluid", Fluid)):
        section = getattr(document, key)
        if section is not None:
            with place.at(key).guarded():
                more[key] = kind(**{name: value for name, value in section if value is not None})
    scene.solver = replace(solver, planes=tuple(obstacles), **more)
