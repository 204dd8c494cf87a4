"""Equation numbers: each displayed formula of the pages has one, and the lines of kernels that compute it name it.

A tag is (6.3), the third of section 6 of theory.md; (T3), of the step of trees there, also without its brackets in the
kernels of that step; (C3), of the law in contact.md.
"""

from __future__ import annotations

import io
import re
import tokenize
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "supple"
TAG = re.compile(r"\((\d+\.[1-9]\d*|[TC]\d+)\)")
BARE = re.compile(r"(?<![\w(])T\d+\b")
NUMBERED = re.compile(r"^(?:    |\|).*?" + TAG.pattern + r"(?: \|)?$", flags=re.M)
FENCED = re.compile(r"^```.*?^```$", flags=re.M | re.S)
HOME = {"T": "theory.md", "C": "contact.md"}
PHYSICS = ("bodies", "contact", "elements", "interaction", "modal", "solvers/rigid")
WITHOUT = {
    "bodies/block_kernels.py": "adds blocks to a matrix",
    "bodies/layered/point_kernels.py": "derivatives of points by the coordinates",
    "bodies/tree/energy_kernels.py": "names its equation in its docstring",
    "bodies/tree/step/dense_kernels.py": "small matrices",
    "bodies/tree/step/shape_response_kernels.py": "columns of the response kernels",
    "bodies/tree/step/spatial_kernels.py": "vectors in lanes",
    "bodies/tree/step/stride_kernels.py": "calls the step many times",
    "bodies/tree/step/sweep_kernels.py": "calls the phases group by group",
    "bodies/tree/step/transpose_kernels.py": "moves numbers between layouts",
    "bodies/tree/surface/hung_kernels.py": "derivatives of points by the coordinates of their domain",
    "bodies/voxel/kernels.py": "calls the phases of a step",
    "bodies/voxel/sweep/border_kernels.py": "calls the links",
    "bodies/voxel/sweep/state_kernels.py": "moves numbers between layouts",
    "bodies/voxel/sweep/team_kernels.py": "shares the phases of a step",
    "bodies/voxel/touching/joint_kernels.py": "names its equations in its docstring",
    "bodies/voxel/touching/pair_list_kernels.py": "lists pairs that are near",
    "bodies/voxel/touching/surface_layout_kernels.py": "lays out contacts for the sweep",
    "contact/binding/assembly_kernels.py": "puts contacts together",
    "contact/binding/sinking_kernels.py": "compares energies, to warn",
    "contact/binding/travel_kernels.py": "compares ways, to warn",
    "contact/manifolds/find_kernels.py": "calls the kernels of pairs",
    "contact/narrow/search_kernels.py": "calls the kernels of a search",
    "contact/near_kernels.py": "lists pairs that are near",
    "contact/tree_kernels.py": "boxes around boxes",
    "elements/inversion_kernels.py": "signs of volumes",
    "interaction/*": "names its equations in docstrings",
    "solvers/rigid/matrix_kernels.py": "solves a matrix",
}
"""Kernels whose lines name no equation, and why."""


def page(name: str) -> str:
    """A page without its code."""
    return FENCED.sub("", (ROOT / "docs" / name).read_text(encoding="utf-8"))


def tags_of(name: str) -> list[str]:
    """Tags of the displayed formulas of a page that are at home there, in order."""
    return [tag for tag in NUMBERED.findall(page(name)) if HOME.get(tag[0], "theory.md") == name]


def commented(text: str, *, in_step: bool = False) -> list[tuple[int, str]]:
    """Tags in the comments of a source, with their lines. in_step: of the step of trees."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [(t.start[0], t.string) for t in tokens if t.type == tokenize.COMMENT]
    return [(k, tag) for k, c in comments for tag in TAG.findall(c) + (BARE.findall(c) if in_step else [])]


def tags_in(name: str) -> list[tuple[int, str]]:
    """Tags in the comments of a source of the package."""
    return commented((SOURCES / name).read_text(encoding="utf-8"), in_step=name.startswith("bodies/tree/step/"))


def kernels() -> list[str]:
    """Kernels of the physics, by their path within the package."""
    paths = [p for part in PHYSICS for p in (SOURCES / part).rglob("*kernels.py")]
    formulas = [SOURCES / "elements" / "laws.py", SOURCES / "bodies" / "voxel" / "links" / "link.py"]
    return sorted(p.relative_to(SOURCES).as_posix() for p in (*paths, *formulas))


def test_tags_are_unique_and_ascend() -> None:
    for name in sorted(set(HOME.values())):
        tags = tags_of(name)
        assert len(set(tags)) == len(tags)
        for kind in "TC":
            assert [t for t in tags if t[0] == kind] == [
                f"{kind}{k + 1}" for k in range(sum(t[0] == kind for t in tags))
            ]
    numbers = [(int(a), int(b)) for a, b in (t.split(".") for t in tags_of("theory.md") if t[0].isdigit())]
    for (section, number), (after, next_number) in pairwise(numbers):
        assert (after, next_number) == (section, number + 1) or (after > section and next_number == 1)


def test_a_tag_stands_in_its_section() -> None:
    for part in re.split(r"^## ", page("theory.md"), flags=re.M):
        heading = re.match(r"(\d+)\.", part)
        section = heading[1] if heading else "0"
        assert {tag.split(".")[0] for tag in NUMBERED.findall(part) if tag[0].isdigit()} <= {section}


def test_displayed_formulas_have_tags() -> None:
    blocks = re.findall(r"(?:^    .*\S.*\n)+", page("theory.md"), flags=re.M)
    bare = [block for block in blocks if not NUMBERED.search(block)]
    assert len(bare) == 1  # the lists of operations that the slides print
    assert "printed       corrected" in bare[0]


def test_pages_name_tags_that_exist() -> None:
    known = {tag for name in set(HOME.values()) for tag in tags_of(name)}
    for name in ("theory.md", "contact.md", "voxels.md", "trees.md"):
        assert set(TAG.findall(page(name))) <= known, name


def test_comments_name_tags_that_exist() -> None:
    known = {tag for name in set(HOME.values()) for tag in tags_of(name)}
    names = [path.relative_to(SOURCES).as_posix() for path in sorted(SOURCES.rglob("*.py"))]
    assert not [f"{name}:{line}: {tag}" for name in names for line, tag in tags_in(name) if tag not in known]


@pytest.mark.parametrize("name", kernels())
def test_a_kernel_names_its_equations(name: str) -> None:
    has_none = any(fnmatch(name, pattern) for pattern in WITHOUT)
    assert has_none or tags_in(name)


def test_tags_are_told_from_other_brackets() -> None:
    text = 'a = 1.5  # (6.3), (T2) and [HL12, eq. 7]\nb = "(9.9)"  # f(1.5, 2) of (x.y)\n'
    assert commented(text) == [(1, "6.3"), (1, "T2")]
    assert commented("x = y  # T9, X^T I N, not AT3\n", in_step=True) == [(1, "T9")]
    assert NUMBERED.findall("    x = y (1.1) z\n    x = f(2)   (1.2)\n| a | (1.3) |\nsee (1.4)\n") == ["1.2", "1.3"]
