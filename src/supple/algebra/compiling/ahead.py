"""`compile_ahead`: compile a list of kernels into the cache by several processes at once, before a run needs them.

A process compiles one kernel at a time, with all that it calls. Here each of several processes takes the next kernel of
the list when it has done one, so the longest should come first. What two of them call is compiled by one while the
other waits (`kernel`). The run then loads all kernels from the cache. A kernel that cannot be compiled, or a process
that dies, is passed over: the run compiles what is missing when it needs it.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import llvmlite.binding as llvm
from numba.core import event

from supple.algebra.compiling.compiled import PACKAGE, cache_root, kernel_cache
from supple.algebra.compiling.kernel import CalledKernel, Kernel
from supple.algebra.compiling.signature_text import type_as_text, type_from_text

MOST_PROCESSES = 4
"""Processes: each takes up to 900 MB, and more than these would wait for the longest kernel."""


class WantedKernel(NamedTuple):
    """A kernel that Python calls. kernel: "module:name"; arguments: their types as text (`signature_text`)."""

    kernel: str
    arguments: tuple[str, ...]

    def compile(self) -> None:
        """Bring it into the cache and into this process."""
        module, name = self.kernel.split(":")
        getattr(importlib.import_module(module), name).compile(tuple(map(type_from_text, self.arguments)))


Tell = Callable[[int, str], None]
"""Called with the number of kernels done and the name of one that is being compiled."""


class CompileListener(event.Listener):
    """Calls a function with the name of each kernel whose compilation begins in this process, if the cache keeps it."""

    def __init__(self, begun: Callable[[str], None]) -> None:
        self.begun = begun

    def on_start(self, event: Any) -> None:
        """A compilation begins, perhaps within another."""
        kernel = event.data["dispatcher"]
        if isinstance(kernel, Kernel | CalledKernel) and kernel.lock is not None:
            self.begun(kernel.py_func.__name__)

    def on_end(self, event: Any) -> None:
        """It has ended."""


def called_kernels() -> list[WantedKernel]:
    """The kernels that Python has called in this process; each has the most code that those before it do not call.

    Processes that take them in this order meet no kernel that another one compiles, and do the longest first. Left out
    are kernels inside functions, and those with types that have no text.
    """
    found: dict[str, Kernel] = {}
    for module in sorted(name for name in sys.modules if name.startswith("supple.")):
        for name, kernel in vars(sys.modules[module]).items():
            function = kernel.py_func if isinstance(kernel, Kernel) and kernel.overloads else None
            if function is not None and (function.__module__, function.__name__) == (module, name):
                found[f"{module}:{name}"] = kernel
    wanted, seen = [], set[Any]()
    while found:
        sizes = {name: sum(map(_code_size, _callees(kernel, set()) - seen)) for name, kernel in found.items()}
        longest = max(sorted(sizes), key=lambda name: sizes[name])
        kernel = found.pop(longest)
        seen |= _callees(kernel, set())
        for arguments in kernel.overloads:
            with suppress(ValueError):
                wanted.append(WantedKernel(longest, tuple(map(type_as_text, arguments))))
    return wanted


def _callees(kernel: Any, seen: set[Any]) -> set[Any]:
    """A kernel and all that it calls, directly or through others, added to those already seen."""
    seen.add(kernel)
    function = kernel.py_func
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if isinstance(called, Kernel) and called not in seen:
            _callees(called, seen)
    return seen


def _code_size(kernel: Any) -> int:
    """Bytes of Python's code, a guess of how long a kernel compiles."""
    return len(kernel.py_func.__code__.co_code)


def process_count() -> int:
    """Processes that compile at once: the cores this process may use, at most `MOST_PROCESSES`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_PROCESSES)


def can_keep() -> bool:
    """Whether kernels can be kept; where not, those that other processes compile are of no use."""
    try:
        (cache_root() / "kernels").mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(cache_root() / "kernels", os.W_OK | os.X_OK)


def receipt_of(wanted: Sequence[WantedKernel]) -> Path:
    """The file that says that kernels were compiled, with the processor time [s] of each.

    Its name belongs to the kernels, their sources and the processor.
    """
    digest = hashlib.sha256(repr((sys.version, llvm.get_host_cpu_name(), list(wanted))).encode())
    for module in sorted({kernel.kernel.split(":")[0] for kernel in wanted}):
        digest.update(kernel_cache(module).name.encode())
    return cache_root() / "kernels" / f"{digest.hexdigest()[:16]}.json"


def compile_ahead(wanted: Sequence[WantedKernel], tell: Tell, *, processes: int) -> None:
    """Compile kernels into the cache, in the order of the list, by so many processes; leave a receipt."""
    team = _Team(wanted, tell)
    with ThreadPoolExecutor(processes) as threads:
        try:
            for leading in [threads.submit(team.lead_process) for _ in range(processes)]:
                leading.result()
        finally:
            team.stop()
    receipt = receipt_of(wanted)
    receipt.parent.mkdir(parents=True, exist_ok=True)
    receipt.write_text(json.dumps(team.seconds, indent=1))


class _Team:
    """Processes that compile, each led by a thread of this one."""

    def __init__(self, wanted: Iterable[WantedKernel], tell: Tell) -> None:
        self.waiting, self.tell = deque(wanted), tell
        self.seconds: list[tuple[str, float]] = []
        self.processes: list[subprocess.Popen[str]] = []

    def lead_process(self) -> None:
        """Hand kernels to a process until none is left or it dies."""
        command = [sys.executable, "-c", f"from {__name__} import serve; serve()"]
        folders = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, env=environment, text=True, **pipes)
        self.processes.append(process)
        assert process.stdin is not None
        while self.waiting:
            try:
                kernel = self.waiting.popleft()
                print(json.dumps(kernel), file=process.stdin, flush=True)
            except (IndexError, BrokenPipeError):  # another thread was faster; the process is dead
                break
            if not self._hear(process, kernel.kernel):
                break

    def _hear(self, process: subprocess.Popen[str], kernel: str) -> bool:
        """Pass on what a process compiles until the kernel is done; whether it came to that."""
        assert process.stdout is not None
        for line in process.stdout:
            word, _, value = line.strip().partition(" ")
            if word == "done":
                self.seconds.append((kernel, float(value)))
                return True
            self.tell(len(self.seconds), value)
        return False

    def stop(self) -> None:
        """Let no process outlive this call."""
        self.waiting.clear()
        for process in self.processes:
            process.kill()
            process.wait()


def serve() -> None:
    """What each process does: compile the kernels that come on standard input, say on standard output how far it is."""
    answers: TextIO = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # where anything else prints
    gc.freeze()
    gc.set_threshold(
        50_000, 20, 100
    )  # a compilation makes many objects: a tenth of its time would go to looking at them
    event.register("numba:compile", CompileListener(lambda name: print("compiling", name, file=answers)))
    for line in sys.stdin:
        kernel, arguments = json.loads(line)
        begin = time.process_time()
        try:
            WantedKernel(kernel, tuple(arguments)).compile()
        except Exception as error:  # the run that needs it will say what is wrong
            print(f"{kernel}: {error}", file=sys.stderr)
        print("done", round(time.process_time() - begin, 3), file=answers)
