"""A study in a folder: its search with a table that grows, what it leaves, and how it is resumed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from supple.design.search.history import Found, Generation
from supple.design.search.method_protocol import Candidate
from supple.design.store import Store
from supple.design.study.outputs import Champions, LiveOutputs, write_best, write_pictures, write_tables
from supple.design.study.study import Study, load_study
from supple.errors import InputError, RecordError, printable

FREE = ("generations", "workers", "summary", "store", "time_limit")
"""Keys that may change when a search is resumed."""
NOTE = "study.json"
"""What a folder is of."""
DAY = 86400.0  # [s]


def run_study(
    path: Path, changes: dict[str, Any], out: Path | None, *, resume: bool, pictures: bool, quiet: bool
) -> dict[str, Any]:
    """Run a study, and say what came out as plain values."""
    study = load_study(path, changes=changes)
    folder = Path("out") / study.name if out is None else out
    _check_folder(folder, study, resume=resume)
    champions, table, begun = Champions(study.method.objectives[0]), Table(study, quiet=quiet), perf_counter()
    failures = Failures(quiet=quiet)
    with Store(study.store or folder / "store.db") as store:
        _write_note(folder / NOTE, study)
        known = len(store)
        live = LiveOutputs(folder, lambda: search.found(), plot=pictures)
        search = study.search(
            store=store, observers=[champions, table, failures, live], progress=False if quiet else None
        )
        try:
            found = search.run(study.generations)
        except KeyboardInterrupt:
            print(f"supple: stopped in generation {len(search.history)}; go on with --resume", file=sys.stderr)
            raise
        seconds = perf_counter() - begun
        store.export_csv(folder / "results.csv")
        rate = (len(store) - known) / max(seconds, 1e-9)
    write_tables(found, folder)
    notes = failures.notes() + write_best(found, study.arena, folder, study=path)
    if pictures:
        notes += write_pictures(found, study.method, champions, study.arena, folder)
    return _told(study, found, folder, notes) | {"seconds": seconds, "designs_per_day": rate * DAY}


def _check_folder(folder: Path, study: Study, *, resume: bool) -> None:
    """Make the folder; refuse one that holds another search, or this one where it is not to be resumed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made: {error.strerror}", value=str(folder)) from error
    note, store = folder / NOTE, study.store or folder / "store.db"
    before = _before(note)
    if not resume and _has_results(store):
        raise InputError("the folder holds the results of a search", where=str(folder),
                         fix="Go on with --resume, or give another folder with --out.")  # fmt: skip
    if before is not None and resume and (key := _first_difference(before, study.data)):
        raise InputError("the search to be resumed was another one", where=str(note), value=key,
                         allowed=f"changes of {', '.join(FREE)}",
                         fix="Give the study as it was, or another folder with --out.")  # fmt: skip


def _has_results(path: Path) -> bool:
    """Whether a store has results; one that cannot be read counts as one that has."""
    if not path.exists():
        return False
    try:
        with Store(path, write=False) as store:
            return len(store) > 0
    except RecordError:
        return True


def _write_note(note: Path, study: Study) -> None:
    """Say what the folder is of, once its store is locked for this run."""
    try:
        note.write_text(json.dumps(study.data, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise RecordError(f"the folder cannot be written: {error.strerror}", where=str(note)) from error


def _before(note: Path) -> Any:
    try:
        return json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _first_difference(one: Any, two: Any, path: str = "") -> str | None:
    """Where two studies differ, in what may not change."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in sorted({*one, *two} - set(FREE)):
            if found := _first_difference(one.get(key), two.get(key), f"{path}.{key}" if path else key):
                return found
        return None
    return None if one == two else path


class Table:
    """A table on standard error with a line for every generation, as it ends."""

    def __init__(self, study: Study, *, quiet: bool) -> None:
        self.measure = study.method.objectives[0]
        self.quiet, self.begun = quiet, False

    def __call__(self, row: Generation, told: Sequence[Candidate]) -> None:
        """Print a line."""
        if self.quiet:
            return
        name, unit = self.measure.name, f" [{self.measure.unit}]" if self.measure.unit else ""
        if not self.begun:
            self.begun = True
            head = ("generation", "designs", "failed", f"best {name}{unit}", "median", "best so far", "seconds")
            print(_line(head), file=sys.stderr)
        values = (row.best[name], row.median[name], row.record)
        shown = ["-" if value is None else f"{value:.5g}" for value in values]
        line = (str(row.number), str(row.designs), str(row.failed), *shown, f"{row.seconds:.1f}")
        print(_line(line), file=sys.stderr, flush=True)


class Failures:
    """Designs that did not finish, and what went wrong with the first one of each outcome, which is told at once."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet, self.designs = quiet, 0
        self.counts: dict[str, int] = {}
        self.first: dict[str, str] = {}

    def __call__(self, row: Generation, told: Sequence[Candidate]) -> None:
        """Note those of a generation."""
        self.designs += len(told)
        for one in told:
            if not one.result.ok:
                self._note(one.result.outcome, one.result.message)

    def _note(self, outcome: str, message: str) -> None:
        self.counts[outcome] = self.counts.get(outcome, 0) + 1
        if outcome not in self.first:
            self.first[outcome] = message
            if not self.quiet:
                print(printable(f"supple: the first design that failed, {outcome}: {message}"), file=sys.stderr)

    def notes(self) -> list[str]:
        """A sentence for each outcome."""
        return [
            f"{count} of {self.designs} designs failed, the first one: {outcome}: {self.first[outcome]}"
            for outcome, count in self.counts.items()
        ]


def _line(cells: Sequence[str]) -> str:
    widths = (10, 8, 7, 20, 12, 12, 8)
    return " ".join(cell.rjust(width) for cell, width in zip(cells, widths))


def _told(study: Study, found: Found, folder: Path, notes: list[str]) -> dict[str, Any]:
    best = [{"number": one.number, "design": one.design.key(), "scores": dict(one.result.scores)} for one in found.best]
    return {
        "study": study.name,
        "seed": study.seed,
        "designs": sum(row.designs for row in found.history),
        "history": [row.to_row() for row in found.history],
        "best": best,
        "archive": found.rows(),
        "folder": str(folder),
        "files": sorted(path.name for path in folder.iterdir()),
        "notes": notes,
    }
