"""CmaEs: evolution strategy with covariance matrix adaptation [Han16], by the library cma, over vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.algebra.dense.checks import check_array
from supple.design.designs import Design
from supple.design.results import Result
from supple.design.search.method_protocol import (
    Candidate,
    Turns,
    checked_objectives,
    checked_population,
    gains,
    missing_extra,
    seed_of,
)
from supple.design.search.vectors import checked_vectors
from supple.errors import InputError, check_number


class CmaEs:
    """CMA-ES over the vectors of an encoding, such as Waves. objectives: one measure.

    population: designs of a generation; None: 4 + 3 ln(dimension), as usual. start: the first mean, zero by default.
    step: the first standard deviation, by default the encoding's `spread`. Any seed repeats, 0 too.
    """

    def __init__(
        self, encoding: Any, objectives: Any, *, population: int | None = None, seed: int = 0, start: Any = None,
        step: float | None = None,
    ) -> None:  # fmt: skip
        try:
            import cma
        except ImportError as error:
            raise missing_extra("CMA-ES") from error
        self.encoding = checked_vectors(encoding, where="CmaEs")
        self.objectives = checked_objectives(objectives)
        if len(self.objectives) != 1:
            raise InputError("CMA-ES improves one measure", where="CmaEs", value=len(self.objectives), allowed="1",
                             fix="Choose Nsga2 or AgeFitness for several.")  # fmt: skip
        self.measures = self.objectives
        count = self.encoding.dimension
        usual = 4 + int(3 * math.log(count))
        self.population = checked_population(usual if population is None else population, least=2, where="CmaEs")
        size = self.encoding.spread if step is None else step
        check_number(size, name="step", where="CmaEs", above=0.0)
        mean = np.zeros(count) if start is None else check_array(start, name="start", where="CmaEs").copy()
        if mean.shape != (count,) or not np.isfinite(mean).all():
            raise InputError("the start is not a genome", where="CmaEs", value=mean.shape, allowed=f"({count},)")
        draws = np.random.RandomState(seed_of(seed, "cma"))  # its own, not the one that all of numpy shares
        options = {"popsize": self.population, "randn": draws.randn, "seed": math.nan, "verbose": -9}
        self._strategy = cma.CMAEvolutionStrategy(mean, size, options)
        self._turns = Turns(self.encoding)
        self._kept: list[Candidate] = []
        self._vectors: list[Any] = []

    @property
    def mean(self) -> np.ndarray:
        """The middle of what is drawn next, (dimension,)."""
        return np.array(self._strategy.mean)

    def ask(self) -> list[Design]:
        """Designs drawn about the mean."""
        self._vectors = self._strategy.ask()
        return self._turns.ask([np.array(one) for one in self._vectors])

    def tell(self, results: Sequence[Result]) -> list[Candidate]:
        """Move and reshape the distribution; cma minimises. Designs that failed have the worst finite score."""
        told = self._turns.tell(results)
        self._strategy.tell(self._vectors, (-gains(told, self.objectives)[:, 0]).tolist())
        everyone = [*self._kept, *told]
        order = np.argsort(-gains(everyone, self.objectives)[:, 0], kind="stable")
        self._kept = [everyone[k] for k in order[: self.population]]
        return told

    def kept(self) -> list[Candidate]:
        """The best ones so far, best first."""
        return list(self._kept)
