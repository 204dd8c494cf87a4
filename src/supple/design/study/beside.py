"""Functions in Python files beside a study, which it names as "module:function"."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path


def let_import_beside(file: Path, names: Iterable[str]) -> None:
    """Let modules beside a study's file be imported, where a name needs one: by this process and by workers that it
    spawns. Installed modules of the same name come first.
    """
    folder = str(file.resolve().parent)
    if folder not in sys.path and any(":" in name for name in names):
        sys.path.append(folder)
