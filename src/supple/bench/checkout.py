"""Another checkout of this project to measure against: a folder that holds one, or a revision in a git worktree.

The place of the worktree and the times of its files depend on the commit alone, because Numba's cache looks at both.
A commit that was measured before finds its compiled kernels again.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import supple
from supple.algebra.compiling.compiled import cache_root
from supple.errors import InputError


def own_sources() -> Path:
    """The folder from which this package is imported."""
    return Path(supple.__file__).resolve().parents[1]


@contextmanager
def other_sources(given: str) -> Iterator[Path]:
    """The `src` folder of another checkout. given: its folder, or a revision, which is checked out meanwhile."""
    if (Path(given) / "src" / "supple").is_dir():
        yield Path(given).resolve() / "src"
        return
    repository = find_repository()
    commit = find_commit(repository, given)
    place = cache_root() / "against" / commit
    try:
        place.mkdir(parents=True)
    except FileExistsError:
        fix = f"Wait for the other comparison to end; if there is none: git worktree remove --force {place}"
        raise InputError("this revision is being measured already", where="--against", value=given, fix=fix) from None
    try:
        check_out(repository, commit, place)
        if not (place / "src" / "supple").is_dir():
            raise InputError("this revision has no folder src/supple", where="--against", value=given)
        yield place / "src"
    finally:
        remove(repository, place)


def find_repository() -> Path:
    """The git repository that holds this package's sources."""
    sources = own_sources()
    found = git(sources, "rev-parse", "--show-toplevel")
    root = Path(found.stdout.strip())
    if found.returncode or not (root / "src").is_dir() or not (root / "src").samefile(sources):
        fix = "Run it in a git checkout of Supple, or give --against the folder of another checkout."
        raise InputError("Supple is not imported from a git checkout", where="--against", value=str(sources), fix=fix)
    return root


def find_commit(repository: Path, revision: str) -> str:
    """The full hash of a revision."""
    found = git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found.returncode:
        fix = "`git log --oneline` lists revisions; one of a remote needs `git fetch` first."
        what = "neither a revision of this repository nor a folder with src/supple"
        raise InputError(what, where="--against", value=revision, fix=fix)
    return found.stdout.strip()


def check_out(repository: Path, commit: str, place: Path) -> None:
    """A detached worktree at `place`, an empty folder; its sources are dated as the commit is."""
    made = git(repository, "worktree", "add", "--detach", "--quiet", str(place), commit)
    if made.returncode:
        lines = made.stderr.strip().splitlines() or ["no reason given"]
        raise InputError(f"git cannot check it out: {lines[-1]}", where="--against", value=commit)
    date = int(git(repository, "show", "-s", "--format=%ct", commit).stdout)
    for path in place.glob("src/**/*.py"):
        os.utime(path, (date, date))


def remove(repository: Path, place: Path) -> None:
    """Remove a worktree, whatever is left of it; Ctrl-C waits until this is done."""
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_main else None
    try:
        git(repository, "worktree", "remove", "--force", str(place))
        shutil.rmtree(place, ignore_errors=True)
    finally:
        if is_main:
            signal.signal(signal.SIGINT, before)


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git in a folder, out of reach of the terminal's Ctrl-C and of a surrounding git's variables."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, start_new_session=True
        )
    except FileNotFoundError:
        fix = "Install git, or give --against the folder of another checkout."
        raise InputError("git is not installed", where="--against", fix=fix) from None
