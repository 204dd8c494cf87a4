"""AgeFitness: age-fitness Pareto optimisation [SL11], as evosoro searches.

A design's age is how many generations its oldest ancestor has lived. Each generation

    every parent in turn has a mutated child of its own age, until population - 1 children are there
    one design without parents joins, of age 0
    parents and children are sorted by levels of dominance: younger and better at once, or as good and newer
    the first levels stay; of the last of them, the best ones

so a newcomer competes with its peers first, and a search does not settle on its first good idea.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from supple.errors import check_number

Array = np.ndarray


@dataclass
class Member:
    """A candidate in a population. age: generations since its oldest ancestor was drawn."""

    candidate: Candidate
    age: int


class AgeFitness:
    """Age-fitness Pareto search over genomes of any encoding.

    objectives: measures to be improved, the first one decides between equals. population: designs of a generation.
    crossing: share of the children that take a part of another parent, before they mutate.
    """

    def __init__(
        self, encoding: Encoding[Any], objectives: Any, *, population: int = 20, seed: int = 0, crossing: float = 0.0
    ) -> None:
        self.encoding, self.objectives = encoding, checked_objectives(objectives)
        self.measures = self.objectives
        self.population = checked_population(population, least=2, where="AgeFitness")
        self.crossing = check_number(crossing, name="crossing", where="AgeFitness", least=0.0, most=1.0)
        self._rng = generator_of(seed, 1)
        self._turns = Turns(encoding)
        self._members: list[Member] = []
        self._ages: list[int] = []

    @property
    def members(self) -> tuple[Member, ...]:
        """The population, best first."""
        return tuple(self._members)

    def ask(self) -> list[Design]:
        """Random designs first; then children of the population and one newcomer."""
        if not self._members:
            self._ages = [0] * self.population
            return self._turns.ask([self.encoding.random(self._rng) for _ in range(self.population)])
        parents = [self._members[k % len(self._members)] for k in range(self.population - 1)]
        genomes = [self._child(parent) for parent in parents]
        self._ages = [parent.age for parent in parents] + [-1]  # all grow older by one when they are told
        return self._turns.ask([*genomes, self.encoding.random(self._rng)])

    def _child(self, parent: Member) -> Any:
        genome = parent.candidate.genome
        if self._rng.random() < self.crossing:
            other = self._members[int(self._rng.integers(len(self._members)))].candidate.genome
            genome = self.encoding.cross(genome, other, self._rng)
        return self.encoding.mutate(genome, self._rng)

    def tell(self, results: Sequence[Result]) -> list[Candidate]:
        """Let parents and children compete."""
        told = self._turns.tell(results)
        born = [Member(candidate, age) for candidate, age in zip(told, self._ages)]
        everyone = [*self._members, *born] if self._members else born
        if self._members:
            everyone = [Member(one.candidate, one.age + 1) for one in everyone]
        fitness = gains([one.candidate for one in everyone], self.objectives)
        ages = np.array([one.age for one in everyone], dtype=float)
        levels = pareto_levels(np.column_stack([-ages, fitness]), newest=True)
        order = np.lexsort([np.arange(len(everyone)), -fitness[:, 0], levels])
        chosen = sorted(order[: self.population].tolist(), key=lambda k: (-fitness[k, 0], k))
        self._members = [everyone[k] for k in chosen]
        return told

    def kept(self) -> list[Candidate]:
        """The population, best first."""
        return [one.candidate for one in self._members]


def pareto_levels(criteria: Array, *, newest: bool = False) -> Array:
    """Levels of dominance (n,): 0 for rows that none dominates, 1 for those that only level 0 does, and so on.

    criteria (n, k): more is better. A row dominates another where it is nowhere less and somewhere more.
    newest: whether of equal rows the last one dominates the others; else none does.

    >>> pareto_levels(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [-1.0, 0.0]])).tolist()
    [0, 0, 1, 2]
    """
    levels = np.full(len(criteria), -1)
    no_less = np.asarray((criteria[:, None] >= criteria[None]).all(axis=2))
    dominates = no_less & np.asarray((criteria[:, None] > criteria[None]).any(axis=2))
    if newest:
        dominates |= np.tril(no_less & no_less.T, -1)
    level = 0
    while len(left := np.flatnonzero(levels < 0)):
        levels[left[~dominates[np.ix_(left, left)].any(axis=0)]] = level
        level += 1
    return levels
