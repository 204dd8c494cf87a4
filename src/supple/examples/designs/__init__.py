"""Built-in studies: searches for robots as data, each one a file; `supple design NAME` runs them."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

_NAMES = ("evolve-walker", "map-of-gaits", "swim")


def study_file(name: str) -> Path:
    """The file of a built-in study."""
    return Path(str(files("supple.examples.designs") / f"{name}.toml"))


def studies() -> dict[str, str]:
    """Built-in studies by name, with what each one is."""
    return {name: str(tomllib.loads(study_file(name).read_text("utf-8"))["summary"]) for name in _NAMES}
