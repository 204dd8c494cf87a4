"""Uploads: counted while they arrive, kept apart, and nothing but plain files of scenes and meshes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from supple.cli.view import make_scene
from supple.errors import InputError, SuppleError
from supple.studio.shelf.recent import list_path, note_run, recent_runs
from supple.studio.shelf.shelf import Shelf
from supple.studio.shelf.uploads import KEPT, TooLargeError, Uploads

SCENE = b'supple = 1\n[[bodies]]\nname = "ball"\nkind = "rigid"\nsphere = { radius = 0.1 }\ndensity = 500\n'


async def parts(*given: bytes) -> AsyncIterator[bytes]:
    for part in given:
        yield part


def take(uploads: Uploads, name: str, *given: bytes, key: str = "") -> str:
    return asyncio.run(uploads.take(key, name, parts(*given)))


@pytest.fixture
def uploads() -> Uploads:
    return Uploads(largest=1000)


def test_files_are_kept_and_removed_in_the_end(uploads: Uploads) -> None:
    key = take(uploads, "Ball (2).toml", SCENE[:20], SCENE[20:])
    path = uploads.scene(key)
    assert path.read_bytes() == SCENE
    take(uploads, "mesh.vtu", b"x", key=key)
    assert uploads.scene(key) == path
    others = [take(uploads, "a.toml", SCENE) for _ in range(KEPT)]
    assert not path.exists()
    assert uploads.scene(others[0]).exists()
    top = uploads.top
    uploads.close()
    assert top is not None
    assert not top.exists()


def test_too_much_is_refused_while_it_arrives(uploads: Uploads) -> None:
    seen = []

    async def endless() -> AsyncIterator[bytes]:
        while True:
            seen.append(1)
            yield bytes(100)

    key = take(uploads, "a.toml", bytes(500))
    with pytest.raises(TooLargeError, match="too large"):
        asyncio.run(uploads.take(key, "b.vtu", endless()))
    assert len(seen) == 6  # of what is left beside the other file
    assert [path.name for path in uploads.folder(key).iterdir()] == ["a.toml"]


@pytest.mark.parametrize(
    "name",
    ["scene.py", "scene.PY", "scene.zip", "../a.toml", "a/b.toml", "..\\a.toml", ".toml", "", "a.toml\n",
     "a\0.toml", "/etc/passwd", "C:\\a.toml", "x" * 200 + ".toml", " a.toml", "scene.toml.exe", "scene"],
)  # fmt: skip
def test_other_names_and_kinds_are_refused(uploads: Uploads, name: str) -> None:
    with pytest.raises(InputError):
        take(uploads, name, SCENE)
    assert not uploads.folders


def test_an_upload_has_one_scene(uploads: Uploads) -> None:
    with pytest.raises(InputError, match="no such upload"):
        uploads.scene("0" * 32)
    key = take(uploads, "mesh.vtu", b"x")
    with pytest.raises(InputError, match="one scene"):
        uploads.scene(key)
    take(uploads, "base.vxa", b"x", key=key)
    take(uploads, "robot.vxd", b"x", key=key)
    assert uploads.scene(key).name == "robot.vxd"
    take(uploads, "other.vxd", b"x", key=key)
    with pytest.raises(InputError, match="one scene"):
        uploads.scene(key)


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01\x02", b"supple = 1\n[[bodies", b"supple = " + b"[" * 800,
        b'supple = 1\n[[bodies]]\nname = "a"\nkind = "fem"\nmesh = "../../../../etc/passwd"\n',
        b'supple = 1\n[[bodies]]\nname = "a"\nkind = "fem"\nmesh = "/etc/passwd"\n',
    ],
)  # fmt: skip
def test_broken_and_hostile_scenes_give_a_sentence(uploads: Uploads, data: bytes) -> None:
    shelf = Shelf({}, make_scene)
    shelf.uploads = uploads
    make, name = shelf.uploaded(take(uploads, "scene.toml", data))
    assert name == "scene.toml"
    with pytest.raises(SuppleError):
        make()


def test_recent_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    assert recent_runs() == []
    for name in ("a", "b", "gone"):
        (tmp_path / name).mkdir()
        if name != "gone":
            (tmp_path / name / "record.vtkhdf").write_bytes(b"")
        note_run(tmp_path / name, "oak")
    note_run(tmp_path / "a", "flower")
    assert [(Path(run.folder).name, run.scene) for run in recent_runs()] == [("a", "flower"), ("b", "oak")]
    for broken in ("", "[", "[3]", '{"a": 1}', '[{"folder": 1}]'):
        list_path().write_text(broken)
        assert recent_runs() == []
    note_run(tmp_path / "a", "flower")
    assert len(recent_runs()) == 1
