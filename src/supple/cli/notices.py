"""What a person should know while a verb runs: one line each, on standard error."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from supple.errors import SuppleWarning, printable


def tell(sentence: str) -> None:
    """Print a note."""
    print(f"supple: {printable(' '.join(sentence.split()))}", file=sys.stderr, flush=True)


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
