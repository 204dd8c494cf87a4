"""supple validate --pictures: where figures go, and what is said where they cannot be made."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from supple.cli import main


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two cases, one of them with a picture; returns what was run and drawn."""
    done: list[str] = []

    def case(name: str) -> list[dict[str, object]]:
        done.append(name)
        numbers = {"value": 1.0, "reference": 1.0, "error": 0.0, "limit": 0.1, "unit": "m"}
        return [{"case": name, "quantity": "tip", **numbers, "ok": True, "source": "a book"}]

    monkeypatch.setattr("supple.validation.registry", lambda: {n: (lambda n=n: case(n)) for n in ("a/x", "a/y")})
    monkeypatch.setattr("supple.validation.pictures", lambda: {"a/x": lambda path: path.write_bytes(b"x")})
    return done


def call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    return int(ended.value.code or 0)


def test_pictures_of_the_chosen_cases_are_written(
    tmp_path: Path, drawn: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "new" / "figures"
    assert call("validate", "--pictures", folder) == 0
    assert [p.name for p in folder.iterdir()] == ["a-x.png"]
    assert "figures: 1" in capsys.readouterr().out
    assert call("validate", "a/y", "--pictures", folder / "none") == 0
    assert "None of these cases has a picture" in capsys.readouterr().out


def test_a_file_in_the_way_is_named_before_anything_runs(
    tmp_path: Path, drawn: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("")
    assert call("validate", "--pictures", tmp_path / "file" / "figures") == 2
    assert "the folder cannot be made" in capsys.readouterr().err
    assert drawn == []


def test_a_missing_extra_is_named_before_anything_runs(
    tmp_path: Path, drawn: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert call("validate", "--pictures", tmp_path) == 2
    assert "pip install 'supple[render]'" in capsys.readouterr().err
    assert drawn == []
