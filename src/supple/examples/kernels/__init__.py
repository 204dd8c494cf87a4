"""The kernels that runs of built-in scenes call, by name and types, so that they can be compiled before the run.

One file a scene, the kernels that call most others first, since they take longest to compile. A list that is out of
date costs time, nothing else: a run compiles what it misses. `python -m supple.examples.kernels NAME` makes one anew.
"""

from __future__ import annotations

from pathlib import Path

from supple.algebra.compiling.ahead import WantedKernel
from supple.algebra.compiling.kernel_list import read_kernel_list


def listing(example: str) -> Path:
    """The file that lists the kernels of a built-in scene; there is none for a path to another one."""
    return Path(__file__).with_name(f"{Path(example).name}.json")


def kernels_of(example: str) -> list[WantedKernel]:
    """The kernels of a built-in scene; none where no list was made."""
    return read_kernel_list(listing(example))
