"""`compiled`: how every kernel of the package is compiled by Numba, with a cache that cannot go stale.

Contraction is the only floating-point freedom given to the compiler: reassociation would make results depend on the
number of threads. Numba's on-disk cache looks at the file of the decorated function only and misses a change of a
callee in another file; so each module has a cache folder named after a hash of its own source, of all sources with
compiled code that it imports, directly or through others, and of those whose constants such sources import. The folder
belongs to the sources wherever they lie: another checkout with the same sources finds the kernels compiled. Within it a
kernel is found by the types of its arguments, and by the fields of named tuples among them in their order, which Numba
leaves out.

How a kernel is compiled, and how kernels call each other, is in `kernel`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numba
import numba.extending
import platformdirs
from numba.core.sigutils import normalize_signature

from supple.algebra.compiling.kept_files import KeptFiles
from supple.algebra.compiling.kernel import Kernel, fields_of, make_kernel

PACKAGE = Path(__file__).resolve().parents[2]
IMPORT = re.compile(rb"^[ ]*from (supple[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
"""The only form in which modules of this package import each other."""
CONSTANT = re.compile(rb"[A-Z][A-Z0-9_]*")
"""Names that modules of this package give to their constants."""
COMPILING = __name__.rpartition(".")[0]
"""Modules of this folder are part of every kernel whose module imports them."""
HOW = [Path(__file__).with_name(name) for name in ("compiled.py", "kernel.py", "own_copies.py")]
"""What decides how a kernel is compiled, and so belongs to every kernel."""
OWN = uuid4().hex[:8]
"""In the names of files that this process writes: two that compile at once must not write one file for two kernels."""


def cache_root() -> Path:
    """The folder for everything Supple caches: `$SUPPLE_CACHE`, or the platform's cache folder."""
    return Path(os.environ.get("SUPPLE_CACHE") or platformdirs.user_cache_dir("supple"))


class _Source(NamedTuple):
    """A module's text; the modules of this package that it imports, and those whose constants it imports."""

    text: bytes
    imported: frozenset[str]
    constants_of: frozenset[str]

    @property
    def makes_kernels(self) -> bool:
        """Whether code for kernels is in it."""
        return b"@compiled" in self.text or b"intrinsic" in self.text


@cache
def _source(module: str, file: str = "") -> _Source:
    """A module's source; an empty one where there is no such module.

    file: where the source of a module lies that is not in this package.
    """
    path = PACKAGE.parent.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    path = path if path.is_file() else Path(file)
    if not path.is_file():
        return _Source(b"", frozenset(), frozenset())
    text = path.read_bytes()
    imported, constants_of = set(), set()
    for base, names in IMPORT.findall(text):
        words = re.sub(rb"#[^\n]*", b"", names).replace(b"(", b" ").replace(b",", b" ").split()
        imported |= {base.decode(), *((base + b"." + word).decode() for word in words)}
        if any(map(CONSTANT.fullmatch, words)):
            constants_of.add(base.decode())
    return _Source(text, frozenset(imported), frozenset(constants_of))


def kernel_sources(module: str, file: str = "") -> dict[str, bytes]:
    """The texts that the kernels of a module are made of, by the names of their modules."""
    sources: dict[str, _Source] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = _source(name, file if name == module else "")
            waiting += sources[name].imported
    of_kernels = [name for name, source in sources.items() if name.startswith(COMPILING) or source.makes_kernels]
    read: dict[str, bytes] = {}
    waiting = [module, *of_kernels]
    while waiting:
        name = waiting.pop()
        if name not in read:
            read[name] = sources[name].text
            waiting += sources[name].constants_of  # a constant may be made of others, or be handed on
    return read


@cache
def kernel_cache(module: str, file: str = "") -> Path:
    """The folder of a module's compiled kernels, which belongs to exactly its sources and this Numba.

    file: where the module's source lies, for one that is not in this package, such as a test's.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for part in HOW:
        digest.update(part.read_bytes())
    for name, text in sorted(kernel_sources(module, file).items()):
        digest.update(name.encode() + text)
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
    cache._cache_file = KeptFiles(str(folder), base, source_stamp=folder.name)
    cache._cache_file._data_name_pattern = f"{base}.{{number:d}}.{OWN}.nbc"
    index_key = cache._index_key
    cache._index_key = lambda sig, codegen: (*index_key(sig, codegen), fields_of(normalize_signature(sig)[0] or ()))


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
