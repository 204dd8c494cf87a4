"""voxel/scaling: speed per voxel of cubes of growing size, as [HL12, figure 6]; `supple bench` gives the rates.

The source's speed per voxel "drops off slightly" from 1000 to 27,000 voxels, from about half a million voxels a second
at 4000. Checked is that ours drops by less than half.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from time import perf_counter

import numba
import numpy as np

from supple.bodies.voxel.sweep import LatticeSweep
from supple.validation.figure import COLOURS, GREY, make_figure, save_figure
from supple.validation.row import Row, bounded
from supple.validation.voxel import block, layer

CASE = "voxel/scaling"
SHAPES = ((10, 10, 10), (16, 16, 16), (20, 20, 10), (20, 20, 20), (30, 30, 30))
DT = 4e-6  # [s]
WORK = 400_000  # voxel-steps of one measurement
PUBLISHED = (4000, 122 * 4000)  # voxels, voxel-steps/s [HL12, section 4.1]


def rate(shape: tuple[int, int, int], repeats: int = 7) -> float:
    """Voxel-steps a second on one thread, the best of several measurements."""
    body = block(shape, poisson=0.3, bond_damping=0.3)
    sweep = LatticeSweep.make(body.model, held=layer(body, 0, 0))
    steps = max(2, WORK // body.model.voxel_count)
    times = []
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        for _ in range(repeats + 1):
            start = perf_counter()
            sweep.advance(DT, steps, gravity=(0, 0, -9.81))
            times.append(perf_counter() - start)
    finally:
        numba.set_num_threads(before)
    return body.model.voxel_count * steps / min(times[1:])


@cache
def rates() -> dict[tuple[int, int, int], float]:
    """Voxel-steps a second by shape."""
    return {shape: rate(shape) for shape in SHAPES}


def run() -> list[Row]:
    """How much of the speed per voxel is lost from the smallest body on."""
    found = rates()
    first = found[SHAPES[0]]
    return [
        bounded(
            CASE,
            f"{'x'.join(map(str, shape))}: loss of speed per voxel",
            max(0.0, 1 - found[shape] / first),
            0.5,
            source="Hiller and Lipson 2012, figure 6: drops slightly",
        )
        for shape in SHAPES[1:]
    ]


def picture(path: Path) -> None:
    """Speed per voxel against the number of voxels."""
    figure, axes = make_figure(8.0, 4.8)
    ax = axes[0, 0]
    counts = np.array([np.prod(shape) for shape in rates()])
    order = np.argsort(counts)
    values = np.array(list(rates().values()))
    ax.loglog(counts[order], values[order], "o-", color=COLOURS[0], label="measured here, one thread")
    ax.loglog(*PUBLISHED, "s", color=COLOURS[1], label="Hiller and Lipson 2012, 2.67 GHz")
    for shape, n, value in zip(rates(), counts, values):
        ax.annotate("x".join(map(str, shape)), (n, value), xytext=(0, 8), textcoords="offset points", fontsize=8)
    ax.set(xlabel="voxels", ylabel="voxel-steps a second", ylim=(1e5, 3 * values.max()))
    ax.grid(axis="y", color=GREY, alpha=0.3)
    ax.set_title("Speed per voxel of solid bodies", fontsize=11, loc="left")
    ax.legend(fontsize=9, loc="center right")
    save_figure(figure, path)


CASES = {CASE: run}
PICTURES = {CASE: picture}
