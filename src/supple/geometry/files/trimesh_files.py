"""`.stl`, `.ply` and `.glb` surfaces, read and written by the trimesh library.

All three are written in single precision. glTF is y-up by its specification and Supple is z-up, so `.glb`
files are turned about the x axis on the way in and back on the way out.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import FileFormatError, InputError
from supple.geometry.files.file_guard import guarded, read_bytes
from supple.geometry.files.glb_guard import check_glb
from supple.geometry.files.surface_guard import check_ply, check_stl
from supple.geometry.meshes.mesh import SurfaceMesh
from supple.geometry.meshes.mesh_checks import Isolated
from supple.geometry.meshes.region import FloatArray, IntArray
from supple.geometry.meshes.welding import weld_nodes

_Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # glTF's axes to ours


def load_trimesh(path: Path, *, isolated: Isolated) -> SurfaceMesh:
    """Read an `.stl`, `.ply` or `.glb` surface; equal vertices of an `.stl` become one."""
    data, suffix = read_bytes(path), path.suffix.lower()
    with guarded(path, f"a {suffix} file"):
        if suffix == ".stl":
            claimed_triangles = check_stl(data, path.name)
            nodes, triangles = _read(data, suffix)
            if len(triangles) != claimed_triangles:
                raise FileFormatError("not all triangles could be read", where=path.name, value=len(triangles))
            return _welded(nodes, triangles, path)
        if suffix == ".ply":
            claimed = check_ply(data, path.name)
            nodes, triangles = _read(data, suffix)
            if len(nodes) != claimed[0] or len(triangles) < claimed[1]:
                raise FileFormatError(
                    "not all vertices and faces could be read",
                    where=path.name,
                    value=(len(nodes), len(triangles)),
                )
            return SurfaceMesh(nodes, triangles, isolated=isolated)
        check_glb(data, path.name)
        nodes, triangles = _read(data, suffix)
        return SurfaceMesh(nodes @ _Z_UP.T, triangles, isolated=isolated)


def _read(data: bytes, suffix: str) -> tuple[FloatArray, IntArray]:
    import trimesh

    loaded: Any = trimesh.load(io.BytesIO(data), file_type=suffix[1:], process=False)
    if isinstance(loaded, trimesh.Scene):
        loaded = loaded.to_mesh()
    if not isinstance(loaded, trimesh.Trimesh) or not len(loaded.faces):
        raise ValueError("no triangles were found")
    return np.array(loaded.vertices, dtype=np.float64), np.array(loaded.faces, dtype=np.int64)


def _welded(nodes: FloatArray, triangles: IntArray, path: Path) -> SurfaceMesh:
    """Triangles with shared vertices; those that were no triangles to begin with are left out."""
    first, number = weld_nodes(nodes, 0.0)
    joined = number[triangles]
    a, b, c = joined.T
    kept = (a != b) & (b != c) & (c != a)
    if not kept.any():
        raise FileFormatError("the triangles are single points", where=path.name)
    return SurfaceMesh(nodes[first], joined[kept], isolated="drop")


def save_trimesh(path: Path, surface: SurfaceMesh) -> None:
    """Write an `.stl` (binary), `.ply` (binary) or `.glb` surface."""
    import trimesh

    suffix = path.suffix.lower()
    nodes = surface.nodes @ _Z_UP if suffix == ".glb" else surface.nodes
    if np.abs(nodes).max() > np.finfo(np.float32).max:
        raise InputError(f"{suffix} files hold single precision only", value=float(np.abs(nodes).max()))
    body = trimesh.Trimesh(nodes, surface.triangles, process=False)
    path.write_bytes(body.export(file_type=suffix[1:]))  # type: ignore[arg-type]
