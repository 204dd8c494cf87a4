"""FolderLock: one run at a time writes into a folder.

The lock is the operating system's, on the file `record.lock`: it ends with its process, however that ends. A folder is
locked before anything in it is changed, so that a run that is refused leaves the other's files as they are.
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


class FolderLock:
    """A locked folder, until `release`; refuses a folder that another run has locked.

    The file is removed at the end. Another process may have opened it before and lock it after: it then holds a file
    that is gone, sees this, and tries again.
    """

    def __init__(self, folder: Path) -> None:
        self.path, self.released = folder / LOCK_NAME, False
        with record_errors(folder, "the folder cannot be locked"):
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
                "another run is writing into this folder",
                where=str(self.path.parent),
                fix="Choose another folder, or wait for that run to end.",
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
