"""Which elements of a tree are looked at for being inside out: of each kind those that its shapes strain most."""

from __future__ import annotations

import numpy as np

from supple.bodies.tree.model import TreeModel
from supple.elements.inversion import ShapeElements, ShapeInversion

MOST_ELEMENTS, FEWEST = 5000, 4
"""Elements that are looked at in all, and at least of each domain."""


def shape_inversion(model: TreeModel) -> ShapeInversion:
    """Of all domains that deform. Elements are numbered domain by domain."""
    kinds = model.domain_tree.kinds
    count = np.array([len(kinds[c.name].mesh.elements) for c in model.classes])[model.domain_class]
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    most = max(FEWEST, MOST_ELEMENTS // model.domain_count)
    out = []
    for number, kind in enumerate(model.classes):
        if kind.count:
            elements, where = np.asarray(kinds[kind.name].mesh.elements), 7 + model.coordinates_of(number)
            out.append(ShapeElements.of(kind.nodes, elements, kind.U, where, first[model.members(number)], most))
    return ShapeInversion(out)
