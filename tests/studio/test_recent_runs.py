"""The list of recent runs: each run has a key of its own, and several processes may note runs at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from supple.errors import InputError
from supple.studio.shelf import shelf as shelves
from supple.studio.shelf.recent import COUNT, list_path, note_run, recent_runs


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list of this test's own."""
    path = tmp_path / "lists" / "mine.json"
    monkeypatch.setenv("SUPPLE_RECENT_RUNS", str(path))
    return path


def record(folder: Path) -> Path:
    """A folder that looks like a run."""
    folder.mkdir()
    (folder / "record.vtkhdf").write_bytes(b"")
    return folder


def test_the_list_lies_where_the_variable_says(tmp_path: Path, place: Path) -> None:
    note_run(record(tmp_path / "run"), "oak")
    assert list_path() == place
    assert place.is_file()


def test_a_key_belongs_to_its_run(tmp_path: Path) -> None:
    note_run(record(tmp_path / "first"), "oak")
    key = recent_runs()[0].key
    note_run(record(tmp_path / "second"), "flower")
    assert [run.key == key for run in recent_runs()] == [False, True]


def test_the_page_is_of_the_run_that_was_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run is noted between the list and the click."""
    played = []

    def export(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        played.append(command[4])
        Path(command[-1]).write_text("page")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(shelves.subprocess, "run", export)
    shelf = shelves.Shelf({}, lambda name: None)  # type: ignore[arg-type,return-value]
    note_run(record(tmp_path / "first"), "oak")
    listed = shelf.recent()[0]
    note_run(record(tmp_path / "second"), "oak")
    shelf.page_of(listed.key)
    with pytest.raises(InputError, match="no such run"):
        shelf.page_of("0")
    shelf.close()
    assert played == [str(tmp_path / "first")]


def test_runs_that_are_noted_at_once_are_all_kept(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom supple.studio.shelf.recent import note_run\n"
        "sys.stdin.readline()\nfor name in sys.argv[1:]: note_run(Path(name), 'oak')"
    )
    folders = [record(tmp_path / f"run {k}") for k in range(COUNT)]
    parts = [[str(folder) for folder in folders[k::4]] for k in range(4)]
    processes = [subprocess.Popen([sys.executable, "-c", code, *part], stdin=subprocess.PIPE) for part in parts]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    assert [process.wait(timeout=120) for process in processes] == [0] * 4
    assert {Path(run.folder) for run in recent_runs()} == set(folders)
    assert not list(list_path().parent.glob("mine.json.[0-9]*"))
