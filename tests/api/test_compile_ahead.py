"""Kernels are compiled ahead of a run by several processes, from lists that are true of what the runs call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numba
import numpy as np
import pytest

from supple.algebra.compiling import ahead
from supple.algebra.compiling.by_address import ByAddress
from supple.algebra.compiling.signature_text import type_as_text, type_from_text
from supple.examples.kernels import kernels_of, listing

Pair = namedtuple("Pair", "one other")  # as kernels have them
Pair.__module__ = __name__
DEMO = ("hanging-beam", "garden")


@pytest.mark.parametrize(
    "value",
    [
        1,
        2.0,
        True,
        None,
        np.zeros(3),
        np.zeros((2, 3), dtype=np.int32)[:, ::2],
        np.broadcast_to(np.zeros(3), (2, 3)),
        (1, 2.0),
        (1.0, 2.0),
    ],
)
def test_a_type_is_its_text(value: object) -> None:
    kind = numba.typeof(value)
    assert type_from_text(type_as_text(kind)) == kind


def test_named_tuples_and_addresses_have_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or type(sys)(__name__))
    monkeypatch.setattr(sys.modules[__name__], "Pair", Pair, raising=False)
    for value in (Pair(np.zeros(3), 1), Pair(1.0, 2.0), Pair(np.zeros(2), Pair(1, 2.0))):
        kind = numba.typeof(value)
        assert type_from_text(type_as_text(kind)) == kind
        address = numba.typeof(ByAddress(value))
        assert type_from_text(type_as_text(address)) == address


@pytest.mark.parametrize("text", ["", "float64[1", "(int64", "int64 int64", "nothing"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises((ValueError, AttributeError)):
        type_from_text(text)


def test_a_function_has_no_text() -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        type_as_text(numba.typeof(numba.njit(lambda x: x)))


KERNELS = """
from supple.algebra.compiling.compiled import compiled


@compiled
def double(x):
    return 2 * x


@compiled
def triple(x):
    return 3 * x


@compiled
def broken(x):
    return x.nothing
"""


def test_kernels_compiled_ahead_are_loaded_by_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that cannot be compiled, and one that is not there, are passed over."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    names = ("double", "broken", "missing", "triple")
    wanted = [ahead.WantedKernel(f"kernels:{name}", ("float64",)) for name in names]
    told: list[str] = []
    ahead.compile_ahead(wanted, lambda done, name: told.append(name), processes=2)
    assert sorted(told) == ["broken", "double", "triple"]
    receipt = ahead.receipt_of(wanted)
    assert sorted(kernel for kernel, _ in json.loads(receipt.read_text())) == sorted(k.kernel for k in wanted)
    code = (
        "import kernels; print(kernels.double(1.5), kernels.triple(1.5), "
        "[sum(k.stats.cache_misses.values()) for k in (kernels.double, kernels.triple)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=2) == ["3.0", "4.5", "[0, 0]\n"]


def test_a_dead_process_leaves_the_rest_to_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS + "\nimport os\nos._exit(1)\n")
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    ahead.compile_ahead([ahead.WantedKernel("kernels:double", ("float64",))] * 3, lambda *_: None, processes=2)
    assert not list((tmp_path / "cache").rglob("*.nbc"))


@pytest.mark.parametrize("example", DEMO)
def test_lists_name_kernels_that_exist(example: str) -> None:
    """Each with as many arguments as it takes, of types that exist."""
    import importlib

    for kernel, arguments in kernels_of(example):
        module, name = kernel.split(":")
        function = getattr(importlib.import_module(module), name).py_func
        assert len(arguments) == function.__code__.co_argcount, kernel
        for text in arguments:
            assert type_as_text(type_from_text(text)) == text


def check_listing(example: str) -> None:
    """The list names what a run calls, in whatever order."""
    command = [sys.executable, "-m", "supple.examples.kernels", "--print", example]
    environment = {**os.environ, "PYTHONPATH": str(Path(ahead.__file__).parents[3])}
    called = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    fix = f"make it anew: python -m supple.examples.kernels {example}"
    assert sorted(json.loads(called)) == sorted(json.loads(listing(example).read_text())), fix


def test_the_list_of_the_first_picture_is_up_to_date() -> None:
    check_listing("hanging-beam")


@pytest.mark.slow
def test_the_list_of_the_garden_is_up_to_date() -> None:
    check_listing("garden")


def test_a_run_says_what_is_compiled_ahead_and_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once: a second run finds the receipt."""
    from supple.cli import compiling

    (tmp_path / "kernels.py").write_text(KERNELS)
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    wanted = [ahead.WantedKernel("kernels:double", ("float64",))]
    monkeypatch.setattr("supple.examples.kernels.kernels_of", lambda example: wanted)
    monkeypatch.setattr(ahead, "process_count", lambda: 2)
    compiling.compile_kernels_of("any")
    assert capsys.readouterr().err == "supple: compiling kernels for this machine, once: 0 of 1, double\n"
    compiling.compile_kernels_of("any")
    assert capsys.readouterr().err == ""


def test_a_run_without_a_list_says_what_it_compiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not what no cache keeps, which every run compiles."""
    from supple.algebra.compiling.kernel import make_kernel
    from supple.cli.compiling import shown_compilations

    options = {"nogil": True, "parallel": False, "forceinline": False}
    with shown_compilations():
        assert make_kernel(lambda x: x + 2, options)(1) == 3
        assert make_kernel(lambda x: x + 1, options, lock=tmp_path / "lock")(1) == 2
    assert capsys.readouterr().err == "supple: compiling kernels for this machine, once: 1 so far, <lambda>\n"
