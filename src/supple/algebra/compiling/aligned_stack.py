"""`align_stack()`: have a kernel's own memory, its stack, begin at a cache line.

The system begins stacks at 16 bytes. What LLVM cannot keep in registers it puts there, vectors of 64 bytes too: where
the stack of a process happens to begin elsewhere in a line, each of them lies in two lines. Processes that ran the same
sweep of a lattice then differed by a quarter.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic

CACHE_LINE = 64
NEUTRAL = "nonlazybind"
"""An attribute without effect on such code: llvmlite writes none of a function that has nothing but an alignment."""


@intrinsic
def align_stack(typing_context: Any) -> Any:
    """Called in a kernel that holds many SIMD lanes at once and is not taken into its callers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.alignstack = CACHE_LINE
        builder.function.attributes.add(NEUTRAL)
        return context.get_dummy_value()

    return types.void(), generate
