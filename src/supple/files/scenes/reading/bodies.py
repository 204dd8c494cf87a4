"""Bodies from a scene file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.bodies.body_protocol import Body
from supple.bodies.fem import FemBody
from supple.bodies.particles import Particles
from supple.bodies.rigid import RigidBody
from supple.errors import InputError
from supple.files.scenes.kinds import registered_kinds
from supple.files.scenes.places import Place
from supple.files.scenes.reading.framed import build_floating, build_layered
from supple.files.scenes.reading.trees import build_tree
from supple.files.scenes.reading.voxels import build_voxel_body
from supple.files.scenes.schema import bodies as schema_bodies
from supple.files.scenes.schema import shapes as schema_shapes
from supple.files.scenes.section import nearest
from supple.geometry import HexMesh, Region, SurfaceMesh, TetMesh, load_mesh
from supple.geometry.generators import shapes as generators
from supple.material import Material
from supple.material.voxel import VoxelMaterial

MAX_CELLS = 2_000_000  # of a generated mesh: a small file must not fill the memory


def build_body(
    section: Any, materials: Mapping[str, Material], voxel_materials: Mapping[str, VoxelMaterial], place: Place
) -> Body:
    """The body of a table."""
    if isinstance(section, schema_bodies.VoxelBody):
        return build_voxel_body(section, voxel_materials, place)
    if isinstance(section, schema_bodies.FemBody):
        material = _material(section.material, materials, place)
        mesh = build_mesh(section.mesh, place.at(f"{place.keys}.mesh"))
        return FemBody(mesh, material, **section.given("law", "mass"))
    if isinstance(section, schema_bodies.TreeBody):
        solid = None if section.mesh is None else build_mesh(section.mesh, place.at(f"{place.keys}.mesh"))
        shown = build_surface(section.surface, place)
        return build_tree(section, solid, shown, lambda given: _material(given, materials, place), place)
    if isinstance(section, schema_bodies.FloatingBody | schema_bodies.LayeredBody):
        solid = None if section.mesh is None else build_mesh(section.mesh, place.at(f"{place.keys}.mesh"))
        stuff = None if section.material is None else _material(section.material, materials, place)
        if isinstance(section, schema_bodies.FloatingBody):
            return build_floating(section, solid, stuff, place)
        return build_layered(section, solid, build_surface(section.surface, place), stuff)
    if isinstance(section, schema_bodies.RigidBody):
        return _rigid(section, place)
    if isinstance(section, schema_bodies.OwnBody):
        return registered_kinds()[section.kind].build(section.own)
    extra = section.given("radius", "springs", "stiffness", "damping", "rest_length")
    return Particles(section.positions, section.mass, **extra)


def _material(given: Any, materials: Mapping[str, Material], place: Place) -> Any:
    def find(name: str, keys: str) -> Material:
        if name not in materials:
            near = nearest(name, materials)
            fix = f"Did you mean '{near}'?" if near else f"Define it in [materials.{name}]."
            raise place.at(keys).error(f"no material is called '{name}'", fix=fix)
        return materials[name]

    keys = f"{place.keys}.material"
    if isinstance(given, str):
        return find(given, keys)
    return {region: find(name, f"{keys}.{region}") for region, name in given.items()}


def build_mesh(section: schema_shapes.Mesh, place: Place) -> TetMesh | HexMesh:
    """The solid mesh of a table."""
    with place.guarded():
        mesh = _mesh(section, place)
        if section.regions is None:
            return mesh
        own = {name: Region(**region.given("nodes", "elements", "faces")) for name, region in section.regions.items()}
        return mesh.with_regions({**mesh.regions, **own})


def _mesh(section: schema_shapes.Mesh, place: Place) -> TetMesh | HexMesh:
    if section.file is not None:
        mesh = load_mesh(place.named_file(section.file))
        if isinstance(mesh, SurfaceMesh):
            raise InputError(
                "the file holds a surface, not a solid",
                where=section.file,
                fix="Fill it with supple.geometry.generators.tetrahedralize and save the result.",
            )
        return mesh
    if section.nodes is not None:
        if section.tets is not None:
            return TetMesh(section.nodes, section.tets)
        assert section.hexes is not None
        return HexMesh(section.nodes, section.hexes)
    tets = section.elements != "hex"
    if (box := section.box) is not None:
        cells = _cells(box.cells, 3)
        return (generators.box_tets if tets else generators.box_hexes)(box.size, cells)
    if (cylinder := section.cylinder) is not None:
        make = generators.cylinder_tets if tets else generators.cylinder_hexes
        return make(cylinder.radius, cylinder.height, _cells(cylinder.cells, 2))
    assert section.sphere is not None
    cells = _cells(np.array([section.sphere.cells]), 1)
    return (generators.sphere_tets if tets else generators.sphere_hexes)(section.sphere.radius, cells[0])


def _cells(given: Any, count: int) -> Any:
    cells = tuple(int(c) for c in given)
    if len(cells) != count:
        raise InputError(f"cells are not {count} whole numbers", value=cells)
    along = {3: cells, 2: (2 * cells[0], 2 * cells[0], cells[-1]), 1: (2 * cells[0],) * 3}[count]
    if np.prod([float(c) for c in along]) > MAX_CELLS:
        raise InputError(
            "there are too many cells for a scene file",
            value=cells,
            allowed=f"{MAX_CELLS} in all",
            fix="Save the mesh in a file of its own.",
        )
    return cells


def _rigid(section: schema_bodies.RigidBody, place: Place) -> RigidBody:
    density = 1.0 if section.density is None else section.density
    shaped = None
    if section.box is not None:
        shaped = RigidBody.box(section.box.size, density=density)
    elif section.sphere is not None:
        shaped = RigidBody.sphere(section.sphere.radius, density=density)
    elif section.cylinder is not None:
        shaped = RigidBody.cylinder(section.cylinder.radius, section.cylinder.height, density=density)
    if section.mass is None:
        assert shaped is not None
        return shaped
    assert section.inertia is not None
    surface = shaped.surface if shaped is not None else build_surface(section.surface, place)
    convex = None if shaped is None else shaped.convex
    return RigidBody(section.mass, section.inertia, surface=surface, convex=convex)


def build_surface(section: schema_shapes.Surface | None, place: Place) -> SurfaceMesh | None:
    """The surface of a table."""
    if section is None:
        return None
    if section.file is None:
        assert section.nodes is not None
        assert section.triangles is not None
        return SurfaceMesh(section.nodes, section.triangles)
    mesh = load_mesh(place.at(f"{place.keys}.surface").named_file(section.file))
    return mesh if isinstance(mesh, SurfaceMesh) else mesh.boundary.surface
