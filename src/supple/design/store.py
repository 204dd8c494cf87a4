"""Store: results of evaluations and their designs in one SQLite file, one row a key.

The file is written in SQLite's write-ahead mode: a result that was added is kept when the process dies, and others may
read while one writes. It holds its version, and which Supple its results are of: another one may read it, and is
refused where it wants to write, since the results of two would lie in one table. Every row of results holds a hash of
its content, and designs are named by theirs, so that damage is noticed where SQLite itself sees none. Write-ahead files
need a local disk.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from math import inf
from pathlib import Path
from typing import Any

from supple.design.content import content_key
from supple.design.designs import Design
from supple.design.origin import Origin, origin
from supple.design.results import Result
from supple.design.salvaging import readable_rows
from supple.errors import InputError, RecordError, SuppleError, check_flag, check_path
from supple.record.files.lock import FileLock

VERSION = 2
APPLICATION = 0x53757070
"""Who wrote the file, in its header: "Supp"."""
COLUMNS = "key, design, outcome, scores, seconds, message, hash"
_TABLES = (
    "CREATE TABLE designs (key TEXT PRIMARY KEY, data TEXT NOT NULL)",
    "CREATE TABLE results (key TEXT PRIMARY KEY, design TEXT NOT NULL, outcome TEXT NOT NULL, scores TEXT NOT NULL,"
    " seconds REAL NOT NULL, message TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE origin (version TEXT NOT NULL, sources TEXT NOT NULL)",
)
ROOM = 64 * 1024
"""What SQLite needs on the disk to open a store, or more; with less its files fail in other words [bytes]."""
_BUSY = 30.0  # [s] to wait for another process that reads or tidies up


class Store:
    """Results by key, and the designs they are of; a context manager.

    path: the file; it is made where it is not there. write: False to read one that another process may be writing, or
    that another Supple has written.

    >>> import tempfile
    >>> from supple.design import Design, Result, Store
    >>> design = Design([[[1, 1]]])
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/walkers.db") as store:
    ...     store.add(Result("k", design.key(), "finished", {"travel": 0.25}), design)
    ...     store.get("k").scores["travel"], store.design(design.key()) == design, len(store)
    (0.25, True, 1)
    """

    def __init__(self, path: str | os.PathLike[str], *, write: bool = True) -> None:
        check_flag(write, name="write", where="Store")
        self.path, self.write = check_path(path, where="Store"), write
        if not self.path.parent.is_dir() or self.path.is_dir() or (not write and not self.path.exists()):
            raise RecordError("there is no such file or folder", where=str(self.path), fix="Make its folder first.")
        self._lock = FileLock(self.path.with_name(self.path.name + ".lock"), self.path) if write else None
        try:
            with self._told():
                self._file = _connected(self.path, write=write)
            try:
                with self._told():
                    self._check()
            except BaseException:
                self._file.close()
                raise
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let others write; a second call does nothing."""
        try:
            self._file.close()
        finally:
            self._release()

    @property
    def origin(self) -> Origin:
        """The Supple that its results are of."""
        with self._told():
            row = self._file.execute("SELECT version, sources FROM origin").fetchone()
        if row is None:
            raise self._damaged("it does not say which Supple wrote it")
        return Origin(*map(str, row))

    def __len__(self) -> int:
        """How many results there are."""
        with self._told():
            return int(self._file.execute("SELECT count(*) FROM results").fetchone()[0])

    def get(self, key: str) -> Result | None:
        """The result of a key, or None."""
        with self._told():
            row = self._file.execute(f"SELECT {COLUMNS} FROM results WHERE key = ?", (key,)).fetchone()
        return None if row is None else self._result(row)

    def add(self, result: Result, design: Design) -> None:
        """Keep a result and its design; a result of the same key is replaced."""
        if result.design != design.key():
            raise InputError("the result is of another design", where=f"store {self.path}", value=result.design,
                             allowed=design.key())  # fmt: skip
        if not self.write:
            raise InputError("the store was opened to be read", where=str(self.path), fix="Open it with write=True.")
        row = _row(result)
        with self._told(), self._transaction():
            known = self._file.execute("SELECT 1 FROM designs WHERE key = ?", (result.design,)).fetchone()
            if known is None:
                data = json.dumps(design.to_json(), separators=(",", ":"))
                self._file.execute("INSERT INTO designs VALUES (?, ?)", (result.design, data))
            changes = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS.split(", ")[1:])
            marks = ", ".join("?" * len(row))
            self._file.execute(
                f"INSERT INTO results ({COLUMNS}) VALUES ({marks}) ON CONFLICT (key) DO UPDATE SET {changes}", row
            )

    def results(self) -> Iterator[Result]:
        """All results, in the order in which their keys were first added."""
        with self._told():
            for row in self._file.execute(f"SELECT {COLUMNS} FROM results ORDER BY rowid"):
                yield self._result(row)

    def design(self, key: str) -> Design:
        """The design of a key, as `Result.design` names it."""
        with self._told():
            row = self._file.execute("SELECT data FROM designs WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise InputError("the store has no such design", where=str(self.path), value=key,
                             allowed="Result.design of one of its results")  # fmt: skip
        design = _design(key, row[0])
        if design is None:
            raise self._damaged(f"design {key[:12]} has another content than its key says")
        return design

    def export_csv(self, path: str | os.PathLike[str]) -> int:
        """Write a table of all results, a column a measure, and say how many rows it has. Scores are not rounded."""
        names = sorted({name for result in self.results() for name in result.scores})
        try:
            with open(path, "w", newline="", encoding="utf-8") as file:
                table = csv.writer(file)
                table.writerow(["key", "design", "outcome", *names, "seconds", "message"])
                count = 0
                for result in self.results():
                    count += 1
                    scores = [repr(result.scores[name]) if name in result.scores else "" for name in names]
                    table.writerow(
                        [result.key, result.design, result.outcome, *scores, repr(result.seconds), result.message]
                    )
        except OSError as error:
            fix = "Choose a file that can be written, on a disk with free space."
            raise RecordError(f"the table cannot be written: {error.strerror}", where=str(path), fix=fix) from error
        return count

    @staticmethod
    def recover(path: str | os.PathLike[str], to: str | os.PathLike[str]) -> int:
        """Copy what can be read of a damaged store into a new one, and say how many results that is.

        Results and designs whose content is not what their hash says are left out, and so are results without a design.
        The new store is of the Supple that wrote the damaged one, as far as that can be read.
        """
        source, target = Path(path), Path(to)
        if not source.is_file() or target.exists():
            raise RecordError("a store is recovered from a file that is there into one that is not", where=str(source),
                              value=str(target), fix="Name a new file.")  # fmt: skip
        count = 0
        with Store(target) as store:
            try:
                with closing(_connected(source, write=True)) as file:
                    store._set_origin(next(readable_rows(file, "origin", "version, sources"), None))
                    for row in readable_rows(file, "results", COLUMNS):
                        design = _found_design(file, row[1])
                        if design is not None and (result := _checked(row)) is not None:
                            store.add(result, design)
                            count += 1
            except sqlite3.Error as error:
                what, fix = f"nothing more can be read: {error}", "Take a whole copy of the file, or start a new store."
                raise RecordError(what, where=str(source), value=f"{count} results", fix=fix) from error
        return count

    def _check(self) -> None:
        """Refuse what is no store of this version or is damaged; make the tables of a new one."""
        application, version = (self._pragma(name) for name in ("application_id", "user_version"))
        tables = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if (application, version, tables) == (0, 0, 0) and self.write:
            self._pragma("journal_mode = WAL")
            with self._transaction():
                for table in _TABLES:
                    self._file.execute(table)
                self._file.execute("INSERT INTO origin VALUES (?, ?)", origin())
                self._pragma(f"application_id = {APPLICATION}")
                self._pragma(f"user_version = {VERSION}")
        elif application != APPLICATION:
            raise RecordError("this SQLite file is not a store of results", where=str(self.path),
                              fix="Choose another file.")  # fmt: skip
        elif version != VERSION:
            raise RecordError("the store has another version", where=str(self.path), value=version,
                              allowed=f"version {VERSION}",
                              fix="Use the Supple that wrote it to export_csv, or choose a new file.")  # fmt: skip
        elif (found := self._pragma("quick_check(1)")) != "ok":
            raise self._damaged(str(found))
        elif self.write and self.origin != origin():
            fix = "Choose a new file, or go on with the Supple that wrote it; write=False reads it."
            raise RecordError("the store has results of another Supple", where=str(self.path), value=str(self.origin),
                              allowed=str(origin()), fix=fix)  # fmt: skip
        self._pragma("synchronous = NORMAL")

    def _set_origin(self, row: tuple[Any, ...] | None) -> None:
        if row is not None:
            self._file.execute("UPDATE origin SET version = ?, sources = ?", tuple(map(str, row)))

    def _pragma(self, text: str) -> Any:
        row = self._file.execute(f"PRAGMA {text}").fetchone()
        return row[0] if row else None

    def _result(self, row: tuple[Any, ...]) -> Result:
        result = _checked(row)
        if result is None:
            raise self._damaged(f"result {str(row[0])[:12]} has another content than its hash says")
        return result

    def _damaged(self, what: str) -> RecordError:
        return RecordError(f"the store is damaged: {what}", where=str(self.path),
                           fix="Copy what can be read: Store.recover(path, to).")  # fmt: skip

    def _free(self) -> float:
        """Space that is left on the disk [bytes]."""
        try:
            return shutil.disk_usage(self.path.parent).free
        except OSError:
            return inf

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._file.execute("COMMIT")
        except BaseException:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of SQLite as a RecordError that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._error(error) from error

    def _error(self, error: sqlite3.Error) -> SuppleError:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        where = str(self.path)
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return self._damaged(str(error))
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and self._free() < ROOM):
            return RecordError("the disk is full", where=where,
                               fix="Free some space and go on: what was stored before is kept.")  # fmt: skip
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return RecordError("another process is using the store", where=where, fix="Wait for it to end.")
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return RecordError(f"the store cannot be opened or written: {error}", where=where,
                               fix="Choose a folder that can be written, or open it with write=False.")  # fmt: skip
        return RecordError(f"the store failed: {error}", where=where, fix="See that its disk is well and is local.")


def _connected(path: Path, *, write: bool) -> sqlite3.Connection:
    mode = "rwc" if write else "ro"
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=_BUSY, isolation_level=None)


def _row(result: Result) -> tuple[Any, ...]:
    scores = json.dumps(dict(result.scores))  # in their own order: tables of a resumed search are those of a whole one
    row = (result.key, result.design, result.outcome, scores, float(result.seconds), result.message)
    return (*row, content_key(*row))


def _checked(row: tuple[Any, ...]) -> Result | None:
    """The result of a row, or None where it is not what was written."""
    *content, written = row
    key, design, outcome, scores, seconds, message = content
    if content_key(*content) != written:
        return None
    return Result(key, design, outcome, json.loads(scores), seconds, message)


def _design(key: str, data: Any) -> Design | None:
    """The design of what was written, or None where it is not that of the key."""
    try:
        design = Design.from_json(json.loads(data))
    except (ValueError, TypeError, SuppleError):
        return None
    return design if design.key() == key else None


def _found_design(file: sqlite3.Connection, key: Any) -> Design | None:
    try:
        row = file.execute("SELECT data FROM designs WHERE key = ?", (key,)).fetchone()
    except sqlite3.DatabaseError:
        return None
    return None if row is None else _design(key, row[0])
