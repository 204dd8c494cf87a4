"""`compiled`: how every kernel of the package is compiled by Numba, with a cache that cannot go stale.

Contraction is the only floating-point freedom given to the compiler: reassociation would make results depend on the
number of threads. Numba's on-disk cache looks at the file of the decorated function only and misses a change of a
callee in another file; so the cache folder is named after a hash of all sources that hold compiled code.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
import platformdirs

PACKAGE = Path(__file__).resolve().parent.parent


def cache_root() -> Path:
    """The folder for everything Supple caches: `$SUPPLE_CACHE`, or the platform's cache folder."""
    return Path(os.environ.get("SUPPLE_CACHE") or platformdirs.user_cache_dir("supple"))


@cache
def kernel_cache() -> Path:
    """The folder of compiled kernels that belongs to exactly these sources and this Numba."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"@compiled" in source or b"@intrinsic" in source:
            digest.update(path.relative_to(PACKAGE).as_posix().encode())
            digest.update(source)
    return cache_root() / "kernels" / digest.hexdigest()[:16]


@contextmanager
def _numba_cache_folder() -> Iterator[None]:
    config: Any = numba.config  # its settings are made at run time, unknown to type checkers
    before = config.CACHE_DIR
    config.CACHE_DIR = str(kernel_cache())
    try:
        yield
    finally:
        config.CACHE_DIR = before


def compiled(
    function: Callable[..., Any] | None = None, *, parallel: bool = False, inline: bool = False, borrows: bool = False
) -> Any:
    """Decorate a module-level kernel: no Python objects, no GIL, cached on disk, contraction only.

    parallel: the kernel contains `numba.prange`. inline: inline at LLVM level into its callers (small formulas).
    borrows: arrays are not reference-counted inside, and nothing can be allocated; counting the arrays of a named tuple
    at each inner call makes a sweep three times slower. Inlined formulas always borrow.
    """

    options: dict[str, Any] = {
        "cache": not inline,
        "nogil": True,
        "parallel": parallel,
        "error_model": "numpy",
        "fastmath": {"contract"},
        "forceinline": inline,
        "_nrt": not (inline or borrows),
    }

    def decorate(fn: Callable[..., Any]) -> Any:
        with _numba_cache_folder():
            return numba.njit(fn, **options)

    return decorate if function is None else decorate(function)
