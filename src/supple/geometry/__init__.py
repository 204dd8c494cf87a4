"""Meshes, voxel grids, regions, generators, embedding and mesh files: shapes without physics."""

from supple.geometry.files.mesh_files import load_mesh, save_mesh
from supple.geometry.files.veg import VegFile, VegMaterial, load_veg
from supple.geometry.files.veg_writer import load_bou, save_bou, save_veg
from supple.geometry.generators.shapes import (
    box_hexes,
    box_tets,
    cylinder_hexes,
    cylinder_tets,
    sphere_hexes,
    sphere_tets,
)
from supple.geometry.generators.tetrahedralize import tetrahedralize
from supple.geometry.grids.voxel_grid import VoxelGrid
from supple.geometry.grids.voxelize import voxelize
from supple.geometry.meshes.boundary import Boundary
from supple.geometry.meshes.embedding import Embedding, embed
from supple.geometry.meshes.mesh import HexMesh, SurfaceMesh, TetMesh
from supple.geometry.meshes.region import Region, Selector

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
