"""Published and closed-form numbers against ours: one case a function, `supple validate` runs them.

A case may have a picture beside it: a function of the path to write, under the same name in its module's PICTURES.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from supple.validation.row import Row

_MODULES = (
    "derivatives",
    "implicit_euler",
    "cantilever",
    "frequencies",
    "waves",
    "rigid",
    "reference_forces",
    "decompose",
    "reduced",
    "reduced_vega",
    "floating",
    "floating_layered",
    "contact",
    "contact_kinds",
    "contact_self",
    "substructure",
    "substructure_flower",
    "substructure_interfaces",
    "substructure_ties",
    "voxel",
    "voxel_beams",
    "voxel_spectrum",
    "voxel_contact",
    "voxel_schemes",
    "voxel_friction",
    "voxel_damping",
    "voxel_implicit",
    "voxel_scaling",
    "voxel_scenes",
    "voxel_reference",
)


def registry() -> dict[str, Callable[[], list[Row]]]:
    """All cases by name, "kind/name"."""
    return _collected("CASES")


def pictures() -> dict[str, Callable[[Path], None]]:
    """The pictures of the cases that have one, by the case's name."""
    return _collected("PICTURES")


def _collected(name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for module in _MODULES:
        found.update(getattr(importlib.import_module(f"supple.validation.{module}"), name, {}))
    return dict(sorted(found.items()))
