"""Two measurements of the same cases, set side by side: the best of each quantity, its ratio, and whether it is slower.

    ratio = here / there        ok: ratio <= 1 + tolerance for times, 1 / ratio <= 1 + tolerance for rates and speed-ups

Not judged (ok is None): counts, sizes and errors; parts of a step, which may grow when others shrink; costs paid once
a run, which are measured too seldom; and what only one side has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any, Literal, NamedTuple

from supple.bench.former_names import FORMER_QUANTITIES

TIME_UNITS = ("ns", "us", "ms", "s", "min")
GAINS = ("rate", "speed_up", "speed-up", "real_time_factor", "simulated over real time", "two threads over one")
PARTS_AND_STARTS = ("of a step", "of this", "precompute_time", "factorisation", "first step")

Sense = Literal["time", "gain"] | None
Key = tuple[str, str]
"""A quantity's present name, and its unit."""


class Compared(NamedTuple):
    """A quantity here and there; None where a side does not have it. ok: None where nothing is judged."""

    case: str
    quantity: str
    unit: str
    here: float | None
    there: float | None
    ratio: float | None
    ok: bool | None


class Best(NamedTuple):
    """The best value of a quantity, under the name it has on this side; None where it never was a number."""

    quantity: str
    value: float | None


def present_name(name: str, former: dict[str, str]) -> str:
    """A name as it is now."""
    for now, before in former.items():
        if name.startswith(before):
            return now + name.removeprefix(before)
    return name


def sense_of(quantity: str, unit: str) -> Sense:
    """Whether a smaller value is better ("time"), a larger one ("gain"), or neither."""
    if quantity.startswith(GAINS) or unit.endswith("/s"):
        return "gain"
    return "time" if unit in TIME_UNITS else None


def label_of(row: dict[str, Any]) -> str:
    """A row's quantity, with threads, type and device where they are not the usual ones."""
    usual = (("threads", 1), ("dtype", "float64"), ("device", "cpu"))
    unusual = {name: row[name] for name, value in usual if row.get(name, value) != value}
    if "threads" in unusual:
        unusual["threads"] = f"{unusual['threads']} threads"
    return ", ".join([row["quantity"], *map(str, unusual.values())])


def best_of_rounds(rounds: Iterable[Sequence[dict[str, Any]]]) -> dict[Key, Best]:
    """The best of each quantity: the shortest time, the largest gain, the median of all else."""
    shown: dict[Key, str] = {}
    values: dict[Key, list[float]] = {}
    for rows in rounds:
        for row in rows:
            label = label_of(row)
            key = (present_name(label, FORMER_QUANTITIES), row["unit"])
            shown.setdefault(key, label)
            values.setdefault(key, []).extend([] if row["value"] is None else [float(row["value"])])
    choose: dict[Sense, Callable[[list[float]], float]] = {"time": min, "gain": max, None: median}
    return {key: Best(shown[key], choose[sense_of(*key)](found) if found else None) for key, found in values.items()}


def compare(case: str, here: dict[Key, Best], there: dict[Key, Best], tolerance: float) -> list[Compared]:
    """All quantities of both sides, those of this side first."""
    rows = []
    for key in here | there:
        shown = here.get(key) or there[key]
        a, b = (side[key].value if key in side else None for side in (here, there))
        ratio = a / b if a is not None and b else None
        rows.append(Compared(case, shown.quantity, key[1], a, b, ratio, is_ok(*key, ratio, tolerance)))
    return rows


def is_ok(quantity: str, unit: str, ratio: float | None, tolerance: float) -> bool | None:
    """Whether a quantity is not slower by more than the tolerance; None where it is not judged."""
    sense = sense_of(quantity, unit)
    if ratio is None or sense is None or any(words in quantity for words in PARTS_AND_STARTS):
        return None
    slower = ratio if sense == "time" else 1 / ratio if ratio > 0 else float("inf")
    return slower <= 1 + tolerance
