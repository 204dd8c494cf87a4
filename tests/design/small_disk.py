"""A disk that is full soon, for tests: a file system of its own in memory, where this machine lets one be mounted."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


class SmallDisk:
    """path: its folder. size: "256k"."""

    def __init__(self, path: Path, size: str) -> None:
        self.path = path
        path.mkdir()
        self._mount(f"size={size}")

    def _mount(self, options: str) -> None:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.path)], capture_output=True)
        if done.returncode:
            pytest.skip("this machine lets no file system be mounted")

    def grow(self, size: str) -> None:
        """Free some space."""
        self._mount(f"remount,size={size}")

    def end(self) -> None:
        """Take it away."""
        subprocess.run(["umount", str(self.path)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of 256 KiB."""
    try:
        disk = SmallDisk(tmp_path / "disk", "256k")
    except OSError:
        pytest.skip("there is no mount on this machine")
    yield disk
    disk.end()
