"""Imports point one way: each layer of the package imports only those above it, and siblings leave each other alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "supple"
LAYERS = [
    "errors",
    "showing",
    "algebra",
    "geometry",
    "material",
    "elements",
    "modal",
    "interaction",
    "bodies",
    "decompose",
    "scene",
    "contact",
    "solvers",
    "record",
    "running",
    "settling",
    "files",
    "canvas",
    "exports",
    "studio",
    "notebook",
    "design",
    "examples",
    "validation",
    "bench",
    "cli",
    "__main__",
]
BODY_KINDS = {"particles", "rigid", "fem", "voxel", "tree", "floating", "layered"}


def imports_of(path: Path) -> set[str]:
    """Dotted names below `supple` that a file imports at run time."""
    found = set()
    tree = ast.parse(path.read_text())
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("supple."):
            found.add(node.module.removeprefix("supple."))
        elif isinstance(node, ast.Import):
            found |= {a.name.removeprefix("supple.") for a in node.names if a.name.startswith("supple.")}
    return found


def files() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", files(), ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_imports_point_one_way(path: Path) -> None:
    layer = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert layer in LAYERS, f"{layer} is not a layer"
    for name in imports_of(path):
        other = name.split(".")[0]
        assert LAYERS.index(other) <= LAYERS.index(layer), f"{path.name} imports supple.{name}, which stands below it"


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "bodies").glob("*/**/*.py")), ids=lambda p: p.relative_to(PACKAGE / "bodies").as_posix()
)
def test_kinds_of_bodies_do_not_know_each_other(path: Path) -> None:
    kind = path.relative_to(PACKAGE / "bodies").parts[0]
    for name in imports_of(path):
        parts = name.split(".")
        if parts[0] == "bodies" and len(parts) > 1 and parts[1] in BODY_KINDS:
            assert parts[1] == kind


FILES_ON_ONE_FLOOR = 20


@pytest.mark.parametrize("folder", sorted({p.parent for p in files()}), ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_folders_are_small(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= FILES_ON_ONE_FLOOR


def test_the_check_sees_a_wrong_import(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def f():\n    from supple.solvers import ImplicitEuler\n")
    assert imports_of(wrong) == {"solvers"}
    assert LAYERS.index("solvers") > LAYERS.index("scene")
