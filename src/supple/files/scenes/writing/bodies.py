"""Bodies as tables of a scene file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from supple.bodies.fem import FemBody
from supple.bodies.floating import FloatingBody
from supple.bodies.floating.matrices import MatrixSolid
from supple.bodies.layered import LayeredBody
from supple.bodies.particles import Particles
from supple.bodies.rigid import RigidBody
from supple.bodies.tree import DomainTree, TreeBody
from supple.bodies.voxel import VoxelBody
from supple.errors import InputError
from supple.files.scenes.kinds import registered_kinds
from supple.files.scenes.recipes import mesh_recipe, rigid_recipe
from supple.files.scenes.writing.framed import Arrays, describe_floating, describe_layered, matrix_arrays
from supple.files.scenes.writing.trees import describe_tree
from supple.files.scenes.writing.values import Table, one_or_each, plain, plain_table
from supple.files.scenes.writing.voxels import describe_voxel_body, voxel_material_table
from supple.geometry import HexMesh, SurfaceMesh, TetMesh
from supple.material import Law, Material
from supple.material.voxel import VoxelMaterial
from supple.scene import Node

AnyMesh = TetMesh | HexMesh | SurfaceMesh
INLINE_NODES = 200  # meshes up to so many nodes stand in the scene file itself


@dataclass
class BodyWriter:
    """Collects what bodies share: materials by name, meshes and trees that need files of their own."""

    path: Path
    materials: dict[str, Material] = field(default_factory=dict)
    voxel_materials: dict[str, VoxelMaterial] = field(default_factory=dict)
    meshes: dict[Path, AnyMesh | DomainTree | Arrays] = field(default_factory=dict)

    def describe(self, node: Node) -> Table:
        """The table of a node's body, its place included."""
        body = node.body
        if body is None:
            return {"name": node.name, "kind": "group"}
        if type(body) is FemBody:
            table = self._fem(node.name, body)
        elif type(body) is RigidBody:
            table = _rigid(body)
        elif type(body) is Particles:
            table = _particles(body)
        elif type(body) is VoxelBody:
            names = {number: self._voxel_material(m) for number, m in body.palette_by_number.items()}
            table = describe_voxel_body(body, names)
        elif type(body) is TreeBody:
            table = {"tree": self._file(node.name, body.model.domain_tree, "-tree").name, **describe_tree(body)}
            table |= {} if body.surface is None else {"surface": self._surface(node.name, body.surface)}
        elif type(body) is FloatingBody:
            table = self._floating(node.name, body)
        elif type(body) is LayeredBody:
            table = self._solid(node.name, body.mesh, body.model.material) | describe_layered(body)
        elif (own := registered_kinds().get(body.kind)) is not None and type(body) is own.body:
            table = plain_table(own.describe(body))
        else:
            raise InputError(
                "a body of this kind cannot be saved",
                where=f"body '{node.name}'",
                value=type(body).__name__,
                allowed="the kinds of supple, and those of register_kind",
            )
        place = node.placement
        rest = {
            "at": np.zeros(3),
            "rotation": np.array([1.0, 0, 0, 0]),
            "velocity": np.zeros(3),
            "spin": np.zeros(3),
        }
        moved = {k: plain(getattr(place, k)) for k, v in rest.items() if not np.array_equal(getattr(place, k), v)}
        seen = {} if node.colour is None else {"colour": node.colour}
        return {"name": node.name, "kind": body.kind, **table, **moved, **seen}

    def _fem(self, name: str, body: FemBody) -> Table:
        return self._solid(name, body.mesh, body.material) | {"law": Law.of(body.law).label, "mass": body.mass}

    def _solid(self, name: str, mesh: TetMesh | HexMesh, material: Material | Mapping[str, Material]) -> Table:
        """The keys `mesh` and `material`."""
        if isinstance(material, Material):
            return {"mesh": self._mesh(name, mesh), "material": self._material(material)}
        named = {region: self._material(m) for region, m in material.items()}
        return {"mesh": self._mesh(name, mesh), "material": named}

    def _floating(self, name: str, body: FloatingBody) -> Table:
        solid = body.model.solid
        if isinstance(solid, MatrixSolid):
            table: Table = {"matrices": self._file(name, matrix_arrays(solid), "-matrices.npz").name}
        else:
            table = self._solid(name, solid.mesh, solid.material)
        described, shapes = describe_floating(body)
        if shapes is not None:
            described["basis"] = self._file(name, shapes, "-shapes.npz").name
        return table | described

    def _material(self, material: Material) -> str:
        """The name under which a material stands in the file; equal materials share one."""
        name, k = material.name, 2
        while name in self.materials and not _same_numbers(self.materials[name], material):
            name, k = f"{material.name}-{k}", k + 1
        self.materials.setdefault(name, material)
        return name

    def _voxel_material(self, material: VoxelMaterial) -> str:
        """As `_material`, among the materials of voxels."""
        name, k = material.name, 2
        while name in self.voxel_materials and replace(self.voxel_materials[name], name=material.name) != material:
            name, k = f"{material.name}-{k}", k + 1
        self.voxel_materials.setdefault(name, material)
        return name

    def _mesh(self, name: str, mesh: TetMesh | HexMesh) -> Table:
        recipe = mesh_recipe(mesh)
        if recipe is None and len(mesh.nodes) > INLINE_NODES:
            return {"file": self._file(name, mesh).name}
        if recipe is None:
            key = "tets" if isinstance(mesh, TetMesh) else "hexes"
            recipe = {"nodes": plain(mesh.nodes), key: plain(mesh.elements)}
        regions = {
            region: {k: plain(v) for k in ("nodes", "elements", "faces") if (v := getattr(r, k)).size}
            for region, r in mesh.regions.items()
        }
        return recipe | ({"regions": regions} if regions else {})

    def _surface(self, name: str, surface: SurfaceMesh) -> Table:
        if len(surface.nodes) > INLINE_NODES:
            return {"file": self._file(name, surface, "-surface.vtu").name}
        return {"nodes": plain(surface.nodes), "triangles": plain(surface.triangles)}

    def _file(self, name: str, mesh: AnyMesh | DomainTree | Arrays, suffix: str = ".vtu") -> Path:
        stem, k = f"{self.path.stem}-{re.sub(r'[^A-Za-z0-9_-]', '_', name)}", 2
        file = self.path.with_name(f"{stem}{suffix}")
        while file in self.meshes:
            file, k = self.path.with_name(f"{stem}-{k}{suffix}"), k + 1
        self.meshes[file] = mesh
        return file

    def material_tables(self) -> Table:
        """All materials, with what differs from the defaults."""
        return {
            name: {k: float(getattr(m, k)) for k in ("young", "poisson", "density")}
            | {k: float(v) for k in ("mass_damping", "stiffness_damping") if (v := getattr(m, k))}
            | ({} if m.colour is None else {"colour": m.colour})
            for name, m in self.materials.items()
        }

    def voxel_material_tables(self) -> Table:
        """All materials of voxels."""
        return {name: voxel_material_table(material) for name, material in self.voxel_materials.items()}


def _same_numbers(a: Material, b: Material) -> bool:
    names = ("young", "poisson", "density", "mass_damping", "stiffness_damping", "colour")
    return all(getattr(a, name) == getattr(b, name) for name in names)


def _rigid(body: RigidBody) -> Table:
    recipe = rigid_recipe(body)
    if recipe is not None and "density" in recipe:
        return recipe
    inertia = np.asarray(body.inertia)
    diagonal = np.array_equal(inertia, np.diag(np.diag(inertia)))
    table = {"mass": float(body.mass), "inertia": plain(np.diag(inertia) if diagonal else inertia)}
    if recipe is None and body.surface is not None:
        recipe = {"surface": {"nodes": plain(body.surface.nodes), "triangles": plain(body.surface.triangles)}}
    return (recipe or {}) | table


def _particles(body: Particles) -> Table:
    table: Table = {"positions": plain(body.positions), "mass": one_or_each(body.mass)}
    if np.any(body.radius):
        table["radius"] = one_or_each(body.radius)
    if np.size(body.springs):
        force = body.spring_force
        table |= {"springs": plain(body.springs), "stiffness": one_or_each(force.stiffness)}
        if force.damping.any():
            table["damping"] = one_or_each(force.damping)
        if body.rest_length is not None:
            table["rest_length"] = one_or_each(force.rest_length)
    return table
