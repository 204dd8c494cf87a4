"""Regions in files of the meshio library: Gmsh's physical groups, and marks of 0 and 1 in VTK files.

A VTK file carries a region as point data (its nodes) and cell data (its elements and faces) called
`region:NAME`, the name percent-encoded; faces are extra cells after the elements. A Gmsh file carries
physical groups of dimension 3 (elements), 2 (faces) and 0 (nodes); one element can be in one group only.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from supple.errors import InputError
from supple.geometry.meshes.mesh_base import Mesh
from supple.geometry.meshes.region import IntArray, Region

PREFIX = "region:"
_DIMENSION = {"vertex": 0, "line": 1, "triangle": 2, "quad": 2, "tetra": 3, "hexahedron": 3}


def read_regions(content: Any, element_kind: str, face_kind: str | None) -> dict[str, Region]:
    """Regions of a meshio mesh whose elements are the cells of `element_kind`."""
    parts: dict[str, dict[str, list[IntArray]]] = defaultdict(lambda: defaultdict(list))
    for name, marks in content.point_data.items():
        if name.startswith(PREFIX):
            parts[unquote(name[len(PREFIX) :])]["nodes"].append(np.flatnonzero(marks))
    offset = 0
    for b, block in enumerate(content.cells):
        for name, chosen in _chosen_cells(content, b, block):
            if block.type == element_kind:
                parts[name]["elements"].append(chosen + offset)
            elif block.type == face_kind:
                parts[name]["faces"].append(np.asarray(block.data, dtype=np.int64)[chosen])
            else:
                parts[name]["nodes"].append(np.unique(np.asarray(block.data, dtype=np.int64)[chosen]))
        offset += len(block.data) if block.type == element_kind else 0
    regions = {}
    for name, kinds in parts.items():
        joined = {kind: np.concatenate(arrays) for kind, arrays in kinds.items()}
        if any(array.size for array in joined.values()):
            regions[name] = Region(**joined)
    return regions


def _chosen_cells(content: Any, b: int, block: Any) -> list[tuple[str, IntArray]]:
    """Names of regions, each with the cells of block b that are in it."""
    chosen = []
    for name, marks in content.cell_data.items():
        if name.startswith(PREFIX):
            chosen.append((unquote(name[len(PREFIX) :]), np.flatnonzero(marks[b])))
    sets = {name: cells for name, cells in content.cell_sets.items() if not name.startswith("gmsh:")}
    for name, cells in sets.items():
        if cells[b] is not None:
            chosen.append((name, np.asarray(cells[b], dtype=np.int64)))
    tags = content.cell_data.get("gmsh:physical")
    if tags is not None and b < len(tags) and not sets:
        named = {(int(tag), int(dim)): name for name, (tag, dim) in content.field_data.items()}
        for tag in np.unique(tags[b][tags[b] > 0]):
            name = named.get((int(tag), _DIMENSION.get(block.type, -1)), f"physical_{tag}")
            chosen.append((name, np.flatnonzero(tags[b] == tag)))
    return chosen


def vtk_marks(mesh: Mesh, faces: IntArray) -> tuple[dict[str, Any], dict[str, Any]]:
    """Point data and cell data that carry the regions; faces: the extra cells, (k, 3) or (k, 4)."""
    points, cells = {}, {}
    rows = {tuple(face): i for i, face in enumerate(faces.tolist())}
    for name, region in mesh.regions.items():
        key = PREFIX + quote(name, safe="")
        if region.nodes.size:
            points[key] = _marked(len(mesh.nodes), region.nodes)
        if region.elements.size or region.faces.size:
            chosen = np.array([rows[tuple(face)] for face in region.faces.tolist()], dtype=np.int64)
            marks = [_marked(len(mesh.elements), region.elements)]
            cells[key] = marks + ([_marked(len(faces), chosen)] if len(faces) else [])
    return points, cells


def _marked(count: int, chosen: IntArray) -> IntArray:
    marks = np.zeros(count, np.int64)
    marks[chosen] = 1
    return marks


def gmsh_groups(mesh: Mesh, face_kind: str) -> tuple[list[Any], list[IntArray], dict[str, IntArray]]:
    """Extra cells, physical tags of the elements and of each extra block, and the names of the tags."""
    element_tags = np.zeros(len(mesh.elements), np.int64)
    extra, tags, names = [], [element_tags], {}
    dimension = 2 if mesh.kind == "triangle" else 3
    for tag, (name, region) in enumerate(mesh.regions.items(), start=1):
        _check_group(name, region, element_tags)
        if region.elements.size:
            element_tags[region.elements] = tag
            names[name] = np.array([tag, dimension])
        elif region.faces.size:
            extra.append((face_kind, region.faces))
            names[name] = np.array([tag, 2])
        else:
            extra.append(("vertex", region.nodes[:, None]))
            names[name] = np.array([tag, 0])
        if not region.elements.size:
            tags.append(np.full(len(extra[-1][1]), tag, np.int64))
    return extra, tags, names


def _check_group(name: str, region: Region, element_tags: IntArray) -> None:
    fix = "Save as .vtu, or leave the region out with mesh.with_regions(...)."
    where = f"region '{name}'"
    if sum(part.size > 0 for part in (region.nodes, region.elements, region.faces)) > 1:
        raise InputError("a .msh group holds nodes, elements or faces, not several of them", where=where, fix=fix)
    if element_tags[region.elements].any():
        raise InputError("a .msh file cannot hold regions that share elements", where=where, fix=fix)
    if any(sign in name for sign in "\"'\\\n\r") or not name:
        raise InputError("a .msh file cannot hold this name", where=where, fix=fix)
