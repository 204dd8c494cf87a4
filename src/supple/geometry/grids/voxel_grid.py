"""Voxel grids: a material number in every cell of a cubic lattice, 0 where there is none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import InputError, is_finite, is_number
from supple.geometry.generators.structured import cell_hexes, kuhn_tets, lattice
from supple.geometry.meshes.mesh import HexMesh, SurfaceMesh, TetMesh
from supple.geometry.meshes.placement import as_vector
from supple.geometry.meshes.region import FloatArray, IntArray, Region


@dataclass(frozen=True, eq=False, repr=False)
class VoxelGrid:
    """A cubic lattice of cells, each empty or of a material.

    materials: whole numbers, (nx, ny, nz), 0 for empty. voxel_size: edge [m]. origin: lowest corner [m].
    Materials up to 255 are kept in one byte, larger ones in four. Voxel (i, j, k) spans
    origin + voxel_size · (i, j, k) to origin + voxel_size · (i + 1, j + 1, k + 1).
    """

    materials: NDArray[Any]
    voxel_size: float
    origin: FloatArray = (0.0, 0.0, 0.0)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        try:
            given = np.asarray(self.materials)
        except ValueError:  # rows of different lengths
            raise InputError("the materials are not whole numbers (nx, ny, nz)", value=self.materials) from None
        if given.ndim != 3 or given.size == 0 or given.dtype.kind not in "iub":
            value = f"{given.dtype} {given.shape}"
            raise InputError("the materials are not whole numbers (nx, ny, nz)", value=value)
        if given.min() < 0 or given.max() > np.iinfo(np.int32).max:
            raise InputError("a material number is out of range", value=int(given.min()), allowed="0 to 2147483647")
        if not given.any():
            raise InputError("the grid holds no voxel", fix="Give at least one cell a material above zero.")
        if not (is_number(self.voxel_size) and is_finite(self.voxel_size) and self.voxel_size > 0):
            raise InputError("the voxel size is not positive", value=self.voxel_size, allowed="a length [m]")
        materials = np.array(given, dtype=np.uint8 if given.max() < 256 else np.int32, order="C")
        origin = as_vector(self.origin, "origin").copy()
        for array in (materials, origin):
            array.setflags(write=False)
        object.__setattr__(self, "materials", materials)
        object.__setattr__(self, "voxel_size", float(self.voxel_size))
        object.__setattr__(self, "origin", origin)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Cells along x, y, z."""
        nx, ny, nz = self.materials.shape
        return nx, ny, nz

    @cached_property
    def voxels(self) -> IntArray:
        """Integer coordinates of the filled cells, (voxel_count, 3), z fastest."""
        return np.argwhere(self.materials).astype(np.int64)

    @property
    def voxel_count(self) -> int:
        """How many cells are filled."""
        return len(self.voxels)

    @cached_property
    def material_counts(self) -> dict[int, int]:
        """How many voxels there are of each material, without the empty ones."""
        number, count = np.unique(self.materials[self.materials > 0], return_counts=True)
        return {int(n): int(c) for n, c in zip(number, count)}

    @property
    def voxel_centres(self) -> FloatArray:
        """Centres of the filled cells [m], (voxel_count, 3)."""
        return self.origin + self.voxel_size * (self.voxels + 0.5)

    @property
    def volume(self) -> float:
        """Volume of the filled cells [m³]."""
        return self.voxel_count * self.voxel_size**3

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of materials, size and origin, as hexadecimal text."""
        digest = hashlib.sha256(f"voxels {self.shape} {self.materials.dtype} {self.voxel_size!r}".encode())
        digest.update(self.origin.tobytes())
        digest.update(self.materials.tobytes())
        return digest.hexdigest()

    def to_hexes(self) -> HexMesh:
        """One hex a voxel, in the order of `voxels`; a region `material_N` of elements for each material."""
        regions = {name: Region(elements=found) for name, found in self._voxels_by_material().items()}
        return HexMesh(self._corners, cell_hexes(self.voxels, self.shape), regions, isolated="drop")

    def to_tets(self) -> TetMesh:
        """Six tets a voxel, conforming; a region `material_N` of elements for each material."""
        regions = {
            name: Region(elements=(6 * found[:, None] + np.arange(6)).ravel())
            for name, found in self._voxels_by_material().items()
        }
        return TetMesh(self._corners, kuhn_tets(cell_hexes(self.voxels, self.shape)), regions, isolated="drop")

    def surface(self) -> SurfaceMesh:
        """The faces between filled and empty cells, as outward triangles."""
        return self.to_hexes().boundary.surface

    @property
    def _corners(self) -> FloatArray:
        x, y, z = (o + self.voxel_size * np.arange(n + 1) for o, n in zip(self.origin, self.shape))
        return lattice((x, y, z))

    def _voxels_by_material(self) -> dict[str, IntArray]:
        material = self.materials[self.materials > 0]
        return {f"material_{n}": np.flatnonzero(material == n) for n in self.material_counts}

    def __repr__(self) -> str:
        return f"VoxelGrid({self.shape}, {self.voxel_count} voxels of {self.voxel_size:g} m)"
