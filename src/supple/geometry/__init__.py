"""Meshes, voxel grids, regions, generators, embedding and mesh files: shapes without physics."""

from supple.geometry.boundary import Boundary
from supple.geometry.embedding import Embedding, embed
from supple.geometry.generators import (
    box_hexes,
    box_tets,
    cylinder_hexes,
    cylinder_tets,
    sphere_hexes,
    sphere_tets,
)
from supple.geometry.mesh import HexMesh, SurfaceMesh, TetMesh
from supple.geometry.mesh_files import load_mesh, save_mesh
from supple.geometry.region import Region, Selector
from supple.geometry.tetrahedralize import tetrahedralize
from supple.geometry.veg import VegFile, VegMaterial, load_veg
from supple.geometry.veg_writer import load_bou, save_bou, save_veg
from supple.geometry.voxel_grid import VoxelGrid
from supple.geometry.voxelize import voxelize

__all__ = [
    "Boundary",
    "Embedding",
    "HexMesh",
    "Region",
    "Selector",
    "SurfaceMesh",
    "TetMesh",
    "VegFile",
    "VegMaterial",
    "VoxelGrid",
    "box_hexes",
    "box_tets",
    "cylinder_hexes",
    "cylinder_tets",
    "embed",
    "load_bou",
    "load_mesh",
    "load_veg",
    "save_bou",
    "save_mesh",
    "save_veg",
    "sphere_hexes",
    "sphere_tets",
    "tetrahedralize",
    "voxelize",
]
