"""Reading files that strangers made: every failure becomes one sentence with the file's name."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from supple.errors import FileFormatError, InputError, SuppleError

MAX_BYTES = 1 << 30
"""A mesh file may have: some ten million elements."""


@contextlib.contextmanager
def open_plain(path: Path) -> Iterator[BinaryIO]:
    """A file to read; refuses pipes, devices and folders, which would hang or never end.

    Opening does not wait, as it would for a pipe that nobody writes to.
    """
    flags = getattr(os, "O_NONBLOCK", 0)
    try:
        with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise FileFormatError(
                    "the file cannot be read: it is a pipe or a device", where=str(path), allowed="files on a disk"
                )
            yield file
    except OSError as error:
        raise FileFormatError(f"the file cannot be read: {error.strerror}", where=str(path)) from error


def read_bounded(path: Path, at_most: int, *, fix: str | None = None) -> bytes:
    """All bytes of a file; refuses what is missing, is no file, or is larger than `at_most` bytes."""
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        check_size(size, path, at_most, fix=fix)
        return file.read(size)


def check_size(size: int, path: Path, at_most: int = MAX_BYTES, *, fix: str | None = None) -> None:
    """Refuse a file of more bytes, as it is or as it would unpack."""
    if size > at_most:
        raise FileFormatError(
            "the file is too large", where=path.name, value=f"{size} bytes", allowed=f"{at_most} bytes", fix=fix
        )


def read_bytes(path: Path) -> bytes:
    """All bytes of a file; refuses what is missing, is no file, is empty, or larger than `MAX_BYTES`."""
    data = read_bounded(path, MAX_BYTES)
    if not data:
        raise FileFormatError("the file is empty", where=path.name)
    return data


def read_text(path: Path) -> str:
    """All text of a file; refuses binary content."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"the file is not text: byte {error.start} cannot be read", where=path.name) from error
    if "\x00" in text:
        raise FileFormatError("the file is not text: it holds zero bytes", where=path.name)
    return text


@contextlib.contextmanager
def guarded(path: Path, what: str) -> Iterator[None]:
    """Turn whatever a library does on a bad file, exits and prints included, into a FileFormatError.

    what: what was expected, "a VTK file".
    """
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    except FileFormatError:
        raise
    except InputError as error:
        raise relocated(error, path) from error
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise FileFormatError(f"the file is damaged, cut short or not {what}: {reason}", where=path.name) from error


def relocated(error: SuppleError, path: Path) -> FileFormatError:
    """The same complaint about a mesh, as one about the file it came from."""
    where = f"{path.name}, {error.where}" if error.where else path.name
    return FileFormatError(error.what, where=where, value=error.value, allowed=error.allowed, fix=error.fix)


def check_claim(count: int, at_most: int, what: str, where: str) -> None:
    """Refuse a number of things that the file is too small to hold."""
    if count < 0 or count > at_most:
        raise FileFormatError(
            f"the file claims {count} {what}, more than it can hold", where=where, allowed=f"0 to {at_most}"
        )
