"""`Kernel`: a compiled function in two forms, one that Python calls and one that other kernels call.

Numba gives each function code that unpacks Python objects, and copies the machine code of all it calls, directly or
through others, into each caller. With named tuples of dozens of arrays and chains of calls that was most of the time of
compilation. Here the form that kernels call has no such code, and a kernel too large for its callers to take it in is
compiled once: they find it by its name. The name belongs to its sources and types, so that kernels in the cache find
each other whichever process compiled them.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core import sigutils
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.types import BaseNamedTuple

from supple.algebra.compiling.own_copies import LibraryOfOwn

LARGE, PER_ARGUMENT = 500, 4
"""Instructions from which on callers call a kernel by name, and so many more for each of its arguments, of which an
array has seven. LLVM takes functions in up to some size, which grows with their arguments. With 120 and 2, trees
stepped 12 % more slowly."""
KEY = "_sources_of_kernel"


def fields_of(kinds: Iterable[Any]) -> tuple[Any, ...]:
    """Names of the fields of all named tuples in types, in their order: to Numba two are equal if their classes' names
    and their values' types are, so that a class whose fields have changed places would find the code made before."""
    return tuple(found for kind in kinds if (found := _fields_in(kind)))


@cache
def _fields_in(kind: Any) -> tuple[Any, ...]:
    """Those of one type: its own, and those of what is in it or, for an address, lies there."""
    inner = getattr(kind, "types", None) or ([kind.of] if hasattr(kind, "of") else [])
    own = tuple(getattr(kind, "fields", ())) if isinstance(kind, BaseNamedTuple) else ()
    return (*own, *fields_of(inner))


class NamedBySources(Compiler):
    """Compile a kernel under a name that belongs to its sources and types, in place of one with a running number."""

    def _compile_bytecode(self) -> Any:
        identity = self.state.func_id
        key = getattr(identity.func, KEY, "")
        if key:
            types = "".join(f"{argument}{argument.key!r}" for argument in self.state.args)
            types += repr(fields_of(self.state.args))
            identity.unique_id = key + hashlib.sha256(types.encode()).hexdigest()[:16]
            identity.unique_name = f"{identity.func_qualname}${identity.unique_id}"
        self.state.library = LibraryOfOwn(self.state.targetctx.codegen(), identity.func_qualname)
        self.state.library.enable_object_caching()
        return super()._compile_bytecode()


@dataclass(frozen=True)
class Loading:
    """Stored with a kernel that calls another by its name: brings that one into the process first."""

    module: str
    name: str
    arguments: tuple[Any, ...]

    def __call__(self) -> None:
        module = sys.modules.get(self.module) or importlib.import_module(self.module)
        getattr(module, self.name).called.compile(self.arguments)


@contextmanager
def _one_process(path: Path | None) -> Iterator[None]:
    """Hold a file's lock, so that processes that need the same kernel at once compile it once."""
    try:
        import fcntl

        if path is None:
            raise OSError
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    except (ImportError, OSError):  # no cache to share, or a system without such locks: each compiles for itself
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class _Locked(CPUDispatcher):
    """A dispatcher whose kernels only one process at a time compiles."""

    lock: Path | None = None

    def compile(self, sig: Any) -> Any:
        arguments, _ = sigutils.normalize_signature(sig)
        if tuple(arguments) in self.overloads:
            return super().compile(sig)
        with global_compiler_lock, _one_process(self.lock):  # in this order: threads wait for the first one
            return super().compile(sig)


class CalledKernel(_Locked):
    """The form of a kernel that other kernels call."""

    by_name: bool = False
    """Whether it may be called by its name: it has one of its own, and runs in no threads."""

    def add_overload(self, cres: Any) -> None:
        """Take a kernel just compiled or loaded; if large, its callers get its name in place of its code."""
        library = cres.library
        library._reload_init.update(cres.reload_init)  # Numba forgets those of what comes from the cache
        if self.by_name and _is_large(library, cres.fndesc.llvm_func_name):
            empty = str(library.codegen._create_empty_module(library.name))
            library._shared_module = llvm.parse_assembly(empty)
            arguments = tuple(cres.signature.args)
            library._reload_init.add(Loading(self.py_func.__module__, self.py_func.__name__, arguments))
        super().add_overload(cres)


class Kernel(_Locked):
    """The form of a kernel that Python calls. Other kernels that name it get `called`."""

    called: Any  # a CalledKernel; a dispatcher in a class is a method to type checkers

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.called.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self.called.get_overload(sig)

    def get_compile_result(self, sig: Any) -> Any:
        return self.called.get_compile_result(sig)


def _is_large(library: Any, name: str) -> bool:
    """Whether LLVM would not take a function in, or is told not to."""
    shared = library._shared_module
    if shared is not None:  # from the cache, where it is decided
        return not any(True for _ in shared.functions)
    function = library.get_function(name)
    if any(b"noinline" in attribute for attribute in function.attributes):
        return True
    count, large = 0, LARGE + PER_ARGUMENT * sum(1 for _ in function.arguments)
    for block in function.blocks:
        for _ in block.instructions:
            count += 1
            if count >= large:
                return True
    return False


def make_kernel(fn: Callable[..., Any], options: dict[str, Any], key: str = "", lock: Path | None = None) -> Kernel:
    """A kernel of a Python function, in both forms, without a cache.

    options: those of Numba. key: belongs to its sources; empty for a function whose name is not its own. lock: the file
    that a process holds while it compiles.
    """
    if key:
        setattr(fn, KEY, key)
    kernel = Kernel(fn, {}, {"nopython": True, **options}, NamedBySources)
    without = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    kernel.called = CalledKernel(fn, {}, {"nopython": True, **options, **without}, NamedBySources)
    kernel.called.by_name = bool(key) and not options["parallel"] and not options["forceinline"]
    kernel.lock = kernel.called.lock = lock
    return kernel
