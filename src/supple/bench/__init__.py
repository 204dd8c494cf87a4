"""Speed: one case a function, `supple bench` runs them. Numbers are best of several, with the threads they used."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from supple.bench.row import Row

_MODULES = (
    "contact",
    "design.evolving",
    "design.pool",
    "exports.html",
    "fem.steel_crank",
    "fem_beam",
    "floating",
    "petals",
    "rigid_contact",
    "run",
    "scene",
    "start.demo",
    "start.importing",
    "start.view",
    "studio.stream",
    "tree",
    "tree_scaling",
    "voxel.threads",
    "voxel_block",
    "voxel_collision",
    "voxel_everything",
    "voxel_sparse",
    "voxel_start",
)


def registry() -> dict[str, Callable[[], list[Row]]]:
    """All cases by name, "kind/name"."""
    cases: dict[str, Callable[[], list[Row]]] = {}
    for module in _MODULES:
        cases.update(importlib.import_module(f"supple.bench.{module}").CASES)
    return dict(sorted(cases.items()))
