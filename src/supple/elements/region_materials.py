"""Materials of the elements of a mesh: one for all, or one for each region."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from supple.errors import InputError
from supple.geometry import HexMesh, TetMesh
from supple.material import Material
from supple.material.colour import material_colours

Array = np.ndarray


class RegionMaterials:
    """Shared by what has a mesh and a material, or a mapping from region to material."""

    mesh: TetMesh | HexMesh
    material: Material | Mapping[str, Material]

    @cached_property
    def materials(self) -> tuple[Material, ...]:
        """The materials, each once."""
        return (self.material,) if isinstance(self.material, Material) else tuple(self.material.values())

    @cached_property
    def element_material(self) -> Array:
        """Index into `materials` of each element, (element_count,)."""
        count = len(self.mesh.elements)
        if isinstance(self.material, Material):
            return np.zeros(count, dtype=int)
        if not isinstance(self.material, Mapping) or not all(isinstance(m, Material) for m in self.material.values()):
            raise InputError("the material is neither a Material nor a mapping from region to Material")
        out = np.full(count, -1)
        for k, region in enumerate(self.material):
            out[self.mesh.element_region(region)] = k
        bare = np.flatnonzero(out < 0)
        if bare.size:
            raise InputError(f"{bare.size} elements have no material", where=f"element {bare[0]}")
        return out

    def boundary_colours(self) -> Array | None:
        """Of the triangles of the boundary, (k, 3) red, green, blue from 0 to 1; None: as pictures choose."""
        colours = material_colours(self.materials)
        return None if colours is None else colours[self.element_material[self.mesh.boundary.triangle_elements]]

    def element_values(self, name: str) -> Array:
        """A material number of each element, such as "density" or "mu", (element_count,)."""
        return np.array([getattr(m, name) for m in self.materials])[self.element_material]
