"""The package as a user meets it: light import, every public name there, the README's example."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import supple

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", [n for n in supple.__all__ if n != "__version__"])
def test_every_public_name_is_there_and_documented(name: str) -> None:
    thing = getattr(supple, name)
    assert thing.__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Femm'"):
        supple.Femm  # noqa: B018


def test_import_loads_nothing_heavy() -> None:
    heavy = ("numba", "scipy", "meshio", "h5py", "matplotlib")
    code = f"import sys, supple; print(*[m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == ""


def test_the_readme_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    assert blocks
    lines = [line for line in blocks[0].splitlines() if line.strip()]
    assert len(lines) <= 15
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    exec(compile("\n".join(lines), "README.md", "exec"), space)
    assert space["run"].outcome == "finished"  # type: ignore[attr-defined]
    assert list((tmp_path / "out").rglob("*.png"))
