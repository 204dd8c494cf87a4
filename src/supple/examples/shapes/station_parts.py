"""Voxel parts of the space station: hollow modules, trusses, panels, dishes. Each grows along z from its foot at z = 0.

Lengths are in voxels here; `parts_kind` makes metres of them. Arrays (nx, ny, nz) say which cells are filled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.tree.domains.domain_tree import DomainInterface, DomainTemplate
from supple.errors import InputError
from supple.geometry import HexMesh, VoxelGrid
from supple.material import Material

Array = np.ndarray
VOXEL = 0.25  # [m]
AXES = {"+x": (0, 1), "-x": (0, -1), "+y": (1, 1), "-y": (1, -1), "+z": (2, 1), "-z": (2, -1)}


@dataclass(frozen=True)
class Dock:
    """Where something is docked: on the side that looks along `side`, around `at` (3,) [voxels from the foot's middle].

    half: half width of the square of the surface that belongs to it [voxels]. across: the child's x axis, as a side.
    """

    side: str
    at: tuple[float, float, float]
    half: float
    across: str


def parts_kind(name: str, filled: Array, material: Material, modes: int, docks: Mapping[str, Dock]) -> DomainTemplate:
    """A kind of domain from filled cells, held at its foot; its origin is the middle of the foot."""
    nx, ny, _ = filled.shape
    grid = VoxelGrid(filled.astype(np.uint8), VOXEL, VOXEL * np.array([-nx / 2, -ny / 2, 0.0]))
    mesh = grid.to_hexes().with_regions({})
    foot = np.flatnonzero(mesh.nodes[:, 2] < VOXEL / 4)
    interfaces = {label: _interface(mesh, dock, f"{name}, {label}") for label, dock in docks.items()}
    return DomainTemplate(name, mesh, material, modes, held=foot, interfaces=interfaces)


def _interface(mesh: HexMesh, dock: Dock, where: str) -> DomainInterface:
    """The outermost faces inside the dock's square; weights are areas [m²]."""
    axis, sign = AXES[dock.side]
    faces = mesh.boundary.faces
    corner = mesh.nodes[faces]
    others = [a for a in range(3) if a != axis]
    at, reach = VOXEL * np.array(dock.at), VOXEL * (dock.half + 0.01)
    inside = (np.abs(corner[:, :, others] - at[others]) < reach).all(axis=(1, 2))
    inside &= np.ptp(corner[:, :, axis], axis=1) < VOXEL / 4
    if not inside.any():
        raise InputError("there is nothing to dock on", where=where, value=dock.at)
    level = sign * corner[:, 0, axis]
    inside &= level > level[inside].max() - VOXEL / 4
    nodes, count = np.unique(faces[inside], return_counts=True)
    z, x = np.zeros(3), np.zeros(3)
    z[axis] = sign
    x[AXES[dock.across][0]] = AXES[dock.across][1]
    turn = np.column_stack([x, np.cross(z, x), z])
    return DomainInterface(nodes, count * VOXEL**2 / 4, rotations.from_matrix(turn))


def _centres(shape: tuple[int, int, int]) -> tuple[Array, Array, Array]:
    """Middles of the cells, from the middle of the foot [voxels]."""
    x, y, z = (np.arange(n) + 0.5 - (n / 2 if a < 2 else 0) for a, n in enumerate(shape))
    return np.meshgrid(x, y, z, indexing="ij")  # type: ignore[return-value]


def module(
    radius: int, length: int, *, neck: int = 4, neck_length: int = 3, stubs: Mapping[str, Dock] | None = None
) -> Array:
    """A hollow cylinder with a neck at both ends, and solid stubs up to the sides that docks look along."""
    side = 2 * (radius + 3)
    x, y, z = _centres((side, side, length + 2 * neck_length))
    away = np.hypot(x, y)
    body = (z > neck_length) & (z < length + neck_length)
    middle = np.abs(z - length / 2 - neck_length)
    bulge = radius - np.clip(middle - (length / 2 - 4), 0, None) * 0.8  # conical ends
    shell = body & (away < bulge) & ~((away < bulge - 1.5) & (middle < length / 2 - 1.2))
    necks = ~body & (away < neck)
    filled = shell | necks
    for dock in (stubs or {}).values():
        axis, sign = AXES[dock.side]
        p = (x, y, z)
        square = np.ones(filled.shape, dtype=bool)
        for a in range(3):
            if a != axis:
                square &= np.abs(p[a] - dock.at[a]) < dock.half
        filled |= square & (sign * p[axis] > 0) & (away > radius - 2.5)
    return filled


def truss(length: int, bay: int, section: int = 12) -> Array:
    """A square truss: four rods, frames at the ends and after every bay, and slanting rods on all sides."""
    x, y, z = _centres((section, section, length))
    half = section / 2
    out_x, out_y = np.abs(x) > half - 2, np.abs(y) > half - 2
    filled = out_x & out_y
    phase = z % bay
    near_frame = np.minimum(phase, bay - phase) < 1.6
    ends = (z < 3) | (z > length - 3)
    filled |= (near_frame | ends) & (out_x | out_y)
    slant = np.where((z // bay) % 2 == 0, phase, bay - phase) / bay * section - half
    skin_x, skin_y = np.abs(x) > half - 1, np.abs(y) > half - 1
    return filled | (skin_x & (np.abs(y - slant) < 1.3)) | (skin_y & (np.abs(x - slant) < 1.3))


def panel(length: int, width: int, *, tie: int = 12, root: int = 6) -> Array:
    """Two thin blankets beside a mast. width: of a blanket. The blankets hang on the mast by ties."""
    x, y, z = _centres((2 * width + 4, 4, length + root))
    away = np.abs(x)
    thin = (y > 0) & (y < 1)
    filled = (away < 1) & (np.abs(y) < 1)
    filled |= (z < 3) & (away < 2)
    blankets = thin & (away > 2) & (z > root)
    ties = thin & (away < 3) & (z > root) & (((z - root) % tie < 2) | (z > length + root - 2))
    return filled | blankets | ties


def radiator(length: int, width: int) -> Array:
    """A thin plate on a short mast, stiffened by ribs."""
    x, y, z = _centres((width, 4, length + 4))
    filled = (z < 5) & (np.abs(x) < 2)
    plate = (y > 0) & (y < 1) & (z > 4)
    ribs = (y > 1) & (z > 4) & ((np.abs(x) < 1) | (np.abs(x) > width / 2 - 1))
    return filled | plate | ribs


def capsule(radius: int, length: int) -> Array:
    """A solid ship with a bell at its end, and flat sides for panels."""
    side = 2 * radius
    x, y, z = _centres((side, side, length))
    away = np.hypot(x, y)
    nose, tail = np.clip(2 + 0.9 * z, 0, radius), np.clip(2.5 + 0.8 * (length - z), 0, radius)
    hull = away < np.minimum(nose, tail)
    hollow = (away < radius - 2) & (z > 6) & (z < length - 7)
    collar = (np.abs(z - length / 2) < 3) & (np.abs(y) < 3) & (away > radius - 3)
    return (hull & ~hollow) | collar


def dish(radius: int, mast: int) -> Array:
    """A bowl on a mast."""
    depth = max(3, radius // 2)
    x, y, z = _centres((2 * radius, 2 * radius, mast + depth))
    away = np.hypot(x, y)
    bowl = mast + (depth - 1.5) * (away / radius) ** 2
    filled = (np.abs(x) < 2) & (np.abs(y) < 2) & (z < mast + 1)
    return filled | ((away < radius) & (z > bowl - 0.6) & (z < bowl + 1.4))
