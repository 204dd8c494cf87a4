"""The lattice of a voxel grid: voxels with mass and inertia, and links between face neighbours, as frozen arrays.

    E_c = 2 E1 E2 / (E1 + E2),  G_c = 2 G1 G2 / (G1 + G2)                               [HL12, eqs. 1, 2]
    a1 = E_c l,  b1 = E_c l,  a2 = G_c l³/6,  b3 = E_c l³/6                             [HL12, eqs. 4, 5, 8-12]
    m = rho l³,  I = m l²/6                                                             a cube
    c_u = zeta sqrt(m a1),  c_t = zeta sqrt(2 I b3)                                     of a link  [HL12, eqs. 34, 35]
    c = 2 zeta sqrt(m E l),  c_r = 2 zeta sqrt(I E l³)                                  of a voxel to the world

The damping of a link acts on the whole relative velocity, which is twice the velocity relative to the mean that the
source's factor 2 multiplies. Between unlike voxels m and I are the geometric and zeta the arithmetic mean, so that
forces stay equal and opposite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.errors import InputError
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial

Array = np.ndarray
Palette = VoxelMaterial | Sequence[VoxelMaterial] | Mapping[int, VoxelMaterial]


def palette_of(grid: VoxelGrid, palette: Palette) -> dict[int, VoxelMaterial]:
    """The material of each number in a grid. A sequence counts from 1; one material alone serves all numbers."""
    numbers = list(grid.material_counts)
    if isinstance(palette, VoxelMaterial):
        return dict.fromkeys(numbers, palette)
    given = dict(palette) if isinstance(palette, Mapping) else dict(enumerate(palette, start=1))
    missing = [n for n in numbers if n not in given]
    if missing:
        raise InputError(
            "the palette lacks a material of the grid",
            where="voxel body",
            value=missing[0],
            allowed=", ".join(str(n) for n in given) or "an empty palette has none",
        )
    for n in numbers:
        if not isinstance(given[n], VoxelMaterial):
            raise InputError(f"material {n} is not a VoxelMaterial", where="voxel body", value=type(given[n]).__name__)
    return {n: given[n] for n in numbers}


@dataclass(frozen=True, eq=False)
class VoxelModel:
    """A lattice. Voxels are in the order of `grid.voxels`.

    mass [kg], inertia [kg m²], ground_damping (n, 2) [N s/m, N m s]: of the voxels.
    link_voxels (m, 2), link_axis (m,) 0, 1, 2; link_stiffness (m, 4) a1, b1 [N/m], a2, b3/2 [N m]; link_damping (m, 2)
    c_u [N s/m], c_t [N m s].
    """

    grid: VoxelGrid
    palette: dict[int, VoxelMaterial]
    mass: Array
    inertia: Array
    ground_damping: Array
    link_voxels: Array
    link_axis: Array
    link_stiffness: Array
    link_damping: Array

    @classmethod
    def make(cls, grid: VoxelGrid, palette: Palette) -> VoxelModel:
        """Find the links and compute their constants."""
        materials = palette_of(grid, palette)
        l = grid.voxel_size

        def values(name: str) -> Array:
            return material_values(grid, materials, name)

        young, shear, zeta = values("young"), values("shear_modulus"), values("bond_damping")
        mass = values("density") * l**3
        inertia = mass * l**2 / 6
        ground = 2 * values("ground_damping")
        link_voxels, link_axis = face_neighbours(grid)
        one, two = link_voxels.T
        E = 2 * young[one] * young[two] / (young[one] + young[two])
        G = 2 * shear[one] * shear[two] / (shear[one] + shear[two])
        z = (zeta[one] + zeta[two]) / 2
        damping = np.stack(
            [
                z * np.sqrt(np.sqrt(mass[one] * mass[two]) * E * l),
                z * np.sqrt(np.sqrt(inertia[one] * inertia[two]) * E * l**3 / 3),
            ],
            axis=1,
        )
        ground_damping = np.stack(
            [ground * np.sqrt(mass * young * l), ground * np.sqrt(inertia * young * l**3)], axis=1
        )
        model = cls(
            grid=grid,
            palette=materials,
            mass=mass,
            inertia=inertia,
            ground_damping=ground_damping,
            link_voxels=link_voxels,
            link_axis=link_axis,
            link_stiffness=np.stack([E * l, E * l, G * l**3 / 6, E * l**3 / 12], axis=1),
            link_damping=damping,
        )
        for array in (mass, inertia, ground_damping, link_voxels, link_axis, model.link_stiffness, damping):
            array.setflags(write=False)
        return model

    def values(self, name: str) -> Array:
        """A number of each voxel's material, such as "expansion", (n,)."""
        return material_values(self.grid, self.palette, name)

    @property
    def voxel_count(self) -> int:
        """How many voxels."""
        return len(self.mass)

    @property
    def link_count(self) -> int:
        """How many links."""
        return len(self.link_axis)

    @cached_property
    def centres(self) -> Array:
        """Rest positions of the voxels [m], (n, 3)."""
        return self.grid.voxel_centres

    @cached_property
    def rest_frames(self) -> Array:
        """Rest coordinates (n, 7): centres, and no rotation."""
        x = np.zeros((self.voxel_count, 7))
        x[:, :3] = self.centres
        x[:, 3] = 1.0
        return x

    @property
    def link_rest(self) -> Array:
        """Rest lengths [m], (m,)."""
        return np.full(self.link_count, self.grid.voxel_size)


def material_values(grid: VoxelGrid, materials: dict[int, VoxelMaterial], name: str) -> Array:
    """A number of each voxel's material, (n,)."""
    which = np.searchsorted(np.array(list(materials)), grid.materials[tuple(grid.voxels.T)])
    return np.array([getattr(m, name) for m in materials.values()], dtype=float)[which]


def face_neighbours(grid: VoxelGrid) -> tuple[Array, Array]:
    """Pairs of voxels that share a face, lower one first, (m, 2), and their axes, (m,); along x, then y, then z."""
    number = np.full(grid.shape, -1, dtype=np.int64)
    number[tuple(grid.voxels.T)] = np.arange(grid.voxel_count)
    pairs, axes = [], []
    for axis in range(3):
        low = np.take(number, np.arange(grid.shape[axis] - 1), axis=axis).ravel()
        high = np.take(number, np.arange(1, grid.shape[axis]), axis=axis).ravel()
        both = (low >= 0) & (high >= 0)
        pairs.append(np.stack([low[both], high[both]], axis=1))
        axes.append(np.full(int(both.sum()), axis))
    return np.concatenate(pairs), np.concatenate(axes)
