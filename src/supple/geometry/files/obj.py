"""Wavefront `.obj` surfaces: vertices and faces; texture, normals, groups and materials are left aside.

Polygons become fans of triangles around their first vertex. Numbers in the file start at 1; negative ones
count back from the latest vertex. The format has no counts: a file cut between two faces looks like a whole
one, unless it leaves a vertex without a face.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from supple.errors import FileFormatError, InputError
from supple.geometry.files.file_guard import read_text, relocated
from supple.geometry.meshes.mesh import SurfaceMesh
from supple.geometry.meshes.mesh_checks import Isolated

_IGNORED = frozenset(["vt", "vn", "vp", "g", "o", "s", "l", "p", "usemtl", "mtllib"])


def load_obj(path: str | Path, *, isolated: Isolated = "refuse") -> SurfaceMesh:
    """Read an `.obj` surface; isolated as for `SurfaceMesh`."""
    path = Path(path)
    nodes: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        words = line.split("#", 1)[0].split()
        if not words or words[0] in _IGNORED:
            continue
        try:
            if words[0] == "v" and len(words) >= 4:
                nodes.append([float(word) for word in words[1:4]])
            elif words[0] == "f" and len(words) >= 4:
                corners = [_corner(word, len(nodes)) for word in words[1:]]
                triangles += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
            else:
                raise ValueError
        except ValueError as error:
            raise FileFormatError(
                "the line is not understood",
                where=f"{path.name}, line {number}",
                value=line[:80],
                allowed="v x y z, or f with three vertices or more that stand above it",
            ) from error
    if not triangles:
        raise FileFormatError("the file holds no face", where=path.name, allowed="lines v and f")
    try:
        return SurfaceMesh(np.array(nodes), np.array(triangles), isolated=isolated)
    except InputError as error:
        raise relocated(error, path) from error


def _corner(word: str, node_count: int) -> int:
    number = int(word.split("/", 1)[0])
    index = number - 1 if number > 0 else node_count + number
    if number == 0 or not 0 <= index < node_count:
        raise ValueError
    return index


def save_obj(path: str | Path, surface: SurfaceMesh) -> None:
    """Write an `.obj` surface, with all digits of its coordinates."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in surface.nodes.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (surface.triangles + 1).tolist()]
    Path(path).write_text("\n".join(lines) + "\n")
