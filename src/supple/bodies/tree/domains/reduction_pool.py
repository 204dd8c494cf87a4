"""Kinds reduced side by side: this process and helpers beside it take the next largest one until none is left.

A helper is a new interpreter that knows this package alone; it never runs the caller's script. It asks for work when it
is ready, so that kinds which are read from the cache do not wait for it. Whatever fails in a helper is done again here,
where its error belongs.
"""

from __future__ import annotations

import copyreg
import io
import os
import pickle
import subprocess
import sys
import threading
from collections import ChainMap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import IO, Any

from supple.bodies.tree.domains.domain_tree import DomainTemplate
from supple.errors import InputError

Task = tuple[Any, ...]
Progress = Callable[[str, int, int], None]
HEX_WORK = 12.0
"""A voxel costs as much as so many tets."""
WORTH_A_PROCESS = 2e4
"""Tets with 20 modes that take as long as a few starts of a helper."""
START = "import sys, pickle; sys.path[:] = pickle.load(sys.stdin.buffer); from {} import serve; serve()"


def work_of(kind: DomainTemplate) -> float:
    """The work of reducing a kind, in tets with 20 modes."""
    each = HEX_WORK if kind.mesh.elements.shape[1] == 8 else 1.0
    return each * len(kind.mesh.elements) * (0.2 + 0.04 * kind.modes) if kind.modes else 1.0


def choose_processes(processes: int | None, work: Sequence[float]) -> int:
    """How many processes to use, this one included. None: all cores, as long as each has enough to do."""
    if processes is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, min(cores, len(work), 1 + int((sum(work) - max(work)) / WORTH_A_PROCESS)))
    if not isinstance(processes, int) or processes < 1:
        raise InputError("the number of processes is not positive", where="TreeModel.of", value=processes)
    return min(processes, len(work))


def reduce_all(
    make: Callable[..., Any], tasks: Sequence[Task], processes: int | None, progress: Progress | bool | None
) -> list[Any]:
    """make(*task) of all tasks, in their order; the first item of a task is its kind. progress: see `shown`."""
    work = [work_of(task[0]) for task in tasks]
    count = choose_processes(processes, work)
    todo = sorted(range(len(tasks)), key=lambda k: work[k])  # the largest is taken first
    made: dict[int, Any] = {}
    lock = threading.Lock()

    def take() -> int | None:
        with lock:
            return todo.pop() if todo else None

    with shown(progress, work) as report:

        def keep(number: int, result: Any) -> None:
            with lock:
                made[number] = result
                report(tasks[number][0].name, number, len(made))

        helpers = [Helper(make, tasks, take, keep) for _ in range(count - 1)]
        try:
            while (number := take()) is not None:
                keep(number, make(*tasks[number]))
            for helper in helpers:
                helper.finish()
        finally:
            for helper in helpers:
                helper.stop()
        for number in range(len(tasks)):  # what no helper could do
            if number not in made:
                keep(number, make(*tasks[number]))
    return [made[number] for number in range(len(tasks))]


class Helper:
    """A process beside this one, and the thread that gives it work."""

    def __init__(
        self,
        make: Callable[..., Any],
        tasks: Sequence[Task],
        take: Callable[[], int | None],
        keep: Callable[[int, Any], None],
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", START.format(__name__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.is_busy = threading.Event()
        self.thread = threading.Thread(target=self._serve, args=(make, tasks, take, keep), daemon=True)
        self.thread.start()

    def _serve(self, make: Any, tasks: Any, take: Any, keep: Any) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            send(self.process.stdin, sys.path)
            pickle.load(self.process.stdout)  # ready
            while True:
                self.is_busy.set()
                number = take()
                if number is None:
                    break
                send(self.process.stdin, (make, tasks[number]))
                done, result = pickle.load(self.process.stdout)
                if done:
                    keep(number, result)
        except (OSError, EOFError, pickle.PickleError, AttributeError, TypeError):
            pass  # a helper that ended, or a kind that cannot travel

    def finish(self) -> None:
        """Wait for the task it works on; one that has not begun is not waited for."""
        if self.is_busy.is_set():
            self.thread.join()

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.thread.join()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def send(pipe: IO[bytes], value: Any) -> None:
    """Write a value; read-only mappings, such as a mesh's regions, travel as plain ones."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL)
    table: Any = ChainMap({MappingProxyType: _as_dict}, copyreg.dispatch_table)
    pickler.dispatch_table = table
    pickler.dump(value)
    pipe.write(buffer.getbuffer())
    pipe.flush()


def _as_dict(frozen: Any) -> tuple[Any, tuple[Any]]:
    return dict, (dict(frozen),)


def serve() -> None:
    """What a helper does: read tasks from standard input, write results to standard output, until the input ends."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    send(sink, "ready")
    while True:
        try:
            make, task = pickle.load(source)
        except EOFError:
            return
        try:
            answer = (True, make(*task))
        except Exception:
            answer = (False, None)
        send(sink, answer)


@contextmanager
def shown(progress: Progress | bool | None, work: Sequence[float]) -> Iterator[Callable[[str, int, int], None]]:
    """What to call with the name, number and count of kinds done.

    progress: a function of name, count and total; True: a bar on standard error; None: a bar where that is a terminal.
    """
    if callable(progress):
        tell, total = progress, len(work)
        yield lambda name, number, count: tell(name, count, total)
        return
    if not (sys.stderr.isatty() if progress is None else progress):
        yield lambda name, number, count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn("reducing {task.description}"), BarColumn(), TextColumn("{task.fields[done]}"))
    console = Console(stderr=True, force_terminal=progress)
    with RichProgress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("", total=sum(work), done=f"0 of {len(work)} kinds")  # type: ignore[arg-type]

        def report(name: str, number: int, count: int) -> None:
            bar.update(task, advance=work[number], description=name, done=f"{count} of {len(work)} kinds")  # type: ignore[arg-type]

        yield report
