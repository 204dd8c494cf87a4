"""The kernels that runs of built-in scenes call, by name and types, so that they can be compiled before the run.

One file a scene, the kernels that call most others first, since they take longest to compile. A list that is out of
date costs time, nothing else: a run compiles what it misses. `python -m supple.examples.kernels NAME` makes one anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from supple.algebra.compiling.ahead import WantedKernel


def listing(example: str) -> Path:
    """The file that lists the kernels of a built-in scene; there is none for a path to another one."""
    return Path(__file__).with_name(f"{Path(example).name}.json")


def kernels_of(example: str) -> list[WantedKernel]:
    """The kernels of a built-in scene; none where no list was made."""
    file = listing(example)
    if not file.is_file():
        return []
    return [WantedKernel(kernel, tuple(arguments)) for kernel, arguments in json.loads(file.read_text())]


def as_json(wanted: Iterable[WantedKernel]) -> str:
    """A list as it is kept, a kernel a line."""
    lines = ",\n".join(json.dumps(kernel) for kernel in wanted)
    return f"[\n{lines}\n]\n"
