"""Trees of reduced domains from a scene file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from supple.bodies.tree import DomainTree, ModeBudget, TreeBody, TreeSettings
from supple.decompose import automatic_labels, decompose, load_domain_tree
from supple.files.scenes.places import Place
from supple.files.scenes.schema import trees as schema
from supple.geometry import HexMesh, SurfaceMesh, TetMesh
from supple.geometry.meshes.region import Selector

FindMaterial = Callable[[Any], Any]


def build_tree(
    section: Any,
    mesh: TetMesh | HexMesh | None,
    surface: SurfaceMesh | None,
    find_material: FindMaterial,
    place: Place,
) -> TreeBody:
    """The tree of a table. mesh, surface: built of its keys, if it has them."""
    if mesh is None:
        with place.at(f"{place.keys}.tree").guarded():
            domain_tree = load_domain_tree(place.at(f"{place.keys}.tree").named_file(section.tree))
    else:
        domain_tree = _cut(section, mesh, find_material(section.material))
    more = section.given("coupling", "torque", "mass_damping", "stiffness_damping", "grown", "statics")
    if section.settings is not None:
        with place.at(f"{place.keys}.settings").guarded():
            more["settings"] = TreeSettings(**section.settings.given(*schema.Settings.model_fields))
    return TreeBody(domain_tree, surface=surface, **more)


def _cut(section: Any, mesh: TetMesh | HexMesh, material: Any) -> DomainTree:
    labels: Any = section.labels
    if labels is not None:
        labels = np.array(labels)
    elif section.parts is not None:
        labels = automatic_labels(mesh, parts=section.parts)
    modes = section.modes
    if isinstance(modes, schema.Budget):
        modes = ModeBudget(modes.total, **modes.given("by", "minimum", "rigid"))
    return decompose(
        mesh,
        labels,
        material=material,
        modes=modes,
        fixed=_held(section.fix, mesh),
        **section.given("regions", "rest", "root", "weights", "cycles", "patches", "thin", "pieces"),
    )


def _held(fix: Any, mesh: TetMesh | HexMesh) -> Selector | None:
    """The nodes of one region, or of several."""
    if fix is None or isinstance(fix, str):
        return fix
    return np.unique(np.concatenate([mesh.node_region(name) for name in fix]))
