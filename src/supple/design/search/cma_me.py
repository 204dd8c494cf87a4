"""CmaMe [Fon20]: MAP-Elites by ribs, whose children evolution strategies draw that seek new elites and better ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.design.designs import Design
from supple.design.results import Result
from supple.design.search.elites import Descriptor, Elites
from supple.design.search.method_protocol import Candidate, Turns, checked_population, seed_of
from supple.design.search.vectors import checked_vectors
from supple.errors import InputError, check_number


class CmaMe:
    """CMA-ME over the vectors of an encoding, such as Waves. descriptors: the axes of the grid, see `Descriptor`.

    emitters: how many strategies share the population evenly. step: their first standard deviation.
    """

    def __init__(
        self, encoding: Any, objectives: Any, descriptors: Sequence[Descriptor], *, population: int = 20, seed: int = 0,
        emitters: int = 2, step: float | None = None,
    ) -> None:  # fmt: skip
        self.encoding = checked_vectors(encoding, where="CmaMe")
        self.elites = Elites(objectives, descriptors, self.encoding.dimension, where="CmaMe")
        from ribs.emitters import EvolutionStrategyEmitter

        self.objectives = self.elites.objectives
        self.measures = (*self.objectives, *self.elites.axes)
        self.population = checked_population(population, least=2, where="CmaMe")
        check_number(emitters, name="emitters", where="CmaMe", least=1, whole=True)
        if self.population % emitters or self.population // emitters < 2:
            raise InputError("the emitters do not share the population evenly, two or more each", where="CmaMe",
                             value=f"{self.population} by {emitters}")  # fmt: skip
        size = self.encoding.spread if step is None else step
        check_number(size, name="step", where="CmaMe", above=0.0)
        self._emitters = [
            EvolutionStrategyEmitter(
                self.elites.archive, x0=np.zeros(self.encoding.dimension), sigma0=size,
                batch_size=self.population // emitters, seed=seed_of(seed, f"ribs {k}"),
            )
            for k in range(emitters)
        ]  # fmt: skip
        self._turns = Turns(self.encoding)
        self._vectors = np.zeros((0, self.encoding.dimension))

    def ask(self) -> list[Design]:
        """Designs of all strategies, one strategy after the other."""
        self._vectors = np.concatenate([one.ask() for one in self._emitters])
        return self._turns.ask(list(self._vectors.copy()))

    def tell(self, results: Sequence[Result]) -> list[Candidate]:
        """Offer them to the archive, and tell the strategies what became of them."""
        told = self._turns.tell(results)
        share = self.population // len(self._emitters)
        for k, emitter in enumerate(self._emitters):
            part = slice(k * share, (k + 1) * share)
            info = self.elites.add(told[part], self._vectors[part])
            if not self.elites.archive.empty:  # a strategy without a success starts anew from an elite
                emitter.tell(self._vectors[part], *self.elites.values(told[part]), info)
        return told

    def kept(self) -> list[Candidate]:
        """The elites, by the numbers of their cells."""
        return self.elites.kept()
