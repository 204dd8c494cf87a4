"""What a VTK file claims, before and after it is read by a library that believes it."""

from __future__ import annotations

import re

from supple.errors import FileFormatError
from supple.geometry.files.file_guard import check_claim

Counts = tuple[int, int]
"""Points and cells that the file claims."""


def check_vtk(data: bytes, name: str) -> Counts:
    """Claims of a legacy `.vtk` file; refuses what is no unstructured grid or cannot hold what it claims."""
    if not data.startswith(b"# vtk DataFile Version"):
        raise FileFormatError("the file does not begin with '# vtk DataFile Version'", where=f"{name}, line 1")
    kind = re.search(rb"^DATASET[ \t]+(\w+)", data, re.MULTILINE)
    if kind is None or kind[1].upper() != b"UNSTRUCTURED_GRID":
        raise FileFormatError(
            "the data set is not read",
            where=name,
            value=kind[1].decode() if kind else None,
            allowed="UNSTRUCTURED_GRID",
        )
    claims = {}
    for title in (b"POINTS", b"CELLS", b"CELL_TYPES"):
        found = re.search(rb"^" + title + rb"[ \t]+(\d{1,18})(?:[ \t]+(\d{1,18}))?", data, re.MULTILINE)
        if found is None:
            raise FileFormatError(f"the section {title.decode()} is missing: the file is cut short", where=name)
        for number in found.groups(default=b"0"):
            check_claim(int(number), len(data), title.decode(), name)
        claims[title] = int(found[1])
    return claims[b"POINTS"], claims[b"CELL_TYPES"]


def check_vtu(data: bytes, name: str) -> Counts:
    """Claims of a `.vtu` file; refuses entity definitions and files that do not end."""
    if b"<VTKFile" not in data[:1000]:
        raise FileFormatError("the file does not begin with <VTKFile", where=f"{name}, line 1")
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise FileFormatError("the file defines XML entities, which are not read", where=name)
    if not data.rstrip().endswith(b"</VTKFile>"):
        raise FileFormatError("the file does not end with </VTKFile>: it is cut short", where=name)
    points = [int(n) for n in re.findall(rb'NumberOfPoints\s*=\s*"\s*(\d{1,18})\s*"', data)]
    cells = [int(n) for n in re.findall(rb'NumberOfCells\s*=\s*"\s*(\d{1,18})\s*"', data)]
    if len(points) != 1 or len(cells) != 1:
        raise FileFormatError("the file is not one piece", where=name, value=len(points), allowed="1 piece")
    for count, what in ((points[0], "points"), (cells[0], "cells")):
        check_claim(count, 1100 * len(data), what, name)  # deflate shrinks by 1032 at most
    return points[0], cells[0]
