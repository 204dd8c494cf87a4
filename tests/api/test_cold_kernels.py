"""A run gives the same bits whether its kernels were just compiled, by itself or ahead, or come from the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import supple

PROGRAM = """
import sys
import supple as sp
from supple.algebra.compiling.ahead import called_kernels
from supple.examples import registry
from supple.algebra.compiling.kernel_list import kernel_list_text

example = registry()[sys.argv[1]]
result = sp.run(example.make(), until=float(sys.argv[2]), progress=False)
state = result.state
open(sys.argv[3], "wb").write(state.x.tobytes() + state.v.tobytes())
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "until"),
    [
        ("rigid-on-springs", "0.1"),
        ("flower", "0.2"),
        ("spin-up", "0.14"),
        ("dragon", "0.05"),
        ("space-station", "0.07"),
    ],
)
def test_bits_do_not_depend_on_who_compiled(tmp_path: Path, example: str, until: str) -> None:
    states = [tmp_path / name for name in ("cold", "warm", "ahead")]
    called = run(tmp_path / "one", PROGRAM, example, until, str(states[0]))
    run(tmp_path / "one", PROGRAM, example, until, str(states[1]))
    run(tmp_path / "two", AHEAD, given=called)
    assert list((tmp_path / "two").rglob("*.nbc"))
    run(tmp_path / "two", PROGRAM, example, until, str(states[2]))
    assert states[0].read_bytes() == states[1].read_bytes() == states[2].read_bytes()


KERNELS = """
import numpy as np
from supple.algebra.compiling.compiled import compiled


@compiled
def small(x):
    total = 0.0
    for k in range(len(x)):
        total += %s
    return total


@compiled
def caller(x):
    return small(x) + small(x[1:])
"""
TERMS = " + ".join(f"np.sin({k}.0 * x[k])" for k in range(1, 12))


def test_a_fresh_kernel_runs_its_own_copies_of_what_it_calls(tmp_path: Path) -> None:
    """A copy that another kernel's code brought under the same name is not run in their place."""
    (tmp_path / "copying.py").write_text(KERNELS % TERMS)
    program = """
import copying, numpy as np
from llvmlite.binding import Linkage
copying.caller(np.ones(5))
(code,) = copying.caller.overloads.values()
kept = [f for f in code.library._final_module.functions if not f.is_declaration]
assert any("small" in f.name and "caller" not in f.name for f in kept), "small was taken in: no copy is left to test"
assert all(f.linkage != Linkage.linkonce_odr for f in kept), [f.name for f in kept]
"""
    run(tmp_path / "cache", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{program}")
