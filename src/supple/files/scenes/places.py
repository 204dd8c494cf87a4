"""Where in a file something stands: errors that carry it, and the files a scene file may name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supple.errors import FileFormatError, MissingExtraError, SuppleError
from supple.files.scenes.section import one_line


@dataclass(frozen=True)
class Place:
    """A scene file, and a path of keys in it. outside: whether it may name files outside its own folder."""

    file: Path
    keys: str = ""
    outside: bool = False

    def at(self, keys: str) -> Place:
        """A place in the same file."""
        return Place(self.file, keys, self.outside)

    @property
    def where(self) -> str:
        """File and keys, as a person reads them."""
        return f"{self.file.name}, {one_line(self.keys)}" if self.keys else self.file.name

    def error(self, what: str, *, fix: str | None = None, value: Any = None, allowed: str | None = None) -> SuppleError:
        """An error about this place."""
        more = None if fix is None else one_line(fix)
        return FileFormatError(one_line(what), where=self.where, value=value, allowed=allowed, fix=more)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Errors from inside name this place."""
        try:
            yield
        except MissingExtraError:
            raise
        except SuppleError as error:
            if error.where and error.where.startswith(self.file.name):
                raise
            inner = f"{error.where}: " if error.where else ""
            raise self.error(inner + error.what, value=error.value, allowed=error.allowed, fix=error.fix) from error
        except (ValueError, TypeError, ArithmeticError) as error:
            raise self.error(f"the values do not fit together: {str(error).rstrip('.')}") from error

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
