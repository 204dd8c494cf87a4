"""Method: a search that is asked for designs and told their results, generation by generation.

    designs = method.ask()
    method.tell(evaluate(designs, arena, method.measures))

A method draws from generators of its own alone, so the same seed and the same results give the same designs again. A
search that was killed is therefore resumed by asking anew: results that a store holds are told at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from supple.design.designs import Design
from supple.design.encodings import Encoding, design_of
from supple.design.measures import Measure, measures_of
from supple.design.results import Result
from supple.errors import InputError, MissingExtraError, check_number

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Candidate:
    """A design that was tried. number: in the order of asking, from 0."""

    number: int
    genome: Any
    design: Design
    result: Result


@runtime_checkable
class Method(Protocol):
    """A way to search. objectives: what is to be improved. measures: all that it must be told, objectives first."""

    @property
    def encoding(self) -> Encoding[Any]: ...
    @property
    def objectives(self) -> tuple[Measure, ...]: ...
    @property
    def measures(self) -> tuple[Measure, ...]: ...

    def ask(self) -> list[Design]:
        """The designs of a generation."""
        ...

    def tell(self, results: Sequence[Result]) -> list[Candidate]:
        """What they gave, in the order of asking; returns the candidates that they make."""
        ...

    def kept(self) -> list[Candidate]:
        """What the method holds: a population, a front, or the elites of an archive."""
        ...


class Turns:
    """Asking and telling by turns: what was asked, and the candidates that results make of it."""

    def __init__(self, encoding: Encoding[Any]) -> None:
        if not isinstance(encoding, Encoding):
            allowed = "Direct, Patterns, Waves, Bones or one of your own"
            where, value = "search, encoding", type(encoding).__name__
            raise InputError("this is not an encoding of bodies", where=where, value=value, allowed=allowed)
        self.encoding = encoding
        self.count = 0
        self._asked: list[tuple[Any, Design]] | None = None

    def ask(self, genomes: Sequence[Any]) -> list[Design]:
        """The designs of genomes, which are to be told next."""
        if self._asked is not None:
            raise InputError("a generation was asked twice", where="search", fix="Tell the results of the first one.")
        self._asked = [(genome, design_of(self.encoding, genome)) for genome in genomes]
        return [design for _, design in self._asked]

    def tell(self, results: Sequence[Result]) -> list[Candidate]:
        """The candidates of a generation, in the order of asking."""
        asked = self._asked
        if asked is None:
            raise InputError("results were told before a generation was asked", where="search")
        if [design.key() for _, design in asked] != [result.design for result in results]:
            raise InputError("the results are not those of the designs that were asked", where="search",
                             value=f"{len(results)} results",
                             allowed=f"{len(asked)}, in the order of asking")  # fmt: skip
        first, self._asked = self.count, None
        self.count += len(asked)
        return [Candidate(first + k, *one, result) for k, (one, result) in enumerate(zip(asked, results))]


def gains(candidates: Sequence[Candidate], measures: Sequence[Measure]) -> Array:
    """Scores of candidates, turned so that more is better, (n, measures). They are finite."""
    signs = [1.0 if one.better == "more" else -1.0 for one in measures]
    rows = [[sign * one.result.scores[m.name] for sign, m in zip(signs, measures)] for one in candidates]
    return np.array(rows).reshape(len(candidates), len(measures))


def checked_objectives(given: Any) -> tuple[Measure, ...]:
    """What is to be improved, at least one measure."""
    return measures_of(given)


def checked_population(given: Any, *, least: int, where: str) -> int:
    """How many designs a generation has."""
    check_number(given, name="population", where=where, least=least, whole=True)
    return int(given)


def generator_of(seed: int, method: int) -> np.random.Generator:
    """The generator of a method of our own, each of which has a number."""
    check_number(seed, name="seed", where="search", least=0, whole=True)
    return np.random.default_rng([seed, method])


def seed_of(seed: int, name: str) -> int:
    """A seed for a library's own generator, from 1 to 2^32 - 1: some read 0 as "choose one at random"."""
    check_number(seed, name="seed", where="search", least=0, whole=True)
    words = np.random.SeedSequence([seed, *name.encode()]).generate_state(4)
    return next((int(word) for word in words if word), 1)


def missing_extra(what: str) -> MissingExtraError:
    """The error for a library of the extra `design` that is not installed."""
    return MissingExtraError("design", needed_for=what)
