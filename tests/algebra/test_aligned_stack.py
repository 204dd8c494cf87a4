"""Kernels that hold many SIMD lanes begin their stack at a cache line."""

import platform
import re

import numpy as np
import pytest
from numba import njit

from supple.algebra.compiling.aligned_stack import CACHE_LINE, align_stack


@njit
def aligned(x):
    align_stack()
    total = 0.0
    for value in x:
        total += value
    return total


@njit
def plain(x):
    total = 0.0
    for value in x:
        total += value
    return total


def test_the_stack_of_a_kernel_is_aligned_and_its_result_the_same() -> None:
    x = np.linspace(0.1, 2.0, 17)
    assert aligned(x) == plain(x)
    attribute = re.compile(rf"alignstack[=(]{CACHE_LINE}")
    assert attribute.search(*aligned.inspect_llvm().values())
    assert not attribute.search(*plain.inspect_llvm().values())


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads instructions of x86-64")
def test_its_machine_code_rounds_the_stack_down() -> None:
    x = np.ones(3)
    assert aligned(x) == plain(x) == 3.0
    rounds = re.compile(rf"and\w*\s+\$-{CACHE_LINE}, %rsp")
    assert rounds.search(*aligned.inspect_asm().values())
    assert not rounds.search(*plain.inspect_asm().values())
