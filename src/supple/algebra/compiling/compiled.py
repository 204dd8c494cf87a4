"""`compiled`: how every kernel of the package is compiled by Numba, with a cache that cannot go stale.

Contraction is the only floating-point freedom given to the compiler: reassociation would make results depend on the
number of threads. Numba's on-disk cache looks at the file of the decorated function only and misses a change of a
callee in another file; so each module has a cache folder named after a hash of its own source and of all sources with
compiled code that it imports, directly or through others. The folder belongs to the sources wherever they lie: another
checkout with the same sources finds the kernels compiled.

How a kernel is compiled, and how kernels call each other, is in `kernel`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numba
import numba.extending
import platformdirs
from numba.core.caching import IndexDataCacheFile

from supple.algebra.compiling.kernel import Kernel, make_kernel

PACKAGE = Path(__file__).resolve().parents[2]
IMPORT = re.compile(rb"^[ ]*from (supple[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
"""The only form in which modules of this package import each other."""
COMPILING = __name__.rpartition(".")[0]
"""Modules of this folder are part of every kernel whose module imports them."""
HOW = [Path(__file__).with_name(name) for name in ("compiled.py", "kernel.py", "own_copies.py")]
"""What decides how a kernel is compiled, and so belongs to every kernel."""
OWN = uuid4().hex[:8]
"""In the names of files that this process writes: two that compile at once must not write one file for two kernels."""


def cache_root() -> Path:
    """The folder for everything Supple caches: `$SUPPLE_CACHE`, or the platform's cache folder."""
    return Path(os.environ.get("SUPPLE_CACHE") or platformdirs.user_cache_dir("supple"))


@cache
def _source(module: str, file: str = "") -> tuple[bytes, frozenset[str]]:
    """A module's source and the modules of this package that it imports; none where there is no such module.

    file: where the source of a module lies that is not in this package.
    """
    path = PACKAGE.parent.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    path = path if path.is_file() else Path(file)
    if not path.is_file():
        return b"", frozenset()
    source = path.read_bytes()
    imported = set()
    for base, names in IMPORT.findall(source):
        words = re.sub(rb"#[^\n]*", b"", names).replace(b"(", b" ").replace(b",", b" ").split()
        imported |= {base, *(base + b"." + word for word in words)}
    return source, frozenset(name.decode() for name in imported)


@cache
def kernel_cache(module: str, file: str = "") -> Path:
    """The folder of a module's compiled kernels, which belongs to exactly its sources and this Numba.

    file: where the module's source lies, for one that is not in this package, such as a test's.
    """
    sources: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name], imported = _source(name, file if name == module else "")
            waiting += imported
    digest = hashlib.sha256(numba.__version__.encode())
    for part in HOW:
        digest.update(part.read_bytes())
    for name, source in sorted(sources.items()):
        if name == module or name.startswith(COMPILING) or b"@compiled" in source or b"@intrinsic" in source:
            digest.update(name.encode() + source)
    return cache_root() / "kernels" / digest.hexdigest()[:16]


def _cache_by_content(form: Any, folder: Path, suffix: str) -> None:
    """Keep machine code in the folder of its sources, in place of one named after a path and a time."""
    config: Any = numba.config  # its settings are made at run time, unknown to type checkers
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        form.enable_caching()
    finally:
        config.CACHE_DIR = before
    cache = form._cache
    cache._cache_path = str(folder)
    cache._impl.locator.get_cache_path = lambda: str(folder)
    base = cache._impl.filename_base + suffix
    cache._cache_file = IndexDataCacheFile(str(folder), base, source_stamp=folder.name)
    cache._cache_file._data_name_pattern = f"{base}.{{number:d}}.{OWN}.nbc"


@numba.extending.intrinsic
def keep_whole(typingctx: Any) -> Any:
    """Called in a kernel: its callers call it and do not take it in, so that all run the same instructions.

    Contraction depends on what surrounds an expression: the same formula taken into two callers may differ in the last
    bit.
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return numba.types.void(), generate


def compiled(
    function: Callable[..., Any] | None = None, *, parallel: bool = False, inline: bool = False, borrows: bool = False
) -> Any:
    """Decorate a module-level kernel: no Python objects, no GIL, cached on disk, contraction only.

    parallel: the kernel contains `numba.prange`. inline: inline at LLVM level into its callers (small formulas).
    borrows: arrays are not reference-counted inside, and nothing can be allocated; counting the arrays of a named tuple
    at each inner call makes a sweep three times slower. Inlined formulas always borrow.
    """

    options: dict[str, Any] = {
        "nogil": True,
        "parallel": parallel,
        "error_model": "numpy",
        "fastmath": {"contract"},
        "forceinline": inline,
        "_nrt": not (inline or borrows),
    }

    def decorate(fn: Callable[..., Any]) -> Kernel:
        if inline:
            return make_kernel(fn, options)
        if parallel:
            numba.get_num_threads()  # starts the threads: a caller that comes from the cache may not do so itself
        folder = kernel_cache(fn.__module__, fn.__code__.co_filename)
        named = "<" not in fn.__qualname__ and not fn.__closure__
        kernel = make_kernel(fn, options, folder.name if named else "", folder / f"{fn.__name__}.lock")
        _cache_by_content(kernel, folder, "")
        _cache_by_content(kernel.called, folder, ".called")
        return kernel

    return decorate if function is None else decorate(function)
