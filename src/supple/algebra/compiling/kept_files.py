"""`KeptFiles`: the files of one kernel in the cache, of which a damaged one counts as absent.

Numba writes a file under another name and renames it, but nothing makes sure that its bytes reach the disk first: a
machine that loses its power may keep an empty one, and Numba would fail at each start from then on.
"""

from __future__ import annotations

from typing import Any

from numba.core.caching import IndexDataCacheFile


class KeptFiles(IndexDataCacheFile):  # type: ignore[misc]
    """An index of machine code by the types of arguments, and a file for each."""

    def _load_index(self) -> dict[Any, str]:
        try:
            index = super()._load_index()
        except OSError:
            raise
        except Exception:  # what unpickling raises depends on the damage
            return {}
        return index if isinstance(index, dict) else {}

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except OSError:
            raise
        except Exception as error:
            raise OSError(f"{name} is damaged") from error  # taken as a file that is gone: it is written anew
