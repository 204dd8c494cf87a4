"""What was seen in the studio as a scene file: the scene, and as events what was changed and pulled at."""

from __future__ import annotations

import io
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from supple.errors import InputError, SuppleError
from supple.files import RunSettings, save
from supple.scene.events import events_of
from supple.scene.scene import Scene
from supple.scene.state import State


class SavedScene(NamedTuple):
    """The name and the bytes of a file for a person to keep: TOML, or an archive where the scene has further files."""

    name: str
    data: bytes


def save_seen(scene: Scene, state: State, dt: float, step: int) -> SavedScene:
    """The scene with all that led to a state after so many steps of dt [s]: its run ends in the same bits."""
    seen = replace(scene, events=events_of(state, dt))
    run = RunSettings(until=step * dt if step else None, dt=dt)
    stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in scene.name)[:60] or "scene"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{stem}-seen.toml"
        try:
            save(seen, path, run=run, example=scene.example)
        except SuppleError as error:
            raise InputError(
                f"this scene cannot be saved as a file: {error.what}", where=error.where, value=error.value,
                fix="Scenes with functions of Python are kept as .py files: repeat there what you have changed, by "
                "system.change in on_step of supple.run.",
            ) from error  # fmt: skip
        files = sorted(found for found in Path(folder).rglob("*") if found.is_file())
        if files == [path]:
            return SavedScene(path.name, path.read_bytes())
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for found in files:
                archive.write(found, found.relative_to(folder))
        return SavedScene(f"{path.stem}.zip", packed.getvalue())
