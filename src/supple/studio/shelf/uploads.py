"""Uploads: files that a person brings by the page, each upload in a folder of its own that ends with the studio.

A scene file may name others of the same upload and no others. Bytes are counted while they arrive. Nothing that is
uploaded is run as a program, and nothing is unpacked.
"""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from supple.errors import InputError
from supple.files.scenes.syntax import SUFFIXES, VOXCAD_SUFFIXES
from supple.geometry.files.mesh_files import SUFFIXES as MESH_SUFFIXES

LARGEST = 64 << 20
"""Bytes of an upload, all its files together."""
KEPT = 8
"""Uploads that are kept; the oldest go first."""
FILES = 64
"""Files of an upload."""
SCENES = (*SUFFIXES, *VOXCAD_SUFFIXES)
BESIDE = (*MESH_SUFFIXES, ".npz")
"""Kinds of files that a scene may name."""
NAME = re.compile(r"[^\W.][\w .()+-]{0,99}")


class TooLargeError(InputError):
    """An upload has more bytes than may be."""


def check_name(name: str) -> str:
    """A name that is safe as one of a file in a folder, of a kind that is taken."""
    if not NAME.fullmatch(name) or name != name.strip():
        raise InputError("this is not the plain name of a file", where="upload", value=name[:60],
                         allowed="letters, digits, spaces and . ( ) + - _, at most 100")  # fmt: skip
    suffix = Path(name).suffix.lower()
    if suffix == ".py":
        raise InputError("Python files are not taken: they would run as programs", where=name,
                         fix=f"Run it by `supple view {name}`.")  # fmt: skip
    if suffix not in (*SCENES, *BESIDE):
        fix = "Unpack it, and choose the scene and its files together." if suffix in (".zip", ".gz", ".tar") else None
        raise InputError("files of this kind are not taken", where=name, allowed=", ".join((*SCENES, *BESIDE)), fix=fix)
    return name


class Uploads:
    """Folders by their keys. largest: bytes of one, all its files together."""

    def __init__(self, largest: int = LARGEST) -> None:
        self.largest = largest
        self.top: Path | None = None
        self.folders: dict[str, Path] = {}

    async def take(self, key: str, name: str, arriving: AsyncIterator[bytes]) -> str:
        """Store a file in the upload of a key, or in a new one where it is empty; returns the key."""
        name = check_name(name)
        folder = self.folder(key) if key else None
        held = [] if folder is None else [path for path in folder.iterdir() if path.name != name]
        if len(held) >= FILES:
            raise InputError("an upload has too many files", where=name, allowed=f"at most {FILES}")
        room = self.largest - sum(path.stat().st_size for path in held)
        if folder is None:
            key, folder = self._make()
        path = folder / name
        try:
            with path.open("wb") as file:
                async for part in arriving:
                    room -= len(part)
                    if room < 0:
                        raise TooLargeError("the upload is too large", where=name, allowed=f"{self.largest >> 20} MB",
                                            fix="Open larger scenes by `supple view FILE`.")  # fmt: skip
                    file.write(part)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return key

    def folder(self, key: str) -> Path:
        """Of an upload that is kept."""
        if key not in self.folders:
            raise InputError("there is no such upload", where="upload", value=key[:60], fix="Choose the files again.")
        return self.folders[key]

    def scene(self, key: str) -> Path:
        """The scene file of an upload: the only one, or the one that changes a base."""
        found = [path for path in sorted(self.folder(key).iterdir()) if path.suffix.lower() in SCENES]
        changing = [path for path in found if path.suffix.lower() == ".vxd"]
        chosen = changing if len(changing) == 1 else found
        if len(chosen) != 1:
            names = ", ".join(path.name for path in found)
            raise InputError("an upload has one scene", where="upload", value=names or "none",
                             fix=f"Choose one of {', '.join(SCENES)}, and the meshes that it names.")  # fmt: skip
        return chosen[0]

    def _make(self) -> tuple[str, Path]:
        if self.top is None:
            self.top = Path(tempfile.mkdtemp(prefix="supple-uploads-"))
        while len(self.folders) >= KEPT:
            shutil.rmtree(self.folders.pop(next(iter(self.folders))), ignore_errors=True)
        key = secrets.token_hex(16)
        self.folders[key] = self.top / key
        self.folders[key].mkdir()
        return key, self.folders[key]

    def close(self) -> None:
        """Remove all."""
        if self.top is not None:
            shutil.rmtree(self.top, ignore_errors=True)
        self.top, self.folders = None, {}
