"""FileLock, FolderLock: one run at a time writes into a file or a folder.

The lock is the operating system's, on a file beside what it guards: it ends with its process, however that ends. A
folder is locked by its file `record.lock` before anything in it is changed, so that a run that is refused leaves the
other's files as they are.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from supple.errors import RecordError
from supple.record.files.disk import record_errors

LOCK_NAME = "record.lock"
_HELD = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK)
_UNKNOWN = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)  # file systems without locks are written without one


class FileLock:
    """A lock on `path`, until `release`; refuses one that another run holds. guarded: the file or folder it is for.

    The file is removed at the end. Another process may have opened it before and lock it after: it then holds a file
    that is gone, sees this, and tries again.
    """

    def __init__(self, path: Path, guarded: Path, *, kind: str = "file") -> None:
        self.path, self.guarded, self.kind, self.released = path, guarded, kind, False
        with record_errors(guarded, f"the {kind} cannot be locked"):
            while not self._take():
                pass

    def _take(self) -> bool:
        self.descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(self.descriptor)
            if _is_same(self.descriptor, self.path):
                return True
        except OSError as error:
            os.close(self.descriptor)
            if error.errno not in _HELD:
                raise
            raise RecordError(
                f"another run is writing into this {self.kind}",
                where=str(self.guarded),
                fix=f"Choose another {self.kind}, or wait for that run to end.",
            ) from error
        os.close(self.descriptor)
        return False

    def release(self) -> None:
        """Let other runs write; a second call does nothing."""
        if self.released:
            return
        self.released = True
        with contextlib.suppress(OSError):  # on Windows an open file cannot be removed; it does no harm
            self.path.unlink()
        with contextlib.suppress(OSError):
            os.close(self.descriptor)


class FolderLock(FileLock):
    """A locked folder, until `release`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / LOCK_NAME, folder, kind="folder")


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise


def _is_same(descriptor: int, path: Path) -> bool:
    """Whether a path still names the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
