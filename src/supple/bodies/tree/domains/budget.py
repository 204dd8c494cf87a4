"""How many reduced coordinates each domain gets: given, or a total shared out.

A total is shared in proportion to the domains' elements, or to their logarithm, which favours small domains; but every
deformable domain gets at least the minimum, and none more than it can hold. Whole numbers follow by largest remainder.
The sum is exactly the total.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from supple.errors import InputError, check_choice

Array = np.ndarray


@dataclass(frozen=True)
class ModeBudget:
    """total: coordinates of all domains. by: "elements" or "logarithm" of their number. minimum: of each deformable
    domain. rigid: names of domains without modes.

    >>> ModeBudget(24, minimum=4).share(["trunk", "twig"], [900, 100], [99, 99])
    [20, 4]
    """

    total: int
    by: Literal["elements", "logarithm"] = "elements"
    minimum: int = field(default=1, kw_only=True)
    rigid: Collection[str] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        check_choice(self.by, ("elements", "logarithm"), "share of the modes", where="ModeBudget")
        for name in ("total", "minimum"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
                raise InputError(f"the {name} is not a whole number from 0", where="ModeBudget", value=value)

    def share(self, names: Sequence[str], elements: Sequence[int], capacity: Sequence[int]) -> list[int]:
        """Modes of each domain. elements: their number. capacity: the most modes each can hold."""
        _check_known(self.rigid, names, "ModeBudget.rigid")
        soft = np.array([name not in set(self.rigid) for name in names])
        largest = np.where(soft, capacity, 0)
        small = [name for name, can, deforms in zip(names, capacity, soft) if deforms and can < self.minimum]
        if small:
            raise InputError(
                f"the domain is too small for {self.minimum} modes",
                where=f"domain '{small[0]}'",
                fix="Lower the minimum, name it in `rigid`, or join it to its neighbour.",
            )
        least, limit = self.minimum * int(soft.sum()), int(largest.sum())
        if not least <= self.total <= limit:
            raise InputError(
                "the total number of modes cannot be shared out",
                where="ModeBudget",
                value=self.total,
                allowed=f"{least} ({self.minimum} for each of {int(soft.sum())} domains) to {limit} (their unknowns)",
            )
        weight = np.asarray(elements, dtype=float) if self.by == "elements" else np.log1p(elements)
        return _fill(weight, np.where(soft, self.minimum, 0), largest, self.total).tolist()


def _fill(weight: Array, least: Array, largest: Array, total: int) -> Array:
    """Whole numbers of a given sum, in proportion to the weights, between bounds that allow that sum."""

    def at(level: float) -> Array:
        return np.clip(level * weight, least, largest)

    low, high = 0.0, float((largest / weight).max())
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if at(middle).sum() < total else (low, middle)
    wanted = at(high)
    out = np.floor(wanted + 1e-9).astype(np.int64)
    order = np.argsort(-(wanted - out), kind="stable")
    for k in order[out[order] < largest[order]][: total - int(out.sum())]:
        out[k] += 1
    return out


Modes = int | Mapping[str, int] | ModeBudget


def resolve_modes(
    modes: Modes, names: Sequence[str], elements: Sequence[int], capacity: Sequence[int]
) -> dict[str, int]:
    """Modes of each domain by name; refuses, by name, a domain that cannot hold them."""
    if isinstance(modes, ModeBudget):
        return dict(zip(names, modes.share(names, elements, capacity)))
    if isinstance(modes, Mapping):
        _check_known(modes, names, "modes")
        missing = [name for name in names if name not in modes]
        if missing:
            raise InputError("the domain has no number of modes", where=f"domain '{missing[0]}'")
        counts = [modes[name] for name in names]
    else:
        counts = [modes] * len(names)
    for name, count, largest in zip(names, counts, capacity):
        where = f"domain '{name}'"
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise InputError("the number of modes is not a whole number from 0", where=where, value=count)
        if count > largest:
            raise InputError(
                "the domain is too small for its modes",
                where=where,
                value=int(count),
                allowed=f"at most {largest}, its free unknowns",
                fix="Give it fewer modes, 0 for a rigid domain, or join it to its neighbour.",
            )
    return {name: int(count) for name, count in zip(names, counts)}


def _check_known(given: Collection[str], names: Sequence[str], where: str) -> None:
    unknown = [name for name in given if name not in set(names)]
    if unknown:
        raise InputError(
            "no domain of that name", where=where, value=str(unknown[0]), allowed=", ".join(map(str, names))
        )
