"""What `pip install supple` alone downloads and takes on disk: a fresh environment, without extras.

    python tools/install_size.py            newest versions that fit; --pinned: those of constraints.txt

Download is the size of all wheels that pip fetches, the package's own included. On disk is what a fresh environment
grows by, with the modules that pip compiles; files count by their own sizes. Exit code 1 where a limit is not kept.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOWNLOAD, DISK = 150e6, 500e6
"""Limits [B]."""


def size_of(folder: Path) -> int:
    """Bytes of all files under a folder; links are not followed."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())


def install(pinned: bool) -> tuple[dict[str, int], int]:
    """Wheels and their sizes, and the growth of the environment [B]."""
    with tempfile.TemporaryDirectory() as folder:
        fresh, wheels = Path(folder) / "fresh", Path(folder) / "wheels"
        venv.create(fresh, with_pip=True)
        before = size_of(fresh)
        pip = [str(fresh / ("Scripts" if sys.platform == "win32" else "bin") / "python"), "-m", "pip"]
        quiet = ["--quiet", "--disable-pip-version-check"]
        versions = ["-c", str(ROOT / "constraints.txt")] if pinned else []
        subprocess.run([*pip, "wheel", *quiet, *versions, "-w", str(wheels), str(ROOT)], check=True)
        fetched = {wheel.name: wheel.stat().st_size for wheel in sorted(wheels.iterdir())}
        alone = ["--no-index", "--find-links", str(wheels)]
        subprocess.run([*pip, "install", *quiet, *alone, "supple"], check=True)
        return fetched, size_of(fresh) - before


def main() -> None:
    """Print the largest wheels, and both sums beside their limits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pinned", action="store_true", help="versions of constraints.txt")
    wheels, disk = install(parser.parse_args().pinned)
    for name, size in sorted(wheels.items(), key=lambda item: -item[1])[:8]:
        print(f"{size / 1e6:8.1f} MB  {name}")
    kept = True
    for label, size, limit in ((f"{len(wheels)} wheels", sum(wheels.values()), DOWNLOAD), ("on disk", disk, DISK)):
        kept &= size <= limit
        print(f"{size / 1e6:8.1f} MB  {label}, limit {limit / 1e6:.0f} MB{'' if size <= limit else ': FALLS SHORT'}")
    sys.exit(not kept)


if __name__ == "__main__":
    main()
