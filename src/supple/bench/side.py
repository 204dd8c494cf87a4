"""Side: one of two checkouts that are compared. It is asked in processes of its own, through its command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supple.errors import SuppleError

CPU_CLOCK = """
import runpy, sys, time
from time import process_time
try:
    from resource import RUSAGE_CHILDREN, getrusage
    time.perf_counter = lambda: process_time() + sum(getrusage(RUSAGE_CHILDREN)[:2])
except ImportError:
    time.perf_counter = process_time
sys.argv = ["supple", "bench", sys.argv[1], "--json"]
runpy.run_module("supple", run_name="__main__")
"""
"""On one thread, the time of the processor: what other programs take of a busy machine does not count."""
LIST_CASES = "import supple; from supple.bench import registry; print(supple.__file__, *registry(), sep='\\n')"


@dataclass(frozen=True)
class Side:
    """name: "here" or "there". sources: the folder that holds its package. threads: of its kernels."""

    name: str
    sources: Path
    threads: int

    def cases(self) -> list[str]:
        """The names of its cases."""
        ended = self._run("-c", LIST_CASES)
        if ended.returncode:
            raise self._failed("its cases cannot be listed", ended)
        file, *cases = ended.stdout.splitlines()
        if not Path(file).resolve().is_relative_to(self.sources.resolve()):
            fix = "This Python ignores PYTHONPATH; use one in which Supple is installed with `pip install -e`."
            raise SuppleError("another package is imported", where=self._where, value=file, fix=fix)
        return cases

    def measure(self, case: str) -> list[dict[str, Any]]:
        """The rows of one case, measured in a fresh process; its exit code 1 says that a limit is not kept."""
        command = ("-c", CPU_CLOCK, case) if self.threads == 1 else ("-m", "supple", "bench", case, "--json")
        ended = self._run(*command)
        try:
            return list(json.loads(ended.stdout)["results"])
        except (ValueError, KeyError, TypeError):
            raise self._failed(f"case {case} failed", ended) from None

    @property
    def _where(self) -> str:
        return f"{self.name}, {self.sources}"

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        count = str(self.threads)
        libraries = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), count)
        return subprocess.run(
            [sys.executable, "-P", *arguments],
            env=os.environ | libraries | {"PYTHONPATH": str(self.sources)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def _failed(self, what: str, ended: subprocess.CompletedProcess[str]) -> SuppleError:
        told = ended.stderr.strip().splitlines() or [f"exit code {ended.returncode} without a word"]
        fix = (
            f"Run it there: PYTHONPATH={self.sources} {Path(sys.executable).name} -m supple bench; or name other cases."
        )
        return SuppleError(f"{what}: {told[-1].strip()}", where=self._where, fix=fix)
