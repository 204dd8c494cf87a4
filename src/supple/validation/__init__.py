"""Published and closed-form numbers against ours: one case a function, `supple validate` runs them."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from supple.validation.row import Row

_MODULES = (
    "derivatives",
    "implicit_euler",
    "cantilever",
    "frequencies",
    "waves",
    "rigid",
    "reference_forces",
    "reduced",
    "reduced_vega",
    "voxel",
    "voxel_contact",
)


def registry() -> dict[str, Callable[[], list[Row]]]:
    """All cases by name, "kind/name"."""
    cases: dict[str, Callable[[], list[Row]]] = {}
    for module in _MODULES:
        cases.update(importlib.import_module(f"supple.validation.{module}").CASES)
    return dict(sorted(cases.items()))
