"""Speed: one case a function, `supple bench` runs them. Numbers are best of several, with the threads they used."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable
from typing import Any

from supple.bench.row import Row

_MODULES = ("fem_beam",)


def registry() -> dict[str, Callable[[], list[Row]]]:
    """All cases by name, "kind/name"."""
    cases: dict[str, Callable[[], list[Row]]] = {}
    for module in _MODULES:
        cases.update(importlib.import_module(f"supple.bench.{module}").CASES)
    return dict(sorted(cases.items()))


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    import os

    import llvmlite.binding
    import numba

    from supple.algebra.lanes import LANES

    return {
        "processor": llvmlite.binding.get_host_cpu_name(),
        "cores": os.cpu_count(),
        "lanes": LANES,
        "python": platform.python_version(),
        "numba": numba.__version__,
    }
