"""Lists of kernels as files of JSON: a kernel a line, its name and the types of its arguments."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from supple.algebra.compiling.ahead import WantedKernel


def read_kernel_list(path: Path) -> list[WantedKernel]:
    """The kernels of a file; none where there is no file."""
    if not path.is_file():
        return []
    return [WantedKernel(kernel, tuple(arguments)) for kernel, arguments in json.loads(path.read_text())]


def kernel_list_text(wanted: Iterable[WantedKernel]) -> str:
    """A list as it is kept."""
    lines = ",\n".join(json.dumps(kernel) for kernel in wanted)
    return f"[\n{lines}\n]\n"
