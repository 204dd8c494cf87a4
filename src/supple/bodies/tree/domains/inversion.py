"""Elements of the domains' meshes that are inside out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface.domain_points import bare_chain
from supple.bodies.tree.surface.frame_cache import Foreseen
from supple.modal.basis_inversion import BasisInversion

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class TreeInversion:
    """Of a model; kinds: elements of the classes that deform, by number; strains (n,): what the coordinates strain at
    most; start (d + 1,): numbers of the domains' first elements, all counted through. near: says at which domains an
    element may be inverted at coordinates (1, width), where something else finds that anyway; see `TreeLook`."""

    model: TreeModel
    kinds: dict[int, BasisInversion]
    strains: Array
    start: Array
    near: Callable[[Array], Array] | None = None
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
        if self.near is None:
            return self._foreseen.at(x)
        domains, none = self.near(x), np.zeros(0, dtype=np.int64)
        return self._of_domains(x, domains) if len(domains) else none

    def _of_domains(self, x: Array, domains: Array) -> Array:
        """Those of some domains."""
        kinds, starts, found = self.model.domain_class[domains], self.model.q_starts[domains], []
        for number in np.unique(kinds).tolist():
            own = np.flatnonzero(kinds == number)
            q = x[0, 7 + starts[own][:, None] + np.arange(self.model.classes[number].count)]
            copies, elements = self.kinds[number].inverted(q)
            found.append(self.start[domains[own[copies]]] + elements)
        return np.sort(np.concatenate(found))

    @cached_property
    def _foreseen(self) -> Foreseen[Array]:
        return Foreseen(self.model.frame_cache, bare_chain(self.model), lambda instants: self._at_all(instants.x))

    def _at_all(self, x: Array) -> list[Array]:
        """The same at all of coordinates x (k, width)."""
        model, n = self.model, len(self.strains)
        q = np.ascontiguousarray(x[:, 7 : 7 + n])
        found: list[list[Array]] = [[np.zeros(0, dtype=np.int64)] for _ in x]
        deforming = np.flatnonzero(model.mode_counts)
        bounds = np.add.reduceat(np.abs(q) * self.strains, model.q_starts[deforming], axis=1) if len(deforming) else q
        instant, place = np.nonzero(bounds >= 1.0)
        domain = deforming[place]
        for number in np.flatnonzero(np.bincount(model.domain_class[domain])).tolist():
            own = np.flatnonzero(model.domain_class[domain] == number)
            at, domains = instant[own], domain[own]
            places = model.q_starts[domains][:, None] + np.arange(model.classes[number].count)
            copies, elements = self.kinds[number].inverted(q.ravel()[(n * at)[:, None] + places])
            for j in np.unique(at[copies]).tolist():
                of = at[copies] == j
                found[j].append(self.start[domains[copies[of]]] + elements[of])
        return [np.sort(np.concatenate(parts)) for parts in found]
