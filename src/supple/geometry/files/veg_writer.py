"""Writing VegaFEM's `.veg` and `.bou` files, and reading the latter.

A `.bou` file lists fixed vertices, counted from 1, separated by commas and line breaks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import FileFormatError, InputError, check_instance, check_number, check_path
from supple.geometry.files.file_guard import read_text
from supple.geometry.files.veg import VegFile
from supple.geometry.meshes.mesh import HexMesh, TetMesh
from supple.geometry.meshes.region import IntArray, as_indices


def save_veg(path: str | Path, content: VegFile | TetMesh | HexMesh) -> None:
    """Write a `.veg` file. Element regions of the mesh become sets; regions of nodes or faces are refused."""
    path = check_path(path, where="save_veg")
    check_instance(content, (VegFile, TetMesh, HexMesh), "a mesh of tets or hexes", where="save_veg")
    file = content if isinstance(content, VegFile) else VegFile(content)
    mesh = file.mesh
    sets = {**{name: region.elements for name, region in mesh.regions.items()}, **file.sets}
    for name, region in mesh.regions.items():
        if region.nodes.size or region.faces.size:
            raise InputError(
                "a .veg file holds sets of elements only",
                where=f"region '{name}'",
                fix="Save as .vtu, or leave the region out with mesh.with_regions(...).",
            )
    for name in [*sets, *file.materials]:
        if not name or name != name.strip() or any(sign in name for sign in ",#*\n\r\t "):
            raise InputError("a .veg file cannot hold this name", value=name, allowed="no spaces, commas, # or *")
    lines = ["# Vega mesh file.", "", "*VERTICES", f"{len(mesh.nodes)} 3 0 0"]
    lines += [f"{i} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(mesh.nodes.tolist(), start=1)]
    width = mesh.elements.shape[1]
    lines += ["", "*ELEMENTS", "TET" if width == 4 else "CUBIC", f"{len(mesh.elements)} {width} 0"]
    lines += [f"{i} {' '.join(map(str, row))}" for i, row in enumerate((mesh.elements + 1).tolist(), start=1)]
    for name, material in file.materials.items():
        lines += ["", f"*MATERIAL {name}", ", ".join([material.kind, *(repr(n) for n in material.numbers)])]
    for name, elements in sets.items():
        lines += ["", f"*SET {name}", *_number_lines(elements)]
    for set_name, material_name in file.regions:
        lines += ["", "*REGION", f"{set_name}, {material_name}"]
    path.write_text("\n".join(lines) + "\n")


def load_bou(path: str | Path, *, node_count: int | None = None) -> IntArray:
    """Fixed vertices of a `.bou` file, from 0, ascending; node_count: refuse numbers beyond the mesh."""
    path = check_path(path, where="load_bou")
    if node_count is not None:
        check_number(node_count, name="node_count", where="load_bou", least=1, whole=True)
    numbers = []
    for line_number, text in enumerate(read_text(path).splitlines(), start=1):
        for word in text.split("#", 1)[0].replace(",", " ").split():
            if not word.isdecimal() or not 1 <= int(word) <= (node_count or 2**62):
                raise FileFormatError(
                    "a fixed vertex is not a usable number",
                    where=f"{path.name}, line {line_number}",
                    value=word[:40],
                    allowed=f"1 to {node_count}" if node_count else "whole numbers from 1",
                )
            numbers.append(int(word) - 1)
    if not numbers:
        raise FileFormatError("the file lists no vertex", where=path.name)
    return np.unique(np.array(numbers, dtype=np.int64))


def save_bou(path: str | Path, nodes: ArrayLike) -> None:
    """Write fixed vertices, given from 0, as a `.bou` file."""
    path = check_path(path, where="save_bou")
    fixed = np.unique(as_indices(nodes, "the fixed vertices"))
    if not fixed.size or fixed[0] < 0:
        raise InputError("the fixed vertices are empty or negative")
    path.write_text("\n".join(_number_lines(fixed)) + "\n")


def _number_lines(numbers: IntArray) -> list[str]:
    """Numbers from 1, ten a line, every line but the last ending in a comma."""
    words = [str(n + 1) for n in numbers.tolist()]
    rows = [", ".join(words[i : i + 10]) for i in range(0, len(words), 10)]
    return [f"{row}," for row in rows[:-1]] + rows[-1:]
