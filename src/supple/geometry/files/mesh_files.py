"""Meshes from and to files, by suffix.

| suffix | what | regions |
|---|---|---|
| .veg | tets or hexes of VegaFEM | element sets |
| .msh | tets, hexes or triangles of Gmsh, versions 2 and 4.1 | physical groups |
| .vtk, .vtu | tets, hexes or triangles of VTK | marks, see `meshio_regions` |
| .obj, .stl, .ply, .glb | surfaces | none |
"""

from __future__ import annotations

from pathlib import Path

from supple.errors import FileFormatError, InputError, check_instance, check_path
from supple.geometry.files.meshio_files import load_meshio, save_meshio
from supple.geometry.files.obj import load_obj, save_obj
from supple.geometry.files.trimesh_files import load_trimesh, save_trimesh
from supple.geometry.files.veg import load_veg
from supple.geometry.files.veg_writer import save_veg
from supple.geometry.meshes.mesh import HexMesh, SurfaceMesh, TetMesh
from supple.geometry.meshes.mesh_checks import Isolated, Orientation

SUFFIXES = (".veg", ".msh", ".vtk", ".vtu", ".obj", ".stl", ".ply", ".glb")
SURFACE_SUFFIXES = (".obj", ".stl", ".ply", ".glb")


def load_mesh(
    path: str | Path, *, orientation: Orientation = "repair", isolated: Isolated = "refuse"
) -> TetMesh | HexMesh | SurfaceMesh:
    """Read a mesh; orientation and isolated as for `TetMesh`."""
    path = check_path(path, where="load_mesh")
    suffix = _check_suffix(path)
    if suffix == ".veg":
        return load_veg(path, orientation=orientation, isolated=isolated).mesh
    if suffix == ".obj":
        return load_obj(path, isolated=isolated)
    if suffix in SURFACE_SUFFIXES:
        return load_trimesh(path, isolated=isolated)
    return load_meshio(path, orientation=orientation, isolated=isolated)


def save_mesh(path: str | Path, mesh: TetMesh | HexMesh | SurfaceMesh) -> None:
    """Write a mesh with its regions; refuses a format that cannot hold the mesh or its regions."""
    path = check_path(path, where="save_mesh")
    check_instance(mesh, (TetMesh, HexMesh, SurfaceMesh), "a mesh", where="save_mesh")
    suffix = _check_suffix(path)
    if suffix in SURFACE_SUFFIXES:
        if not isinstance(mesh, SurfaceMesh):
            raise InputError(f"a {suffix} file holds surfaces only", value=mesh, fix="Save mesh.boundary.surface.")
        if mesh.regions:
            fix = "Save as .vtu, or leave them out with mesh.with_regions({})."
            raise InputError(f"a {suffix} file holds no regions", value=sorted(mesh.regions), fix=fix)
        (save_obj if suffix == ".obj" else save_trimesh)(path, mesh)
    elif suffix == ".veg":
        if isinstance(mesh, SurfaceMesh):
            raise InputError("a .veg file holds tets or hexes only", value=mesh, fix="Save as .obj.")
        save_veg(path, mesh)
    else:
        save_meshio(path, mesh)


def _check_suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise FileFormatError(
            "the kind of file is not known", where=path.name, value=path.suffix, allowed=", ".join(SUFFIXES)
        )
    return suffix
