"""supple bench --against: this checkout and another one, measured by turns, so that noise meets both alike."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

import typer

from supple.bench.checkout import other_sources, own_sources
from supple.bench.compare import Compared, best_of_rounds, compare, present_name
from supple.bench.former_names import FORMER_CASES
from supple.bench.side import Side
from supple.cli.names import chosen_cases
from supple.cli.notices import tell
from supple.cli.printing import as_row, print_json, print_table
from supple.errors import InputError

COLUMNS = ("case", "quantity", "unit", "here", "there", "ratio", "verdict")
Turn = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    """rounds: runs of each case on each side. tolerance: part by which a time may grow. threads: of both sides."""

    rounds: int = 3
    tolerance: float = 0.05
    threads: int = 1


@dataclass(frozen=True)
class SharedCase:
    """A case under its name on each side; None on the side that lacks it."""

    here: str | None
    there: str | None

    @property
    def name(self) -> str:
        """What it is called in the table."""
        return self.here or self.there or ""


def bench_against(given: Sequence[str], against: str, settings: Settings, *, as_json: bool) -> None:
    """Measure, print, and exit 1 where this checkout is slower."""
    with other_sources(against) as sources:
        here = Side("here", own_sources(), settings.threads)
        there = Side("there", sources, settings.threads)
        cases = choose(given, pair(here.cases(), there.cases()))
        turns = sum(settings.rounds * 2 if case.here and case.there else 1 for case in cases)
        with progress(turns) as begin:
            rows = [row for case in cases for row in measure(case, here, there, settings, begin)]
    if as_json:
        print_json([as_row(row) for row in rows])
    else:
        print_table(COLUMNS, [as_row(row) | {"verdict": verdict(row)} for row in rows])
        judged, slower = sum(row.ok is not None for row in rows), sum(row.ok is False for row in rows)
        print(f"{slower} of {judged} are slower than in {against} by more than {100 * settings.tolerance:g} %.")
    if any(row.ok is False for row in rows):
        raise typer.Exit(1)


def pair(here: Sequence[str], there: Sequence[str]) -> list[SharedCase]:
    """All cases of both sides, found under former names too."""
    own, other = ({present_name(case, FORMER_CASES): case for case in cases} for cases in (here, there))
    return [SharedCase(own.get(name), other.get(name)) for name in own | other]


def choose(given: Sequence[str], cases: Sequence[SharedCase]) -> list[SharedCase]:
    """The cases a person named, at least one of them on both sides."""
    by_name = {case.name: case for case in cases}
    chosen = [by_name[name] for name in chosen_cases(given, by_name)]
    if not any(case.here and case.there for case in chosen):
        both = ", ".join(case.name for case in cases if case.here and case.there) or "none"
        names = ", ".join(case.name for case in chosen)
        raise InputError("the two sides have no case in common", value=names, fix=f"Cases of both: {both}.")
    return chosen


def measure(case: SharedCase, here: Side, there: Side, settings: Settings, begin: Turn) -> list[Compared]:
    """One case, by turns: here there, there here, ...; once where only one side has it."""
    sides = [(side, name) for side, name in ((here, case.here), (there, case.there)) if name]
    found: dict[str, list[list[dict[str, object]]]] = {"here": [], "there": []}
    for k in range(settings.rounds if len(sides) == 2 else 1):
        for side, name in sides[:: -1 if k % 2 else 1]:
            begin(f"{name}, {side.name}, round {k + 1}")
            found[side.name].append(side.measure(name))
    rows = compare(case.name, best_of_rounds(found["here"]), best_of_rounds(found["there"]), settings.tolerance)
    if not rows:
        tell(f"{case.name} measures nothing with {settings.threads} thread(s); try --threads 2.")
    return rows


def verdict(row: Compared) -> str:
    """A row's last column."""
    if row.ok is not None:
        return "ok" if row.ok else "SLOWER"
    if (row.here is None) == (row.there is None):
        return ""
    return "only there" if row.here is None else "only here"


@contextmanager
def progress(turns: int) -> Iterator[Turn]:
    """A bar on standard error, on a terminal only; told the name of each turn as it begins."""
    if not sys.stderr.isatty():
        yield lambda name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task, ended = bar.add_task("", total=turns), count()
        yield lambda name: bar.update(task, description=name, completed=next(ended))
