"""Elements of the domains' meshes that are inside out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.bodies.tree.model import TreeModel
from supple.modal.basis_inversion import BasisInversion

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class TreeInversion:
    """Of a model; kinds: elements of the classes that deform, by number; strains, owner (n,): what the coordinates
    strain at most, and whose they are; start (d + 1,): numbers of the domains' first elements, all counted through."""

    model: TreeModel
    kinds: dict[int, BasisInversion]
    strains: Array
    owner: Array
    start: Array
    stays = False
    word = "elements"

    @classmethod
    def of(cls, model: TreeModel) -> TreeInversion:
        """Of all domains that are not rigid."""
        meshes = [model.domain_tree.kinds[c.name].mesh for c in model.classes]
        kinds = {
            number: BasisInversion.of(c.nodes, mesh.elements, c.U)
            for number, (c, mesh) in enumerate(zip(model.classes, meshes))
            if c.count
        }
        counts = np.array([kinds[k].count if k in kinds else 0 for k in range(len(meshes))])[model.domain_class]
        strains = [kinds[k].strains for k in model.domain_class if k in kinds]
        return cls(
            model,
            kinds,
            np.concatenate([np.zeros(0), *strains]),
            np.repeat(np.arange(model.domain_count), model.mode_counts),
            np.concatenate([[0], np.cumsum(counts)]),
        )

    @property
    def count(self) -> int:
        """Of the elements of all domains that deform."""
        return int(self.start[-1])

    def place(self, number: int) -> str:
        """Where an element is."""
        domain = int(np.searchsorted(self.start, number, side="right")) - 1
        kind = self.model.classes[self.model.domain_class[domain]].name
        return f"domain {domain} ('{kind}'), element {number - self.start[domain]}"

    def inverted(self, x: Array) -> Array:
        """Numbers of the inverted elements at the tree's coordinates x (1, width)."""
        model, q = self.model, x[0, 7 : 7 + len(self.strains)]
        near = np.flatnonzero(np.bincount(self.owner, np.abs(q) * self.strains, model.domain_count) >= 1.0)
        found = [np.zeros(0, dtype=np.int64)]
        for number in np.unique(model.domain_class[near]).tolist():
            domains = near[model.domain_class[near] == number]
            places = model.q_starts[domains][:, None] + np.arange(model.classes[number].count)
            copies, elements = self.kinds[number].inverted(q[places])
            found.append(self.start[domains[copies]] + elements)
        return np.sort(np.concatenate(found))
