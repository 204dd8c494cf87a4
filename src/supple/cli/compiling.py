"""What a person sees of kernels that are compiled, once for each machine: which, and how far it is."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic

from supple.cli.notices import CLEAR, tell

WHAT = "compiling kernels for this machine, once"
SECONDS = 10.0
"""Between two lines where a line cannot be written anew."""


class _Line:
    """A line that is written anew on a terminal; elsewhere one from time to time."""

    def __init__(self, *, anew: bool) -> None:
        self.anew, self.told = anew and sys.stderr.isatty(), -SECONDS

    def show(self, text: str) -> None:
        """Say how far it is."""
        if self.anew:
            width = shutil.get_terminal_size().columns - 1
            print(f"{CLEAR}{f'supple: {text}'[:width]}", end="", file=sys.stderr, flush=True)
        elif monotonic() - self.told >= SECONDS:
            self.told = monotonic()
            tell(text)

    def clear(self) -> None:
        """Leave the terminal as it was."""
        if self.anew:
            print(CLEAR, end="", file=sys.stderr, flush=True)


def compile_kernels_of(example: str) -> None:
    """Compile the kernels of a built-in scene on all cores, unless that was done before."""
    from supple.algebra.compiling.ahead import can_keep, compile_ahead, process_count, receipt_of
    from supple.examples.kernels import kernels_of

    wanted, processes = kernels_of(example), process_count()
    if not wanted or processes == 1 or receipt_of(wanted).is_file() or not can_keep():
        return
    line = _Line(anew=True)
    try:
        compile_ahead(
            wanted,
            lambda done, name: line.show(f"{WHAT}: {done} of {len(wanted)}, {name}"),
            processes=processes,
        )
    finally:
        line.clear()


@contextmanager
def shown_compilations() -> Iterator[None]:
    """Say now and then what this process compiles itself: kernels of scenes whose list nobody has made."""
    forget = tell_compilations()
    try:
        yield
    finally:
        forget()


def tell_compilations() -> Callable[[], None]:
    """Say now and then what this process compiles, until what this returns is called."""
    from numba.core import event

    from supple.algebra.compiling.ahead import CompileListener

    line, count = _Line(anew=False), 0

    def begun(name: str) -> None:
        nonlocal count
        count += 1
        line.show(f"{WHAT}: {count} so far, {name}")

    listener = CompileListener(begun)
    event.register("numba:compile", listener)
    return partial(event.unregister, "numba:compile", listener)
