"""Published and closed-form numbers against ours: one case a function, `supple validate` runs them.

A case may have a picture beside it: a function of the path to write, under the same name in its module's PICTURES.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from supple.validation.reference_forces import reference_folder
from supple.validation.row import Row

_MODULES = (
    "derivatives",
    "implicit_euler",
    "cantilever",
    "frequencies",
    "waves",
    "spin_damped",
    "rigid",
    "reference_forces",
    "tree.decompose",
    "tree.reduced",
    "tree.reduced_vega",
    "floating",
    "floating_layered",
    "contact",
    "contact_bullets",
    "contact_friction",
    "contact_kinds",
    "contact_self",
    "couplings",
    "design.searches",
    "design.tasks",
    "design.walker",
    "scenes.blows",
    "scenes.divergence",
    "scenes.linkages",
    "scenes.user_kind",
    "tree.coupling",
    "tree.free",
    "tree.stretch",
    "tree.flower",
    "tree.interfaces",
    "tree.joints",
    "voxel.blocks",
    "voxel.beams",
    "voxel.bending",
    "voxel.spectrum",
    "voxel.contact",
    "voxel.schemes",
    "voxel.friction",
    "voxel.damping",
    "voxel.implicit",
    "voxel.scaling",
    "voxel.scenes",
    "voxel.reference",
)


def registry() -> dict[str, Callable[[], list[Row]]]:
    """All cases that can run, by name, "kind/name"."""
    lacking = left_out()
    return {name: case for name, case in _collected("CASES").items() if name not in lacking}


def left_out() -> dict[str, str]:
    """Cases that cannot run, since they compare with files of other programs that are not there: the file of each.

    A module names the files of its cases, by their paths in the reference folder, in NEEDS.
    """
    folder = reference_folder()
    needs: dict[str, str] = _collected("NEEDS")
    return {name: file for name, file in needs.items() if folder is None or not (folder / file).exists()}


def pictures() -> dict[str, Callable[[Path], None]]:
    """The pictures of the cases that have one, by the case's name."""
    return _collected("PICTURES")


def _collected(name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for module in _MODULES:
        found.update(getattr(importlib.import_module(f"supple.validation.{module}"), name, {}))
    return dict(sorted(found.items()))
