"""supple validate names the cases that it could not run for want of other programs' files."""

from __future__ import annotations

from pathlib import Path

import pytest

from supple.cli import main
from supple.validation import left_out, registry

COMPARED = {
    "fem/stvk-dragon",
    "floating/free_spin",
    "tree/parts-armadillo",
    "tree/parts-comb",
    "tree/vega-basis",
    "tree/vega-coefficients",
    "tree/vega-frequencies",
    "tree/vega-trajectory",
    "voxel/peer",
}


@pytest.fixture
def nothing_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUPPLE_REFERENCE", str(tmp_path))
    return tmp_path


def validate(capsys: pytest.CaptureFixture[str], *names: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["validate", *names])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_cases_without_their_files_are_told_and_not_run(
    nothing_there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(left_out()) == COMPARED
    assert not COMPARED & set(registry())
    code, out, err = validate(capsys, "fem/stvk-forces", "fem/stvk-dragon", "voxel/peer")
    assert code == 0
    assert "All 1 hold." in out
    assert "2 cases were not run" in err
    assert "fem/stvk-dragon, voxel/peer" in err
    assert "SUPPLE_REFERENCE" in err


def test_a_case_whose_file_is_there_is_run(nothing_there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (nothing_there / "reduced").mkdir()
    (nothing_there / "reduced" / "dragon.frand").write_bytes(b"")
    assert set(left_out()) == COMPARED - {"fem/stvk-dragon"}
    assert "fem/stvk-dragon" in registry()
    assert "not run" not in validate(capsys, "fem/stvk-forces")[2]
