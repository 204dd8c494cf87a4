"""Compositional pattern-producing networks [Sta07]: small networks of sines, bells and steps over a cell's place.

A network is a graph without cycles. Its inputs are the place (x, y, z in [-1, 1]), the distance from the middle and a
constant; its outputs are asked at every cell. Networks start small and grow: a mutation adds a node in a link, adds or
removes a link, or changes a weight or a function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.design.encodings.pattern_kernels import network_values
from supple.errors import InputError

Array = np.ndarray
INPUTS = ("x", "y", "z", "radius", "one")
FUNCTIONS = ("linear", "sine", "gauss", "sigmoid", "absolute", "square", "step")
MAX_NODES = 200


@dataclass(frozen=True)
class Network:
    """functions: of the nodes after the inputs; the last ones are the outputs, in the order of their names. links:
    (from, to, weight), numbers of nodes with inputs first. Links run from lower to higher `order`, so none closes a
    cycle: order (node,) in [0, 1], 0 for inputs and 1 for outputs.
    """

    outputs: tuple[str, ...]
    functions: tuple[int, ...]
    order: tuple[float, ...]
    links: tuple[tuple[int, int, float], ...]

    @classmethod
    def random(cls, outputs: Sequence[str], rng: np.random.Generator, *, growth: int = 10) -> Network:
        """All inputs joined to all outputs, then `growth` mutations."""
        first, count = len(INPUTS), len(outputs)
        links = tuple((i, first + o, float(rng.standard_normal())) for i in range(first) for o in range(count))
        functions = tuple(int(rng.integers(len(FUNCTIONS) - 1)) for _ in range(count))
        network = cls(tuple(outputs), functions, (*[0.0] * first, *[1.0] * count), links)
        for _ in range(growth):
            network = network.mutated(rng)
        return network

    @property
    def output_nodes(self) -> range:
        """Numbers of the output nodes; hidden ones are added after them."""
        return range(len(INPUTS), len(INPUTS) + len(self.outputs))

    def values(self, shape: tuple[int, ...], places: Array) -> dict[str, Array]:
        """Outputs by name, of a given shape, at places (n, 3)."""
        radius = np.sqrt(np.sum(places * places, axis=1))
        inputs = np.column_stack([places, radius, np.ones(len(places))])
        rank = sorted(range(len(self.order)), key=lambda n: (self.order[n], n))
        place_of = {node: k for k, node in enumerate(rank)}
        functions = np.zeros(len(rank), dtype=np.int64)
        links = sorted((place_of[b], place_of[a], w) for a, b, w in self.links)
        for node, function in enumerate(self.functions, start=len(INPUTS)):
            functions[place_of[node]] = function
        targets = np.array([b for b, _, _ in links], dtype=np.int64)
        starts = np.searchsorted(targets, np.arange(len(rank) + 1))
        sources = np.array([a for _, a, _ in links], dtype=np.int64)
        weights = np.array([w for _, _, w in links], dtype=float)
        nodes = np.empty((len(places), len(rank)))
        network_values(np.ascontiguousarray(inputs), functions, starts, sources, weights, nodes)
        return {name: nodes[:, place_of[node]].reshape(shape) for name, node in zip(self.outputs, self.output_nodes)}

    def mutated(self, rng: np.random.Generator) -> Network:
        """A copy with one change."""
        deed = int(rng.integers(6))
        if deed == 0 and self.links and len(self.order) < MAX_NODES:
            return self._with_node(rng)
        if deed == 1:
            return self._with_link(rng)
        if deed == 2 and len(self.links) > len(self.outputs):
            gone = int(rng.integers(len(self.links)))
            return replace(self, links=self.links[:gone] + self.links[gone + 1 :])
        if deed == 3:
            node = int(rng.integers(len(self.functions)))
            functions = list(self.functions)
            functions[node] = int(rng.integers(len(FUNCTIONS)))
            return replace(self, functions=tuple(functions))
        return self._reweighted(rng)

    def _with_node(self, rng: np.random.Generator) -> Network:
        """A node in the middle of a link."""
        chosen = int(rng.integers(len(self.links)))
        a, b, weight = self.links[chosen]
        node = len(self.order)
        links = (*self.links[:chosen], *self.links[chosen + 1 :], (a, node, 1.0), (node, b, weight))
        order = (*self.order, 0.5 * (self.order[a] + self.order[b]))
        return replace(self, functions=(*self.functions, int(rng.integers(len(FUNCTIONS)))), order=order, links=links)

    def _with_link(self, rng: np.random.Generator) -> Network:
        a, b = (int(n) for n in rng.integers(len(self.order), size=2))
        if self.order[a] > self.order[b]:
            a, b = b, a
        known = {(i, j) for i, j, _ in self.links}
        if self.order[a] == self.order[b] or (a, b) in known:
            return self._reweighted(rng)
        return replace(self, links=(*self.links, (a, b, float(rng.standard_normal()))))

    def _reweighted(self, rng: np.random.Generator) -> Network:
        """Some weights moved: each with probability 0.3, and one at least."""
        if not self.links:
            return self
        chosen = rng.random(len(self.links)) < 0.3
        chosen[int(rng.integers(len(self.links)))] = True
        moves = np.where(chosen, 0.5 * rng.standard_normal(len(self.links)), 0.0)
        return replace(self, links=tuple((a, b, float(w + d)) for (a, b, w), d in zip(self.links, moves)))

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        names = [FUNCTIONS[f] for f in self.functions]
        return {"outputs": list(self.outputs), "functions": names, "order": list(self.order),
                "links": [list(link) for link in self.links]}  # fmt: skip

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Network:
        """The network of plain values; cycles and unknown functions are refused."""
        try:
            functions = tuple(FUNCTIONS.index(name) for name in data["functions"])
            links = tuple((int(a), int(b), float(w)) for a, b, w in data["links"])
            order = tuple(float(value) for value in data["order"])
            outputs = tuple(str(name) for name in data["outputs"])
            count = len(order)
            sound = count == len(INPUTS) + len(functions) and len(functions) >= len(outputs)
            sound = sound and bool(np.isfinite([*order, *(w for _, _, w in links)]).all())
            sound = sound and all(0 <= a < count and len(INPUTS) <= b < count for a, b, _ in links)
            sound = sound and all(order[a] < order[b] for a, b, _ in links)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"not a pattern network: {error}", where="genome") from error
        if not sound:
            raise InputError("a pattern network's nodes and links do not fit", where="genome")
        return cls(outputs, functions, order, links)
