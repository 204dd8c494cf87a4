"""Kernels in the cache belong to all they were made of: constants of other files, and fields in their order."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from supple.algebra.compiling import compiled as compiling

SOURCES = {
    ".".join(path.relative_to(compiling.PACKAGE.parent).with_suffix("").parts): path.read_text()
    for path in compiling.PACKAGE.rglob("*.py")
}
WITH_KERNELS = sorted(name for name, text in SOURCES.items() if "@compiled" in text)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """`kernels` reads a constant of `sizes`, which takes it from the package `shared`, and nothing of `host`."""
    root = tmp_path / "supple"
    (root / "shared").mkdir(parents=True)
    (root / "__init__.py").write_text("")
    (root / "shared" / "__init__.py").write_text("from supple.shared.lanes import WIDTH\n")
    (root / "shared" / "lanes.py").write_text("WIDTH = 8\n")
    (root / "sizes.py").write_text("from supple.shared import WIDTH\n\nFIELDS = 2 * WIDTH\n")
    (root / "host.py").write_text("def prepare(): ...\n")
    (root / "kernels.py").write_text(
        "from supple.host import prepare\nfrom supple.sizes import FIELDS\n\n\n@compiled\ndef f(): return FIELDS\n"
    )
    monkeypatch.setattr(compiling, "PACKAGE", root)
    yield root
    forget()


def forget() -> None:
    compiling._source.cache_clear()
    compiling.kernel_cache.cache_clear()


def folder() -> Path:
    forget()
    return compiling.kernel_cache("supple.kernels")


@pytest.mark.parametrize("file", ["sizes.py", "shared/__init__.py", "shared/lanes.py"])
def test_a_constant_that_kernels_read_makes_them_anew(package: Path, file: str) -> None:
    """Numba freezes constants into the machine code."""
    before = folder()
    (package / file).write_text((package / file).read_text() + "MORE = 1\n")
    assert folder() != before


def test_a_host_that_kernels_do_not_read_leaves_them(package: Path) -> None:
    before = folder()
    (package / "host.py").write_text("def prepare(): return 1\n")
    assert folder() == before


def read_by_kernels(text: str) -> Iterator[tuple[str, str]]:
    """Modules, and names in them, that the kernels of a source use."""
    tree, imported = ast.parse(text), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("supple"):
            imported |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and any("compiled" in ast.dump(d) for d in function.decorator_list):
            used = {n.id for statement in function.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
            yield from (imported[name] for name in used & set(imported))


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_all_that_kernels_read_is_among_their_sources(name: str) -> None:
    sources = compiling.kernel_sources(name)
    for module, read in read_by_kernels(SOURCES[name]):
        assert module in sources or f"{module}.{read}" in sources or read.endswith("Error"), (module, read)


KERNEL = """
from supple.algebra.compiling.compiled import compiled


@compiled
def difference(pair):
    return pair.first - pair.second
"""
PAIR = "from typing import NamedTuple\n\n\nclass Pair(NamedTuple):\n    {}: float\n    {}: float\n"
CALL = "from kernels import difference; from pair import Pair; print(difference(Pair(first=5.0, second=2.0)))"


def test_fields_that_change_places_are_another_tuple(tmp_path: Path) -> None:
    """Of one type each: to Numba the tuple is the same, and code that was made for it reads the other field."""
    (tmp_path / "kernels.py").write_text(KERNEL)
    environment = {**os.environ, "SUPPLE_CACHE": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    for fields in (("first", "second"), ("second", "first")):
        (tmp_path / "pair.py").write_text(PAIR.format(*fields))
        done = subprocess.run(
            [sys.executable, "-c", CALL], cwd=tmp_path, env=environment, capture_output=True, check=False, text=True
        )
        assert done.stdout == "3.0\n", (fields, done.stdout, done.stderr)
