"""Pattern encoding: bodies and fields as patterns of compositional networks over the grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.design.encodings.encoding_protocol import BodyGrids, first_kept
from supple.design.encodings.network import Network
from supple.design.encodings.plan import BodyPlan
from supple.errors import InputError, check_instance

Array = np.ndarray
SPREAD = 0.5


@dataclass(frozen=True)
class Patterns:
    """Bodies by a network with one output for presence, one for each number of the palette, one for each field.

    A cell is there where `presence` is positive; its number is the one whose output is largest.

    >>> encoding = Patterns(BodyPlan((4, 4, 4)))
    >>> genome = encoding.random(np.random.default_rng(1))
    >>> encoding.grids(genome).fields["phase"].shape
    (4, 4, 4)
    """

    plan: BodyPlan

    def __post_init__(self) -> None:
        check_instance(self.plan, BodyPlan, "a plan of bodies", where="Patterns")

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        numbers = self.plan.numbers if len(self.plan.numbers) > 1 else ()
        return ("presence", *(f"number {n}" for n in numbers), *self.plan.fields)

    def random(self, rng: np.random.Generator) -> Network:
        """A small random network whose body keeps the rules."""
        return first_kept(lambda: Network.random(self.outputs, rng), self._is_kept, where="Patterns.random")

    def mutate(self, genome: Network, rng: np.random.Generator) -> Network:
        """A changed network whose body differs."""
        before = self.grids(genome)

        def differs(network: Network) -> bool:
            if not self._is_kept(network):
                return False
            after = self.grids(network)
            same = np.array_equal(before.cells, after.cells)
            there = before.cells > 0
            return not same or any((before.fields[k] != after.fields[k])[there].any() for k in after.fields)

        def changed() -> Network:
            network = genome
            for _ in range(1 + int(rng.integers(2))):
                network = network.mutated(rng)
            return network

        return first_kept(changed, differs, where="Patterns.mutate")

    def cross(self, a: Network, b: Network, rng: np.random.Generator) -> Network:
        """Weights of links that both have, from either; the rest from a. Where the body breaks the rules: a."""
        theirs = {(i, j): w for i, j, w in b.links}
        links = tuple((i, j, theirs.get((i, j), w) if rng.random() < 0.5 else w) for i, j, w in a.links)
        child = Network(a.outputs, a.functions, a.order, links)
        return child if self._is_kept(child) else a

    def _is_kept(self, genome: Network) -> bool:
        return self.plan.kept(self._free(genome)[0]) is not None

    def _free(self, genome: Network) -> tuple[Array, dict[str, Array]]:
        plan, shape = self.plan, self.plan.free_shape
        cells = np.indices(shape).reshape(3, -1).T
        places = (2.0 * cells + 1.0) / np.array(plan.shape) - 1.0
        values = genome.values(shape, np.ascontiguousarray(places))
        numbers = np.full(shape, plan.numbers[0])
        if len(plan.numbers) > 1:
            numbers = np.array(plan.numbers)[np.argmax([values[f"number {n}"] for n in plan.numbers], axis=0)]
        units = {name: kind.inside(0.5 + SPREAD * values[name]) for name, kind in plan.fields.items()}
        return np.where(values["presence"] > 0, numbers, 0).astype(np.uint8), units

    def grids(self, genome: Network) -> BodyGrids:
        """The body: the largest piece of the pattern."""
        cells, units = self._free(genome)
        kept = self.plan.kept(cells)
        if kept is None:
            raise InputError("the network's body breaks the rules of the plan", where="Patterns.grids")
        return BodyGrids(self.plan.whole(kept), self.plan.whole_fields(units))

    def to_json(self, genome: Network) -> dict[str, Any]:
        """Plain values."""
        return genome.to_json()

    def from_json(self, data: Mapping[str, Any]) -> Network:
        """The network of plain values; one for other outputs is refused."""
        network = Network.from_json(data)
        if network.outputs != self.outputs:
            raise InputError("the network has other outputs", where="genome", value=network.outputs,
                             allowed=", ".join(self.outputs))  # fmt: skip
        return network
