"""Origin: which Supple computes a score: its version and a hash of all sources that a score is made of.

A version says too little: sources change between two releases, and with them the last bits of scores. The hash is of
every module of the package but those that only show, compare, search or keep, and of the versions of Numba and NumPy.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np

import supple
from supple.algebra.compiling.compiled import PACKAGE

WITHOUT = (
    "bench", "canvas", "cli", "design/encodings", "design/environments", "design/population", "design/salvaging.py",
    "design/search", "design/store.py", "design/study", "examples", "exports", "studio", "validation",
)  # fmt: skip
"""Folders and modules of the package that no score depends on."""


class Origin(NamedTuple):
    """version: of Supple. sources: hash of what it computes with, as hexadecimal text."""

    version: str
    sources: str

    def __str__(self) -> str:
        return f"Supple {self.version}, sources {self.sources[:12]}"


def origin() -> Origin:
    """Of this Supple.

    >>> len(origin().sources)
    64
    """
    return Origin(supple.__version__, sources_hash(PACKAGE))


@cache
def sources_hash(package: Path) -> str:
    """SHA-256 of the modules of a package's folder that scores depend on, by their names and texts."""
    digest = hashlib.sha256(f"numba {numba.__version__} numpy {np.__version__}".encode())
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if not any(name == left or name.startswith(f"{left}/") for left in WITHOUT):
            text = path.read_bytes()
            digest.update(f"\n{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()
