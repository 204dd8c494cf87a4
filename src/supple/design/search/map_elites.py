"""MapElites [MC15]: the best design of every kind, over any encoding, in an archive of ribs.

Each generation mutates elites that are drawn evenly from the archive; a child that is better than the elite of its
cell, or the first of its kind, is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.design.designs import Design
from supple.design.encodings import Encoding
from supple.design.results import Result
from supple.design.search.elites import Descriptor, Elites
from supple.design.search.method_protocol import Candidate, Turns, checked_population, generator_of
from supple.errors import check_number


class MapElites:
    """MAP-Elites over genomes of any encoding. descriptors: the axes of the grid, see `Descriptor`.

    newcomers: share of each generation that is drawn without parents. crossing: share of the children that take a part
    of another elite, before they mutate.
    """

    def __init__(
        self, encoding: Encoding[Any], objectives: Any, descriptors: Sequence[Descriptor], *, population: int = 20,
        seed: int = 0, newcomers: float = 0.1, crossing: float = 0.0,
    ) -> None:  # fmt: skip
        self.encoding = encoding
        self.elites = Elites(objectives, descriptors, 1, where="MapElites")
        self.objectives = self.elites.objectives
        self.measures = (*self.objectives, *self.elites.axes)
        self.population = checked_population(population, least=1, where="MapElites")
        self.newcomers = check_number(newcomers, name="newcomers", where="MapElites", least=0.0, most=1.0)
        self.crossing = check_number(crossing, name="crossing", where="MapElites", least=0.0, most=1.0)
        self._rng = generator_of(seed, 2)
        self._turns = Turns(encoding)

    def ask(self) -> list[Design]:
        """Mutated elites, and newcomers; newcomers alone while there is no elite."""
        held = self.elites.kept()
        return self._turns.ask([self._drawn(held) for _ in range(self.population)])

    def _drawn(self, held: Sequence[Candidate]) -> Any:
        rng = self._rng
        if not held or rng.random() < self.newcomers:
            return self.encoding.random(rng)
        genome = held[int(rng.integers(len(held)))].genome
        if rng.random() < self.crossing:
            genome = self.encoding.cross(genome, held[int(rng.integers(len(held)))].genome, rng)
        return self.encoding.mutate(genome, rng)

    def tell(self, results: Sequence[Result]) -> list[Candidate]:
        """Offer them to the archive, which keeps their numbers."""
        told = self._turns.tell(results)
        self.elites.add(told, np.array([[float(one.number)] for one in told]))
        return told

    def kept(self) -> list[Candidate]:
        """The elites, by the numbers of their cells."""
        return self.elites.kept()
