"""What a person sees and does while a run goes on: a bar on a terminal, and Ctrl-C between steps."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from types import FrameType
from typing import Any, Protocol

from supple.errors import printable

REFRESH = 0.1  # seconds between two looks at the bar


class Progress(Protocol):
    """Told after every step."""

    def update(self, t: float, residual: float) -> None: ...


class Silent:
    """Shows nothing."""

    def update(self, t: float, residual: float) -> None:
        """Nothing."""


class _Bar:
    """Simulated time, speed against real time, last residual."""

    def __init__(self, bar: Any, task: Any, start: float) -> None:
        self.bar, self.task, self.start = bar, task, start
        self.begun = self.drawn = perf_counter()

    def update(self, t: float, residual: float) -> None:
        """Draw, at most ten times a second."""
        now = perf_counter()
        if now - self.drawn >= REFRESH:
            self.drawn = now
            speed = f"{(t - self.start) / (now - self.begun):.2g}x"
            self.bar.update(self.task, completed=t, now=f"{t:.3f}", speed=speed, residual=f"{residual:.1e}")


@contextmanager
def progress_bar(shown: bool | None, *, name: str, start: float, until: float) -> Iterator[Progress]:
    """A bar on standard error. shown: None for "on a terminal only", True for everywhere."""
    if not (sys.stderr.isatty() if shown is None else shown):
        yield Silent()
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(f"{{task.fields[now]}} of {until:g} s, {{task.fields[speed]}} real time"),
        TextColumn("residual {task.fields[residual]}"),
        TimeRemainingColumn(),
    )
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)  # in the place of what says that a scene is prepared
    with RichProgress(*columns, console=Console(stderr=True, force_terminal=shown), transient=True) as bar:
        fields = {"now": f"{start:.3f}", "speed": "-", "residual": "-"}
        task = bar.add_task(escape(printable(name)), total=until, **fields)  # type: ignore[arg-type]
        bar.update(task, completed=start)
        yield _Bar(bar, task, start)


@contextmanager
def count_bar(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar of things that are counted, on standard error, on a terminal only; told how many are done."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda done: bar.update(task, completed=done)


class Interrupts:
    """Ctrl-C as a question asked between steps. A second one raises KeyboardInterrupt at once."""

    def __init__(self) -> None:
        self.asked = False
        self.before: Any = None

    def __enter__(self) -> Interrupts:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self.before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
