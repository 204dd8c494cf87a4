"""Pairs of names, such as those of bodies that touch: numbers of names, and names where somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

Array = np.ndarray


class NamedPairs(Sequence[tuple[str, str]]):
    """A row of pairs of names. names: of all that may occur; numbers (k, 2): of the two in each pair.

    >>> NamedPairs(("box", "floor"), [[0, 1]])[0]
    ('box', 'floor')
    """

    def __init__(self, names: Sequence[str], numbers: Any) -> None:
        self.names = names
        self.numbers: Array = np.asarray(numbers, dtype=np.int64).reshape(-1, 2)

    @classmethod
    def joined(cls, parts: Sequence[Sequence[tuple[str, str]]]) -> NamedPairs:
        """One row after another."""
        if len(parts) == 1 and isinstance(parts[0], NamedPairs):
            return parts[0]
        pairs = [pair for part in parts for pair in part]
        names = list(dict.fromkeys(name for pair in pairs for name in pair))
        number = {name: k for k, name in enumerate(names)}
        return cls(names, [(number[one], number[other]) for one, other in pairs])

    @classmethod
    def among(cls, names: Sequence[str], numbers: Array) -> NamedPairs:
        """Of numbers (k, 2) in a table of names; those that occur, in the order in which they do, are kept.

        >>> NamedPairs.among(["box", "ball", "floor"], np.array([[1, 2], [0, 2]])).names
        ['ball', 'floor', 'box']
        """
        seen = list(dict.fromkeys(numbers.ravel().tolist()))
        place = np.zeros(len(names), dtype=np.int64)
        place[seen] = np.arange(len(seen))
        return cls([names[k] for k in seen], place[numbers])

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> tuple[str, str]: ...
    @overload
    def __getitem__(self, at: slice) -> NamedPairs: ...
    def __getitem__(self, at: int | slice) -> tuple[str, str] | NamedPairs:
        if isinstance(at, slice):
            return NamedPairs(self.names, self.numbers[at])
        one, other = self.numbers[at].tolist()
        return self.names[one], self.names[other]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((self.names[one], self.names[other]) for one, other in self.numbers.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(a == b for a, b in zip(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))
