"""VegaFEM's `.veg` text files: tets or cubes, with element sets, materials and which set has which material.

    *VERTICES          count 3 0 0, then: number x y z
    *ELEMENTS          TET or CUBIC, then count 4 0 or count 8 0, then: number node node ...
    *MATERIAL name     kind, number, number, ...
    *SET name          element numbers, separated by commas
    *REGION            set, material
    *INCLUDE file      the lines of another file of the same folder

Numbers in the file start at 1, or at 0 where the first vertex or element says so; here they start at 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np

from supple.errors import FileFormatError, InputError, check_path
from supple.geometry.files.file_guard import MAX_BYTES, check_claim, read_text, relocated
from supple.geometry.meshes.mesh import HexMesh, TetMesh
from supple.geometry.meshes.mesh_checks import Isolated, Orientation
from supple.geometry.meshes.region import FloatArray, IntArray, Region

ALL_ELEMENTS = "allElements"
INCLUDE_DEPTH = 8
MAX_FILES = 1000  # with all that are included, each as often as it is


@dataclass(frozen=True)
class VegMaterial:
    """A material as the file has it; kind "ENU" has density [kg/m³], Young [Pa] and Poisson [-]."""

    kind: str
    numbers: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class VegFile:
    """What a `.veg` file holds. sets: element numbers by name. regions: pairs of set and material.

    The sets are also element regions of the mesh.
    """

    mesh: TetMesh | HexMesh
    materials: Mapping[str, VegMaterial] = field(default_factory=dict)
    sets: Mapping[str, IntArray] = field(default_factory=dict)
    regions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class _Line:
    file: str
    number: int
    text: str

    @property
    def words(self) -> list[str]:
        return self.text.replace(",", " ").split()

    def refuse(self, what: str, expected: str | None = None) -> NoReturn:
        where = f"{self.file}, line {self.number}"
        raise FileFormatError(what, where=where, value=self.text[:80], allowed=expected)

    def integers(self, expected: str) -> list[int]:
        try:
            return [int(word) for word in self.words]
        except ValueError:
            self.refuse("the line is not whole numbers", expected)

    def numbers(self, words: list[str], expected: str) -> list[float]:
        try:
            return [float(word) for word in words]
        except ValueError:
            self.refuse("the line is not numbers", expected)


def load_veg(path: str | Path, *, orientation: Orientation = "repair", isolated: Isolated = "refuse") -> VegFile:
    """Read a `.veg` file; orientation and isolated as for `TetMesh`."""
    path = check_path(path, where="load_veg")
    sections = _sections(path)
    for needed in ("*VERTICES", "*ELEMENTS"):
        if sum(head.words[0].upper() == needed for head, _ in sections) != 1:
            raise FileFormatError(f"the file does not hold {needed} exactly once", where=path.name)
    nodes: FloatArray = np.empty((0, 3))
    elements, materials, regions = np.empty((0, 4), np.int64), {}, []
    named: dict[str, tuple[_Line, list[int]]] = {}
    first = 1
    for head, body in sections:
        keyword, name = head.words[0].upper(), " ".join(head.words[1:])
        if keyword == "*VERTICES":
            nodes, first_vertex = _vertices(head, body)
        elif keyword == "*ELEMENTS":
            elements, first = _elements(head, body)
        elif keyword == "*MATERIAL":
            materials[name] = _material(head, body)
        elif keyword == "*SET":
            named[name] = (head, [n for line in body for n in line.integers("element numbers")])
        elif keyword == "*REGION":
            regions += [_region(line) for line in body]
        else:
            head.refuse("the section is unknown", "*VERTICES, *ELEMENTS, *MATERIAL, *SET, *REGION, *INCLUDE")
    sets = {name: _set(head, numbers, first, len(elements)) for name, (head, numbers) in named.items()}
    _check_regions(path, regions, sets, materials)
    kind = TetMesh if elements.shape[1] == 4 else HexMesh
    try:
        mesh = kind(
            nodes,
            elements - first_vertex,
            {name: Region(elements=numbers) for name, numbers in sets.items() if numbers.size},
            orientation=orientation,
            isolated=isolated,
        )
    except InputError as error:
        raise relocated(error, path) from error
    return VegFile(mesh, materials, sets, tuple(regions))


@dataclass
class _Text:
    """The lines of a file without comments and blanks, with included files in place; both are bounded in all."""

    files: int = 0
    characters: int = 0

    def lines(self, path: Path, depth: int = 0) -> Iterator[_Line]:
        text = read_text(path)
        self.files += 1
        self.characters += len(text)
        if self.files > MAX_FILES or self.characters > MAX_BYTES:
            raise FileFormatError(
                "too many files are included",
                where=path.name,
                allowed=f"{MAX_FILES} files of {MAX_BYTES} characters in all",
                fix="Put their lines into one file.",
            )
        for number, raw in enumerate(text.splitlines(), start=1):
            line = _Line(path.name, number, raw.split("#", 1)[0].strip())
            if line.text and not line.words:
                line.refuse("the line has commas only", "numbers or words")
            if not line.text:
                continue
            if line.words[0].upper() == "*INCLUDE":
                yield from self.lines(_included(line, path, depth), depth + 1)
            else:
                yield line


def _included(line: _Line, path: Path, depth: int) -> Path:
    """The file a line includes, of the same folder."""
    other = line.text.split(None, 1)[1].strip() if len(line.words) > 1 else ""
    target = path.parent / other
    if not other or target.resolve().parent != path.parent.resolve():
        line.refuse("the included file is not in the same folder", "a file name without a path")
    if depth == INCLUDE_DEPTH:
        line.refuse("files include each other too deeply", f"{INCLUDE_DEPTH} levels")
    return target


def _sections(path: Path) -> list[tuple[_Line, list[_Line]]]:
    sections: list[tuple[_Line, list[_Line]]] = []
    for line in _Text().lines(path):
        if line.text.startswith("*"):
            sections.append((line, []))
        elif sections:
            sections[-1][1].append(line)
        else:
            line.refuse("the file does not begin with a section", "*VERTICES")
    return sections


def _rows(head: _Line, body: list[_Line], width: int, what: str) -> list[_Line]:
    """The lines after the count; refuses a count that differs from the lines there are."""
    if not body:
        head.refuse(f"the {what} are missing", f"a line: count {width} 0")
    count = body[0].integers(f"count {width} 0")
    if len(count) < 2 or count[1] != width:
        body[0].refuse(f"the count of {what} is not understood", f"count {width} ...")
    check_claim(count[0], len(body) - 1, what, f"{head.file}, line {body[0].number}")
    if len(body) - 1 > count[0]:
        body[1 + count[0]].refuse(f"there are more than the {count[0]} {what} claimed", "the next section")
    if count[0] == 0:
        body[0].refuse(f"there are no {what}", "at least one")
    return body[1:]


def _check_numbering(line: _Line, number: str, expected: int) -> None:
    if number != str(expected):
        line.refuse("the numbering has a gap", f"number {expected}")


def _vertices(head: _Line, body: list[_Line]) -> tuple[FloatArray, int]:
    rows = _rows(head, body, 3, "vertices")
    first = 0 if rows[0].words[0] == "0" else 1
    nodes = np.empty((len(rows), 3))
    for i, line in enumerate(rows):
        words = line.words
        if len(words) != 4:
            line.refuse("the vertex is incomplete", "number x y z")
        _check_numbering(line, words[0], i + first)
        nodes[i] = line.numbers(words[1:], "number x y z")
    return nodes, first


def _elements(head: _Line, body: list[_Line]) -> tuple[IntArray, int]:
    kind = body[0].text.upper() if body else ""
    if kind not in ("TET", "TETS", "CUBIC"):
        (body[0] if body else head).refuse("the kind of element is unknown", "TET or CUBIC")
    width = 8 if kind == "CUBIC" else 4
    rows = _rows(head, body[1:], width, "elements")
    first = 0 if rows[0].words[0] == "0" else 1
    elements = np.empty((len(rows), width), np.int64)
    for i, line in enumerate(rows):
        numbers = line.integers(f"number and {width} vertices")
        if len(numbers) != width + 1:
            line.refuse("the element is incomplete", f"number and {width} vertices")
        _check_numbering(line, str(numbers[0]), i + first)
        if not all(0 <= n < 2**62 for n in numbers):
            line.refuse("a vertex number is out of range")
        elements[i] = numbers[1:]
    return elements, first


def _material(head: _Line, body: list[_Line]) -> VegMaterial:
    if len(head.words) < 2 or len(body) != 1:
        head.refuse("the material is incomplete", "*MATERIAL name, then one line: kind, numbers")
    kind, *numbers = body[0].words
    if not re.fullmatch(r"[A-Za-z_]\w*", kind):
        body[0].refuse("the material has no kind", "a word such as ENU, then numbers")
    return VegMaterial(kind.upper(), tuple(body[0].numbers(numbers, f"{kind} and numbers")))


def _set(head: _Line, numbers: list[int], first: int, element_count: int) -> IntArray:
    for number in numbers:
        if not first <= number < first + element_count:
            head.refuse(f"the set holds element {number}", f"{first} to {first + element_count - 1}")
    return np.array(numbers, dtype=np.int64) - first


def _region(line: _Line) -> tuple[str, str]:
    names = [name.strip() for name in line.text.split(",")] if "," in line.text else line.words
    if len(names) != 2:
        line.refuse("the region is not understood", "set, material")
    return names[0], names[1]


def _check_regions(
    path: Path,
    regions: list[tuple[str, str]],
    sets: Mapping[str, IntArray],
    materials: Mapping[str, VegMaterial],
) -> None:
    for set_name, material in regions:
        if set_name != ALL_ELEMENTS and set_name not in sets:
            raise FileFormatError(f"a region uses the set '{set_name}', which is missing", where=path.name)
        if material not in materials:
            raise FileFormatError(f"a region uses the material '{material}', which is missing", where=path.name)
