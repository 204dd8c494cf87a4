"""What a person should know while a verb runs: one line each, on standard error."""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from supple.errors import SuppleWarning, printable

CLEAR = "\r\x1b[K"
"""What empties the line that a terminal stands in."""


def tell(sentence: str) -> None:
    """Print a note; on a terminal in the place of what says that something is going on."""
    start = CLEAR if sys.stderr.isatty() else ""
    print(f"{start}supple: {printable(' '.join(sentence.split()))}", file=sys.stderr, flush=True)


@contextmanager
def going_on(text: str) -> Iterator[None]:
    """Say on a terminal what is going on, until a note or a bar comes in its place, or it is over."""
    if not sys.stderr.isatty():
        yield
        return
    width = shutil.get_terminal_size().columns - 1
    print(f"{CLEAR}{f'supple: {printable(text)}'[:width]}", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print(CLEAR, end="", file=sys.stderr, flush=True)


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Show our own warnings as notes, each sentence once; others as Python shows them."""
    told: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", SuppleWarning)
        others = warnings.showwarning

        def show(message: Any, category: Any, *more: Any, **named: Any) -> None:
            if not issubclass(category, SuppleWarning):
                others(message, category, *more, **named)
            elif str(message) not in told:
                told.add(str(message))
                tell(str(message))

        warnings.showwarning = show
        yield
