"""Where in a file something stands: errors that carry it, and the files a scene file may name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from supple.errors import FileFormatError, MissingExtraError, SuppleError


@dataclass(frozen=True)
class Place:
    """A scene file, and a path of keys in it. outside: whether it may name files outside its own folder."""

    file: Path
    keys: str = ""
    outside: bool = False

    def at(self, keys: str) -> Place:
        """A place in the same file."""
        return Place(self.file, keys, self.outside)

    def error(self, what: str, **fields: str | None) -> FileFormatError:
        """An error about this place."""
        where = f"{self.file.name}, {self.keys}" if self.keys else self.file.name
        return FileFormatError(what, where=where, **fields)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Errors from inside name this place."""
        where = f"{self.file.name}, {self.keys}" if self.keys else self.file.name
        try:
            yield
        except MissingExtraError:
            raise
        except SuppleError as error:
            if error.where:
                where = error.where if error.where.startswith(self.file.name) else f"{where}, {error.where}"
            raise FileFormatError(
                error.what, where=where, value=error.value, allowed=error.allowed, fix=error.fix
            ) from error
        except (ValueError, TypeError, ArithmeticError) as error:
            reason = " ".join(str(error).split())[:200].rstrip(".")
            raise FileFormatError(f"the values do not fit together: {reason}", where=where) from error

    def named_file(self, name: str) -> Path:
        """The file a scene file names, inside the scene file's folder unless `outside` is allowed."""
        folder = self.file.resolve().parent
        path = Path(name) if Path(name).is_absolute() else folder / name
        try:
            inside = path.resolve().is_relative_to(folder)
        except (OSError, ValueError, RuntimeError) as error:
            raise self.error("this is not the name of a file") from error
        if not inside and not self.outside:
            raise self.error(
                f"the file '{name}' lies outside the scene file's folder",
                fix="Put it beside the scene file, or load with supple.load(path, outside=True).",
            )
        return path
