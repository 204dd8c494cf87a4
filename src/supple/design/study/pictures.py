"""Pictures of a search: its progress, the best robots of its generations, a map of elites, a video of the best one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supple.design.arena import Arena, ArenaLike
from supple.design.designs import Design
from supple.design.search.elites import Elites
from supple.design.search.history import Found
from supple.design.search.method_protocol import Candidate
from supple.design.study.dressing import dressed
from supple.exports.camera import Camera
from supple.exports.export import export
from supple.exports.layers import save_png
from supple.exports.plot.paper import colours, make_figure
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
    axes.set_ylabel(f"{measure.name} [{measure.unit}]" if measure.unit else measure.name)
    axes.legend(frameon=False)
    figure.savefig(path, format="png", dpi=150)


def draw_map(elites: Elites, path: Path) -> None:
    """The archive over its first two axes: each cell in the colour of its elite's gain."""
    one, two = elites.descriptors[0], elites.descriptors[min(1, len(elites.descriptors) - 1)]
    figure, (axes,) = make_figure(title=f"{len(elites.archive)} elites in {elites.archive.cells} cells")
    gain, places = elites.values(elites.kept())
    flat = np.zeros(len(gain)) if len(elites.descriptors) == 1 else np.clip(places[:, 1], two.low, two.high)
    across = np.clip(places[:, 0], one.low, one.high)
    points = axes.scatter(across, flat, c=gain, s=60, cmap="viridis")
    axes.set_xlim(one.low, one.high)
    axes.set_xlabel(f"{one.measure.name} [{one.measure.unit}]")
    if len(elites.descriptors) > 1:
        axes.set_ylim(two.low, two.high)
        axes.set_ylabel(f"{two.measure.name} [{two.measure.unit}]")
    objective = elites.objectives[0]
    figure.colorbar(points, ax=axes, label=f"{objective.name} [{objective.unit}]")
    figure.savefig(path, format="png", dpi=150)


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
