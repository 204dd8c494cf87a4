"""What a person sees while a population is evaluated: how many are done, the rate, the time left, designs a day."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

Update = Callable[[int], None]
DAY = 86400.0  # [s]


@contextmanager
def population_bar(shown: bool | None, total: int, *, done: int) -> Iterator[Update]:
    """A bar on standard error, told how many designs have been evaluated. done: those that were known before.

    shown: None for "on a terminal only", True for everywhere.
    """
    if not (sys.stderr.isatty() if shown is None else shown):
        yield lambda evaluated: None
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
        task = bar.add_task("designs", total=total, completed=done, rate="-")
        begun = perf_counter()

        def update(evaluated: int) -> None:
            rate = evaluated / max(perf_counter() - begun, 1e-9)
            bar.update(task, completed=done + evaluated, rate=rate_text(rate))

        yield update


def rate_text(rate: float) -> str:
    """A rate [designs/s] as people read it.

    >>> rate_text(0.5)
    '0.5/s, 43,200 a day'
    """
    return f"{rate:.3g}/s, {rate * DAY:,.0f} a day"
