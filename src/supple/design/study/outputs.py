"""What a study leaves in its folder: tables, the best designs as scene and VoxCAD files, plots, pictures, a video."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from supple.design.arena import ArenaLike
from supple.design.search.elites import Elites
from supple.design.search.history import Found
from supple.design.search.method_protocol import Candidate, Method
from supple.design.study.pictures import draw_generations, draw_map, draw_progress, film_best, scene_of
from supple.design.study.written import write_voxcad
from supple.design.tasks.task import Task
from supple.errors import InputError, MissingExtraError, RecordError, SuppleError
from supple.files.scenes.scene_files import RunSettings, save
from supple.scene.scene import Scene

BEST = 3
"""Designs that are written as files."""

PROGRAM = '''"""A robot found for {task}: `supple view {stem}.py` opens it, `supple run {stem}.py` records it."""

import json
from pathlib import Path

from supple.design import Design
from supple.design.tasks import find_task

task = find_task("{task}")
until = task.duration


def make_scene():
    """The task's scene with the robot in it."""
    return task.scene(Design.from_json(json.loads(Path(__file__).with_suffix(".json").read_text())))
'''
"""Of a task; `supple` runs such files where they are named."""

SEARCHED = '''"""A robot found by {name}: `supple view {stem}.py` opens it, `supple run {stem}.py` records it."""

import json
from pathlib import Path

from supple.design import Design
from supple.design.study.pictures import scene_of
from supple.design.study.study import load_study

here = Path(__file__).parent
arena = load_study(here / {study!r}).arena
until = arena.settle + arena.duration


def make_scene():
    """The scene of the search with the robot in it."""
    return scene_of(Design.from_json(json.loads(Path(__file__).with_suffix(".json").read_text())), arena, seed={seed})
'''
"""Of an arena that no scene file can hold, such as one with a controller in Python: the search's file says it."""


class Champions:
    """An observer of a search: the best candidate of every generation."""

    def __init__(self, measure: Any) -> None:
        self.measure = measure
        self.rows: list[tuple[int, Candidate]] = []

    def __call__(self, row: Any, told: Sequence[Candidate]) -> None:
        """Note the best of a generation that finished."""
        well = [one for one in told if one.result.ok]
        sign = 1.0 if self.measure.better == "more" else -1.0
        if well:
            self.rows.append((row.number, max(well, key=lambda c: sign * c.result.scores[self.measure.name])))


class LiveOutputs:
    """An observer of a search: its tables after each generation, its plot from time to time, so that a search that is
    on its way, or was stopped, can be looked at. found: what the search has found so far. every [s]: between plots."""

    def __init__(self, folder: Path, found: Callable[[], Found], *, plot: bool, every: float = 20.0) -> None:
        self.folder, self.found, self.plot, self.every = folder, found, plot, every
        self.plotted = perf_counter()

    def __call__(self, row: Any, told: Sequence[Candidate]) -> None:
        """Write what has changed."""
        found = self.found()
        write_tables(found, self.folder)
        if self.plot and perf_counter() - self.plotted >= self.every:
            _tried(lambda: draw_progress(found, self.folder / "progress.png"))
            self.plotted = perf_counter()


def write_tables(found: Found, folder: Path) -> None:
    """history.csv and archive.csv."""
    for name, rows in (("history.csv", [one.to_row() for one in found.history]), ("archive.csv", found.rows())):
        try:
            with open(folder / name, "w", newline="", encoding="utf-8") as file:
                columns = list(dict.fromkeys(key for row in rows for key in row))
                table = csv.DictWriter(file, columns)
                table.writeheader()
                table.writerows({key: repr(v) if isinstance(v, float) else v for key, v in row.items()} for row in rows)
        except OSError as error:
            raise RecordError(f"the table cannot be written: {error.strerror}", where=str(folder / name)) from error


def write_best(found: Found, arena: ArenaLike, folder: Path, *, seed: int = 0, study: Path | None = None) -> list[str]:
    """The best designs: best.json, a scene file best.toml and best.vxa; then best-2 and best-3. The robots of a task,
    and those that functions of Python drive, which no scene file can hold, are scenes in Python, best.py; those that
    read the arena in the study's file. Returns what could not be written, and what is lost in VoxCAD files, in
    sentences."""
    lacking: list[str] = []
    until = RunSettings(until=arena.settle + arena.duration, record_every=arena.record_every)
    for k, one in enumerate(found.best[:BEST]):
        stem = "best" if k == 0 else f"best-{k + 1}"
        design = one.design
        if isinstance(arena, Task):
            write_scene = partial(_write_text, PROGRAM.format(stem=stem, task=arena.name), folder / f"{stem}.py")
        else:
            write_scene = partial(_write_scene, scene_of(design, arena, seed=seed), until, folder / stem, seed, study)
        lacking += _tried(partial(_write_text, json.dumps(design.to_json()) + "\n", folder / f"{stem}.json"))
        lacking += _tried(write_scene)
        lacking += _tried(partial(_write_voxels, one, found, arena, folder / f"{stem}.vxa", lacking))
    return list(dict.fromkeys(lacking))


def _write_voxels(one: Candidate, found: Found, arena: ArenaLike, path: Path, notes: list[str]) -> None:
    notes += write_voxcad(one, found.objectives, arena, path)


def _write_text(text: str, path: Path) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RecordError(f"the file cannot be written: {error.strerror}", where=str(path)) from error


def _write_scene(scene: Scene, run: RunSettings, path: Path, seed: int, study: Path | None) -> None:
    """A scene file of TOML, or one of Python where that cannot hold what drives the robot. path: without a suffix."""
    try:
        save(scene, path.with_suffix(".toml"), run=run)
    except InputError:
        if study is None:
            raise
        try:
            there = os.path.relpath(study.resolve(), path.parent.resolve())
        except ValueError:  # on another drive
            there = str(study.resolve())
        text = SEARCHED.format(name=study.name, stem=path.name, study=there, seed=seed)
        _write_text(text, path.with_suffix(".py"))


def write_pictures(
    found: Found, method: Method, champions: Champions, arena: ArenaLike, folder: Path, *, seed: int = 0
) -> list[str]:
    """progress.png, generations.png, best.gif, and map.png of an archive of elites. Returns what could not be drawn, in
    sentences."""
    lacking = _tried(lambda: draw_progress(found, folder / "progress.png"))
    if lacking or not found.best:
        return lacking
    lacking += _tried(
        lambda: draw_generations(champions.rows, arena, found.objectives[0], folder / "generations.png")
    )  # fmt: skip
    elites = getattr(method, "elites", None)
    if isinstance(elites, Elites):
        lacking += _tried(lambda: draw_map(elites, folder / "map.png"))
    return lacking + _tried(lambda: film_best(found.best[0].design, arena, folder / "best.gif", seed=seed))


def _tried(write: Callable[[], None]) -> list[str]:
    """What one of several files lacks; the others are written all the same."""
    try:
        write()
    except (MissingExtraError, SuppleError) as error:
        return [f"not written: {error.sentence()}"]
    except OSError as error:
        return [f"not written: {error.filename or 'a file'}: {error.strerror}"]
    return []
