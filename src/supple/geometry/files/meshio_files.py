"""`.msh`, `.vtk` and `.vtu` files, read and written by the meshio library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import FileFormatError
from supple.geometry.files.file_guard import guarded, read_bytes
from supple.geometry.files.meshio_regions import gmsh_groups, read_regions, vtk_marks
from supple.geometry.files.msh_guard import check_msh
from supple.geometry.files.vtk_guard import check_vtk, check_vtu
from supple.geometry.meshes.element_shapes import triangulated_quads
from supple.geometry.meshes.mesh import HexMesh, SurfaceMesh, TetMesh
from supple.geometry.meshes.mesh_checks import Isolated, Orientation
from supple.geometry.meshes.region import IntArray

AnyMesh = TetMesh | HexMesh | SurfaceMesh
_KIND = {"tet": "tetra", "hex": "hexahedron", "triangle": "triangle"}
_FACE = {"tet": "triangle", "hex": "quad", "triangle": "line"}
_PASSED_OVER = ("vertex", "line", "line3")


def load_meshio(path: Path, *, orientation: Orientation, isolated: Isolated) -> AnyMesh:
    """Read a `.msh`, `.vtk` or `.vtu` file."""
    data, suffix = read_bytes(path), path.suffix.lower()
    claims = None
    with guarded(path, f"a {suffix} file"):
        if suffix == ".msh":
            check_msh(data, path.name)
        else:
            claims = (check_vtk if suffix == ".vtk" else check_vtu)(data, path.name)
        content = _read(path, suffix)
        found = len(content.points), sum(len(block.data) for block in content.cells)
        if claims is not None and found != claims:
            raise FileFormatError(
                "the file does not hold the points and cells it claims",
                where=path.name,
                value=found,
                allowed=str(claims),
            )
        return _from_meshio(content, path, orientation, isolated)


def _read(path: Path, suffix: str) -> Any:
    import meshio

    if suffix == ".msh":
        return meshio.gmsh.read(path)
    return meshio.vtk.read(path) if suffix == ".vtk" else meshio.vtu.read(path)


def _from_meshio(content: Any, path: Path, orientation: Orientation, isolated: Isolated) -> AnyMesh:
    present = {block.type for block in content.cells} - set(_PASSED_OVER)
    unknown = sorted(present - {"tetra", "hexahedron", "triangle", "quad"})
    if unknown or {"tetra", "hexahedron"} <= present:
        raise FileFormatError(
            f"a mesh of {' and '.join(sorted(present))} cells is not read",
            where=path.name,
            allowed="tetra, hexahedron or triangle cells of first order, with their boundary faces",
        )
    if "tetra" in present:
        tets = _cells(content, "tetra")
        regions = read_regions(content, "tetra", "triangle")
        return TetMesh(content.points, tets, regions, orientation=orientation, isolated=isolated)
    if "hexahedron" in present:
        hexes = _cells(content, "hexahedron")
        regions = read_regions(content, "hexahedron", "quad")
        return HexMesh(content.points, hexes, regions, orientation=orientation, isolated=isolated)
    if present == {"quad"}:
        return SurfaceMesh(content.points, triangulated_quads(_cells(content, "quad")), isolated=isolated)
    if present != {"triangle"}:
        raise FileFormatError(
            "the file holds no tetra, hexahedron, triangle or quad cells alone",
            where=path.name,
            value=sorted(present),
        )
    regions = read_regions(content, "triangle", None)
    return SurfaceMesh(content.points, _cells(content, "triangle"), regions, isolated=isolated)


def _cells(content: Any, kind: str) -> IntArray:
    return np.concatenate([np.asarray(b.data, dtype=np.int64) for b in content.cells if b.type == kind])


def save_meshio(path: Path, mesh: AnyMesh) -> None:
    """Write a `.msh` (version 2.2), `.vtk` or `.vtu` file, binary, with the mesh's regions."""
    import meshio

    cells: list[Any] = [(_KIND[mesh.kind], mesh.elements)]
    if path.suffix.lower() == ".msh":
        extra, tags, names = gmsh_groups(mesh, _FACE[mesh.kind])
        content = meshio.Mesh(
            mesh.nodes,
            cells + extra,
            cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
            field_data=names,
        )
        meshio.gmsh.write(path, content, "2.2", binary=True)
        return
    listed = [region.faces for region in mesh.regions.values() if region.faces.size]
    faces = np.unique(np.concatenate(listed), axis=0) if listed else np.empty((0, 3), np.int64)
    point_data, cell_data = vtk_marks(mesh, faces)
    content = meshio.Mesh(
        mesh.nodes,
        cells + ([(_FACE[mesh.kind], faces)] if len(faces) else []),
        point_data=point_data,
        cell_data=cell_data,
    )
    (meshio.vtk if path.suffix.lower() == ".vtk" else meshio.vtu).write(path, content, binary=True)
