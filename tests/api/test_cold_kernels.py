"""A run gives the same bits whether its kernels were just compiled, by itself or ahead, or come from the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.examples import registry

PROGRAM = """
import sys, warnings
import numpy as np
import supple as sp
from supple.algebra.compiling.ahead import called_kernels
from supple.algebra.compiling.kernel_list import kernel_list_text
from supple.errors import SuppleWarning
from supple.examples import registry

warnings.simplefilter("ignore", SuppleWarning)
for name, example in registry().items():
    state = sp.run(example.make(), until=min(example.until, 0.4), progress=False).state
    np.savez(f"{sys.argv[1]}/{name}.npz", x=state.x, v=state.v, **state.memory)
print(kernel_list_text(called_kernels()))
"""
AHEAD = """
import json, sys
from supple.algebra.compiling.ahead import WantedKernel, compile_ahead

wanted = [WantedKernel(kernel, tuple(arguments)) for kernel, arguments in json.load(sys.stdin)]
compile_ahead(wanted, lambda *_: None, processes=2)
"""


def run(cache: Path, *arguments: str, given: str = "") -> str:
    sources = str(Path(supple.__file__).parents[1])
    environment = {**os.environ, "SUPPLE_CACHE": str(cache), "PYTHONPATH": sources}
    command = [sys.executable, "-c", *arguments]
    ended = subprocess.run(command, env=environment, input=given, text=True, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def bits(folder: Path) -> dict[str, dict[str, bytes]]:
    """Of positions, velocities and memories of each example at its end."""
    ends = {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as end:
            ends[path.stem] = {name: end[name].tobytes() for name in end.files}
    return ends


@pytest.mark.slow
def test_bits_of_all_examples_do_not_depend_on_who_compiled(tmp_path: Path) -> None:
    """Nor on whether models were reduced or loaded; after 0.4 s every contact of an example has begun."""
    cold, warm, ahead = (tmp_path / name for name in ("cold", "warm", "ahead"))
    for folder in (cold, warm, ahead):
        folder.mkdir()
    called = run(tmp_path / "one", PROGRAM, str(cold))
    run(tmp_path / "one", PROGRAM, str(warm))
    run(tmp_path / "two", AHEAD, given=called)
    assert list((tmp_path / "two").rglob("*.nbc"))
    run(tmp_path / "two", PROGRAM, str(ahead))
    ends = bits(cold)
    assert len(ends) == len(registry())
    assert ends == bits(warm)
    assert ends == bits(ahead)


KERNELS = """
from supple.algebra.compiling.compiled import compiled, keep_whole


def make():
    @compiled
    def small(x):
        keep_whole()  # whether its callers would take it in depends on the processor
        return x * x

    @compiled
    def caller(x):
        return small(x) + small(x + 1.0)

    return caller


caller = make()  # kernels inside a function are not called by name
"""


def test_a_fresh_kernel_runs_its_own_copies_of_what_it_calls(tmp_path: Path) -> None:
    """A copy that another kernel's code brought under the same name is not run in their place."""
    (tmp_path / "copying.py").write_text(KERNELS)
    program = """
import copying
from llvmlite.binding import Linkage
assert copying.caller(2.0) == 13.0
(code,) = copying.caller.overloads.values()
kept = [f for f in code.library._final_module.functions if not f.is_declaration]
assert any("small" in f.name for f in kept), "no copy of small is left to test"
assert all(f.linkage != Linkage.linkonce_odr for f in kept), [f.name for f in kept]
"""
    run(tmp_path / "cache", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{program}")
