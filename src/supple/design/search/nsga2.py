"""Nsga2 [DPAM02]: non-dominated sorting for several objectives, by the library pymoo, over genomes of any encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.design.designs import Design
from supple.design.encodings import Encoding
from supple.design.results import Result
from supple.design.search.age_fitness import pareto_levels
from supple.design.search.method_protocol import (
    Candidate,
    Turns,
    checked_objectives,
    checked_population,
    gains,
    missing_extra,
    seed_of,
)
from supple.errors import check_number


class Nsga2:
    """NSGA-II: a population that spreads along the front of designs that none beats in all objectives.

    crossing: share of the children that take a part of another parent, before they mutate.
    """

    def __init__(
        self, encoding: Encoding[Any], objectives: Any, *, population: int = 20, seed: int = 0, crossing: float = 0.5
    ) -> None:
        self.encoding, self.objectives = encoding, checked_objectives(objectives)
        self.measures = self.objectives
        self.population = checked_population(population, least=2, where="Nsga2")
        check_number(crossing, name="crossing", where="Nsga2", least=0.0, most=1.0)
        self._algorithm = _algorithm(encoding, self.population, crossing, len(self.objectives), seed_of(seed, "pymoo"))
        self._turns = Turns(encoding)
        self._asked: Any = None
        self._known: dict[int, Candidate] = {}

    def ask(self) -> list[Design]:
        """Random designs first, then children of the population."""
        self._asked = self._algorithm.ask()
        return self._turns.ask([one.X[0] for one in self._asked])

    def tell(self, results: Sequence[Result]) -> list[Candidate]:
        """Let parents and children compete; pymoo minimises."""
        told = self._turns.tell(results)
        for one, candidate, gain in zip(self._asked, told, gains(told, self.objectives)):
            one.set("F", -gain)
            one.evaluated.update({"F", "G", "H"})
            one.set("number", candidate.number)
        self._algorithm.tell(infills=self._asked)
        known = self._known | {one.number: one for one in told}
        self._known = {number: known[number] for number in map(int, self._algorithm.pop.get("number"))}
        return told

    def kept(self) -> list[Candidate]:
        """The front: designs of the population that none beats in all objectives, in the order of asking."""
        everyone = [self._known[number] for number in sorted(self._known)]
        levels = pareto_levels(gains(everyone, self.objectives))
        return [one for one, level in zip(everyone, levels) if level == 0]


def _algorithm(encoding: Encoding[Any], population: int, crossing: float, objectives: int, seed: int) -> Any:
    """pymoo's NSGA-II whose one variable is a genome."""
    try:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.crossover import Crossover
        from pymoo.core.mutation import Mutation
        from pymoo.core.problem import Problem
        from pymoo.core.sampling import Sampling
        from pymoo.core.termination import NoTermination
    except ImportError as error:
        raise missing_extra("NSGA-II") from error

    class Drawn(Sampling):  # type: ignore[misc]
        def _do(self, problem: Any, n_samples: int, *_: Any, random_state: Any = None, **__: Any) -> Any:
            return _column([encoding.random(random_state) for _ in range(n_samples)])

    class Crossed(Crossover):  # type: ignore[misc]
        def _do(self, problem: Any, X: Any, *_: Any, random_state: Any = None, **__: Any) -> Any:
            genomes = [encoding.cross(a, b, random_state) for a, b in zip(X[0, :, 0], X[1, :, 0])]
            return _column(genomes)[None]

    class Mutated(Mutation):  # type: ignore[misc]
        def _do(self, problem: Any, X: Any, *_: Any, random_state: Any = None, **__: Any) -> Any:
            return _column([encoding.mutate(one, random_state) for one in X[:, 0]])

    algorithm = NSGA2(
        pop_size=population,
        sampling=Drawn(),
        crossover=Crossed(n_parents=2, n_offsprings=1, prob=crossing),
        mutation=Mutated(prob=1.0),
        eliminate_duplicates=False,
    )
    problem = Problem(n_var=1, n_obj=objectives)
    return algorithm.setup(problem, termination=NoTermination(), seed=seed, verbose=False)


def _column(genomes: Sequence[Any]) -> np.ndarray:
    """Genomes as a column of objects (n, 1), whatever they are made of."""
    column = np.empty((len(genomes), 1), dtype=object)
    for k, genome in enumerate(genomes):
        column[k, 0] = genome
    return column
