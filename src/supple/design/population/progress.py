"""What a person sees while a population is evaluated: how many are done, the rate, the time left, designs a day."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Protocol

from supple.errors import check_flag

DAY = 86400.0  # [s]


class Shown(Protocol):
    """What is told of a population on its way."""

    def done(self, evaluated: int) -> None:
        """So many designs have been evaluated."""
        ...

    def compiling(self, done: int, name: str) -> None:
        """So many kernels have been compiled, and this one is being compiled."""
        ...


class Nothing:
    """Nobody looks."""

    def done(self, evaluated: int) -> None:
        """Nothing."""

    def compiling(self, done: int, name: str) -> None:
        """Nothing."""


class Bar:
    """A bar of rich. known: designs that were done before."""

    def __init__(self, bar: Any, total: int, known: int) -> None:
        self.bar, self.known, self.begun = bar, known, perf_counter()
        self.task = bar.add_task("designs", total=total, completed=known, rate="-")

    def done(self, evaluated: int) -> None:
        """Show it, with the rate."""
        rate = rate_text(evaluated / max(perf_counter() - self.begun, 1e-9))
        self.bar.update(self.task, description="designs", completed=self.known + evaluated, rate=rate)

    def compiling(self, done: int, name: str) -> None:
        """Show it in place of the rate; designs are timed from then on."""
        self.begun = perf_counter()
        self.bar.update(self.task, description="compiling kernels, once", rate=f"{done} done, {name}")


@contextmanager
def population_bar(shown: bool | None, total: int, *, done: int) -> Iterator[Shown]:
    """A bar on standard error, told how many designs have been evaluated. done: those that were known before.

    shown: None for "on a terminal only", True for everywhere.
    """
    if shown is not None:
        check_flag(shown, name="progress", where="evaluate")
    if not (sys.stderr.isatty() if shown is None else shown):
        yield Nothing()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True, force_terminal=shown), transient=True) as bar:
        yield Bar(bar, total, done)


def rate_text(rate: float) -> str:
    """A rate [designs/s] as people read it.

    >>> rate_text(0.5)
    '0.5/s, 43,200 a day'
    """
    return f"{rate:.3g}/s, {rate * DAY:,.0f} a day"
