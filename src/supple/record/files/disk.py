"""Workspace on the disk, and errors of the file system told as `RecordError`."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from supple.errors import RecordError, SuppleError

RESERVE = 1 << 20  # bytes left free beside a frame: tables and the file's own bookkeeping


def check_space(folder: Path, needed: int) -> None:
    """Refuse to start writing what does not fit. needed: bytes."""
    with record_errors(folder, "the free space cannot be read"):
        free = shutil.disk_usage(folder).free
    if free < needed + RESERVE:
        raise RecordError(
            f"the disk is full: {_size(needed + RESERVE)} are needed, {_size(free)} are free",
            where=str(folder),
            fix="Free some space, or record less often with record_every; what was written can be read.",
        )


def reserve(descriptor: int, size: int, path: Path) -> None:
    """Give an open file room for `size` bytes, so that writing them cannot fail later.

    HDF5 does not survive a write that fails half-way: the workspace is taken before it is asked to write.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    with record_errors(path, f"there is no room for {_size(size)}"):
        try:
            os.posix_fallocate(descriptor, 0, size)
        except OSError as error:
            if error.errno not in (
                errno.EINVAL,
                errno.EOPNOTSUPP,
                errno.ENOSYS,
            ):  # not known to this file system
                raise


@contextmanager
def record_errors(path: Path, what: str) -> Iterator[None]:
    """Tell errors of the file system and of HDF5 as a RecordError about `path`."""
    try:
        yield
    except SuppleError:
        raise
    except (OSError, RuntimeError, ValueError, KeyError, EOFError) as error:
        raise RecordError(f"{what}: {_reason(error)}", where=str(path), fix=_fix(error)) from error


@contextmanager
def damage_errors(path: Path, what: str) -> Iterator[None]:
    """Tell whatever reading a damaged file, or a stranger's, leads to as a RecordError about `path`."""
    try:
        yield
    except SuppleError:
        raise
    except Exception as error:
        fix = (
            _fix(error)
            or "It is damaged, or Supple did not write it: start the run anew, or take a copy that is whole."
        )
        raise RecordError(f"{what}: {_reason(error)}", where=str(path), fix=fix) from error


def make_folder(folder: Path) -> None:
    """The folder of a record, with those above it."""
    with record_errors(folder, "the folder cannot be made"):
        folder.mkdir(parents=True, exist_ok=True)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return (str(error).splitlines() or [type(error).__name__])[0]


def _fix(error: Exception) -> str | None:
    number = error.errno if isinstance(error, OSError) else None
    text = str(error).lower()
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or "no space left" in text:
        return "Free some space on the disk, or record less often with record_every."
    if number in (errno.EACCES, errno.EPERM, errno.EROFS) or "permission denied" in text:
        return "Choose a folder that can be written to."
    if number in (errno.EAGAIN, errno.EWOULDBLOCK) or "unable to lock file" in text:
        return "Another run is writing there; choose another folder or wait for it to end."
    if number in (errno.EEXIST, errno.ENOTDIR):
        return "A file is in the way; choose another folder."
    return None


def _size(count: int) -> str:
    return f"{count / 2**20:.1f} MiB" if count < 2**30 else f"{count / 2**30:.1f} GiB"
