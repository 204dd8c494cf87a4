"""RandomSearch: designs drawn without parents. What other searches are to be better than."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.design.designs import Design
from supple.design.encodings import Encoding
from supple.design.results import Result
from supple.design.search.method_protocol import (
    Candidate,
    Turns,
    checked_objectives,
    checked_population,
    gains,
    generator_of,
)


class RandomSearch:
    """Random designs of an encoding; the best `population` ones are kept."""

    def __init__(self, encoding: Encoding[Any], objectives: Any, *, population: int = 20, seed: int = 0) -> None:
        self.encoding, self.objectives = encoding, checked_objectives(objectives)
        self.measures = self.objectives
        self.population = checked_population(population, least=1, where="RandomSearch")
        self._rng = generator_of(seed, 0)
        self._turns = Turns(encoding)
        self._kept: list[Candidate] = []

    def ask(self) -> list[Design]:
        """Random designs."""
        return self._turns.ask([self.encoding.random(self._rng) for _ in range(self.population)])

    def tell(self, results: Sequence[Result]) -> list[Candidate]:
        """Keep the best of all so far, the first of equal ones."""
        told = self._turns.tell(results)
        all_of_them = self._kept + told
        order = np.argsort(-gains(all_of_them, self.objectives)[:, 0], kind="stable")
        self._kept = [all_of_them[k] for k in order[: self.population]]
        return told

    def kept(self) -> list[Candidate]:
        """The best ones, best first."""
        return list(self._kept)
