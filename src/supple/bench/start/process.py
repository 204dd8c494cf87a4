"""Processes of their own, with a cache of kernels in a folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from supple.bench.checkout import own_sources
from supple.errors import SuppleError


def run_python(case: str, folder: str, *arguments: str, byte_code: str | None = None) -> str:
    """What Python prints in a process whose cache is in the folder.

    byte_code: a folder for the byte code of all modules, in place of the one beside each of them.
    """
    environment = {**os.environ, "SUPPLE_CACHE": str(Path(folder) / "cache"), "PYTHONPATH": str(own_sources())}
    if byte_code is not None:
        environment["PYTHONPYCACHEPREFIX"] = byte_code
    ended = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SuppleError("the new process failed", where=case, value=ended.stderr.strip()[-200:])
    return ended.stdout


def processor_time() -> float:
    """Seconds that processes started by this one, and ended, have computed."""
    used = os.times()
    return used.children_user + used.children_system
