"""A closed surface filled with voxels: a voxel is filled where its centre lies inside.

A centre is inside where the surface winds around it (`rule="winding"`: overlapping parts are united, shells
turned inward are cavities) or where a ray from below has crossed it an odd number of times (`rule="parity"`:
orientation does not matter, overlaps become holes).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from supple.errors import InputError, check_instance, check_number, is_finite, is_number
from supple.geometry.grids.voxel_grid import VoxelGrid
from supple.geometry.grids.voxelize_kernels import count_crossings, fill_columns
from supple.geometry.meshes.mesh import SurfaceMesh
from supple.geometry.meshes.mesh_checks import check_choice
from supple.geometry.surfaces.surface_edges import check_closed


def voxelize(
    surface: SurfaceMesh,
    voxel_size: float,
    *,
    rule: Literal["winding", "parity"] = "winding",
    material: int = 1,
    max_cells: int = 200_000_000,
) -> VoxelGrid:
    """Fill a closed surface with voxels of edge `voxel_size` [m], in a grid centred on its bounding box.

    material: the number given to filled cells. max_cells: refuse grids of more cells (each takes 5 bytes).
    """
    check_choice("rule", rule, ("winding", "parity"))
    check_instance(surface, SurfaceMesh, "a surface", where="voxelize")
    if not (is_number(voxel_size) and is_finite(voxel_size) and voxel_size > 0):
        raise InputError("the voxel size is not positive", value=voxel_size, allowed="a length [m]")
    check_number(material, name="material", where="voxelize", least=1, most=np.iinfo(np.int32).max, whole=True)
    check_number(max_cells, name="max_cells", where="voxelize", least=1, whole=True)
    check_closed(surface.edges, "voxelize", "Close its holes, or weld doubled nodes with surface.welded().")
    if rule == "winding" and not surface.edges.is_oriented:
        raise InputError(
            f"the triangles disagree about the outside along {surface.edges.torn} edges",
            fix='Orient them alike, or pass rule="parity".',
        )
    extent = surface.bounds[1] - surface.bounds[0]
    cells = np.maximum(np.ceil(extent / voxel_size - 1e-9), 1.0)
    if cells.prod() > max_cells:
        raise InputError(
            "the grid has too many cells",
            value=cells.tolist(),
            allowed=f"{max_cells} in all",
            fix="Enlarge the voxels.",
        )
    shape = cells.astype(np.int64)
    origin = surface.bounds.mean(axis=0) - 0.5 * voxel_size * shape
    change = np.zeros((*shape[:2], shape[2] + 1), np.int32)
    count_crossings((surface.nodes - origin) / voxel_size - 0.5, surface.triangles, shape, change)
    inside = np.empty(shape, np.uint8)
    fill_columns(change, rule == "parity", inside)
    if not inside.any():
        raise InputError("no voxel centre lies inside the surface", value=voxel_size, fix="Choose smaller voxels.")
    return VoxelGrid(inside * np.min_scalar_type(material).type(material), voxel_size, origin)
