"""voxel/damping: what damping of the links does to the static error of a loaded beam, as [HL12, figure 7].

The source's thick cantilever is loaded at once and its tip compared with the equilibrium that Newton's method finds.
Without any damping it swings for ever; critical bond damping alone takes the error down by more than five orders in
120,000 steps (the source: seven). With the source's ground damping the tip comes to rest at round-off whether links
are damped or not: the force is a smooth function of the state, so there is no jitter that link damping has to remove.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.solvers import solve_statics
from supple.validation.figure import COLOURS, GREY, make_figure, save_figure
from supple.validation.row import Row, bounded
from supple.validation.voxel.blocks import block, held_system, layer

Array = np.ndarray
CASE = "voxel/damping"
SHAPE, FORCE = (10, 5, 5), 0.1  # the thick cantilever, [N]
GROUND = 0.013  # ground damping of the source's program
DT = 3e-6  # [s], a tenth of sqrt(m / (E l)): stable with critical bond damping
STEPS, WINDOWS = 120_000, 240
PUBLISHED = "Hiller and Lipson 2012, figure 7: 1e-7"


@cache
def static_tip() -> float:
    """Height of the tip's middle voxel [m] at equilibrium, to round-off."""
    body = block(SHAPE)
    load = tip_load()
    state = solve_statics(held_system(body, layer(body, 0, 0), load=load), tolerance=1e-12)
    return float(state.x.reshape(-1, 7)[middle(), 2])


def tip_load() -> Array:
    """The force shared by the last layer, (n, 6)."""
    body = block(SHAPE)
    tip = layer(body, 0, -1)
    load = np.zeros((body.model.voxel_count, 6))
    load[tip, 2] = -FORCE / len(tip)
    return load


def middle() -> int:
    """Number of the voxel in the middle of the tip."""
    cells = block(SHAPE).grid.voxels
    return int(np.flatnonzero((cells == (SHAPE[0] - 1, SHAPE[1] // 2, SHAPE[2] // 2)).all(axis=1))[0])


@cache
def errors(bond_damping: float, ground_damping: float) -> Array:
    """Largest distance of the tip from equilibrium in each window of steps, over its deflection, (WINDOWS,)."""
    body = block(SHAPE, bond_damping=bond_damping, ground_damping=ground_damping)
    sweep = LatticeSweep.make(body.model, held=layer(body, 0, 0))
    sweep.set_loads(tip_load())
    at, rest = middle(), static_tip()
    deflection = abs(float(body.model.centres[at, 2]) - rest)
    found = np.zeros(WINDOWS)
    for k in range(WINDOWS):
        for _ in range(10):
            sweep.advance(DT, STEPS // WINDOWS // 10)
            found[k] = max(found[k], abs(float(sweep.component(2)[at]) - rest) / deflection)
    return found


def damping() -> list[Row]:
    """How much lower the static error is with damped links, and the floor that ground damping reaches."""
    swinging, settled = errors(0.0, 0.0), errors(1.0, 0.0)
    ratio = settled[-10:].max() / swinging[-10:].max()
    rows = [bounded(CASE, "static error, bond damping 1 over 0", ratio, 1e-5, source=PUBLISHED)]
    for bond in (0.0, 1.0):
        floor = float(errors(bond, GROUND)[-10:].max())
        what = f"static error, ground damping {GROUND}, bond damping {bond:g}"
        rows.append(bounded(CASE, what, floor, 1e-11, source="equilibrium by Newton's method"))
    return rows


def picture(path: Path) -> None:
    """The static error against the steps made."""
    figure, axes = make_figure(9.0, 5.0)
    ax = axes[0, 0]
    steps = STEPS / WINDOWS * (np.arange(WINDOWS) + 0.5)
    for bond, ground, colour, style in (
        (0.0, 0.0, GREY, "-"),
        (1.0, 0.0, COLOURS[0], "-"),
        (0.0, GROUND, COLOURS[1], "-"),
        (1.0, GROUND, COLOURS[3], "--"),
    ):
        label = f"bond damping {bond:g}, ground damping {ground:g}"
        ax.semilogy(1e-3 * steps, errors(bond, ground), color=colour, ls=style, lw=1.4, label=label)
    ax.set(xlabel="thousand steps", ylabel="distance of the tip from equilibrium over its deflection")
    ax.set_ylim(1e-16, 5)
    ax.set_title("Thick cantilever, 10x5x5 voxels: how far it is from rest", fontsize=11, loc="left")
    ax.legend(fontsize=9, loc="center right", bbox_to_anchor=(1.0, 0.34))
    save_figure(figure, path)


CASES = {CASE: damping}
PICTURES = {CASE: picture}
