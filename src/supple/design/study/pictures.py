"""Pictures of a search: its progress, the best robots of its generations, a map of elites, a video of the best one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supple.design.arena import Arena, ArenaLike
from supple.design.designs import Design
from supple.design.measures import Measure
from supple.design.search.elites import Elites
from supple.design.search.history import Found
from supple.design.search.method_protocol import Candidate
from supple.design.study.dressing import dressed
from supple.exports.camera import Camera
from supple.exports.export import export
from supple.exports.layers import save_png
from supple.exports.plot.paper import FAINT, colours, make_figure
from supple.exports.video import draw_film
from supple.exports.view import View
from supple.running import run as run_scene
from supple.scene.scene import Scene

Array = np.ndarray
TILE = (300, 240)
COLUMNS, TILES = 4, 8
FILM, FILM_FPS = (480, 320), 15.0


def scene_of(design: Design, arena: ArenaLike, *, seed: int = 0) -> Scene:
    """The scene of a design, muscles in the colours of their phases where the arena lets us."""
    if isinstance(arena, Arena):
        arena, design = dressed(arena, design)
    return arena.scene(design, seed)


def draw_progress(found: Found, path: Path) -> None:
    """Best and median scores of the first objective over the generations."""
    measure = found.objectives[0]
    figure, (axes,) = make_figure(title=f"{measure.name} of {sum(g.designs for g in found.history)} designs")
    ink = colours(3)
    numbers = [one.number for one in found.history]
    for label, values, colour in (
        ("best so far", [one.record for one in found.history], ink[0]),
        ("best of the generation", [one.best[measure.name] for one in found.history], ink[1]),
        ("median of the generation", [one.median[measure.name] for one in found.history], ink[2]),
    ):
        axes.plot(numbers, [np.nan if v is None else v for v in values], marker="o", ms=3, color=colour, label=label)
    axes.set_xlabel("generation")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylabel(_label(measure))
    axes.legend(frameon=False)
    figure.savefig(path, format="png", dpi=150)


def scores_on_map(elites: Elites) -> Array:
    """Scores of the elites in the cells of the first two axes, (cells, cells), NaN in empty ones, or (cells, 1).
    Of elites that differ in further axes alone, the best one counts."""
    counts = [*(one.cells for one in elites.descriptors), 1]
    found, objective = np.full(counts[:2], np.nan), elites.objectives[0]
    held = list(zip(elites.values(elites.kept())[0], elites.cells_of_kept(), elites.kept(), strict=True))
    for _, cell, one in sorted(held, key=lambda row: float(row[0])):
        found[tuple([*cell, 0][:2])] = one.result.scores[objective.name]
    return found


def draw_map(elites: Elites, path: Path) -> None:
    """The archive over its first two axes: each cell in the colour of its elite's score."""
    one, two = elites.descriptors[0], (*elites.descriptors, None)[1]
    figure, (axes,) = make_figure(title=f"{len(elites.archive)} elites in {elites.archive.cells} cells")
    across = np.linspace(one.low, one.high, one.cells + 1)
    up = np.array([0.0, 1.0]) if two is None else np.linspace(two.low, two.high, two.cells + 1)
    axes.grid(visible=False)
    mesh = axes.pcolormesh(across, up, scores_on_map(elites).T, cmap="viridis", edgecolors=FAINT, linewidth=0.6)
    axes.set_xlabel(_label(one.measure))
    if two is None:
        axes.set_yticks([])
    else:
        axes.set_ylabel(_label(two.measure))
    figure.colorbar(mesh, ax=axes, label=_label(elites.objectives[0]))
    figure.savefig(path, format="png", dpi=150)


def _label(measure: Measure) -> str:
    """A measure as it stands at an axis."""
    return f"{measure.name} [{measure.unit}]" if measure.unit else measure.name


def draw_generations(champions: Sequence[tuple[int, Candidate]], arena: ArenaLike, objective: Any, path: Path) -> None:
    """The best robots of generations side by side, after a period of their swing. champions: generation, candidate."""
    chosen = [champions[k] for k in sorted({*np.linspace(0, len(champions) - 1, TILES).round().astype(int).tolist()})]
    tiles = []
    for number, one in chosen:
        until = max(arena.settle, 2 * arena.record_every)
        moved = run_scene(scene_of(one.design, arena), until=until, record_every=arena.record_every, progress=False)
        frame = len(moved.frames.times) - 1  # type: ignore[union-attr]
        view = View(moved.frames, (frame,), Camera())  # type: ignore[arg-type]
        score = f"{one.result.scores[objective.name]:.3g} {objective.unit}"
        tiles.append(next(iter(draw_film(view, TILE, f"generation {number}", [(frame, score)]))))
    rows = -(-len(tiles) // COLUMNS)
    tiles += [np.full_like(tiles[0], 255)] * (rows * COLUMNS - len(tiles) if rows > 1 else 0)
    width = COLUMNS if rows > 1 else len(tiles)
    lines = [np.concatenate(tiles[k : k + width], axis=1) for k in range(0, len(tiles), width)]
    save_png(np.concatenate(lines, axis=0), path)


def film_best(design: Design, arena: ArenaLike, path: Path, *, seconds: float = 6.0, seed: int = 0) -> None:
    """A video of a design, from its start, of so many simulated seconds at most."""
    until = min(arena.settle + arena.duration, seconds)
    scene = scene_of(design, arena, seed=seed)
    moved = run_scene(scene, until=until, record_every=1 / FILM_FPS, progress=False)
    export(moved, path, fps=FILM_FPS, size=FILM)
