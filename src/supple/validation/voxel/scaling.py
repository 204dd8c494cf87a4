"""voxel/scaling: speed per voxel of cubes of growing size, as [HL12, figure 6]; `supple bench` gives the rates.

The source's speed per voxel "drops off slightly" from 1000 to 27,000 voxels, from about half a million voxels a second
at 4000. Checked is that ours drops by less than half.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from time import perf_counter

import numba

from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.validation.figure import COLOURS, GREY, make_figure, save_figure
from supple.validation.row import Row, bounded
from supple.validation.voxel.blocks import block, layer

CASE = "voxel/scaling"
SHAPES = ((10, 10, 10), (16, 16, 16), (20, 20, 10), (20, 20, 20), (30, 30, 30))
DT = 4e-6  # [s]
WORK = 400_000  # voxel-steps of one measurement
PUBLISHED = (4000, 122 * 4000)  # voxels, voxel-steps/s [HL12, section 4.1]


def ready(shape: tuple[int, int, int]) -> LatticeSweep:
    """A solid body held at one end."""
    body = block(shape, poisson=0.3, bond_damping=0.3)
    return LatticeSweep.make(body.model, held=layer(body, 0, 0))


@cache
def rates(repeats: int = 9) -> dict[tuple[int, int, int], float]:
    """Voxel-steps a second on one thread by shape, the best of several rounds over all of them."""
    sweeps = {shape: ready(shape) for shape in SHAPES}
    best = dict.fromkeys(SHAPES, 0.0)
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        for _ in range(repeats + 1):
            for shape, sweep in sweeps.items():
                n = sweep.model.voxel_count
                steps = max(2, WORK // n)
                start = perf_counter()
                sweep.advance(DT, steps, gravity=(0, 0, -9.81))
                best[shape] = max(best[shape], n * steps / (perf_counter() - start))
    finally:
        numba.set_num_threads(before)
    return best


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
    cubes = {shape[0] ** 3: value for shape, value in rates().items() if len(set(shape)) == 1}
    ax.loglog(list(cubes), list(cubes.values()), "o-", color=COLOURS[0], label="cubes, one thread")
    for n, value in cubes.items():
        place = {"xytext": (0, -16), "textcoords": "offset points", "fontsize": 9, "ha": "center"}
        ax.annotate(f"{round(n ** (1 / 3))}³", (n, value), **place)
    ax.loglog(4000, rates()[(20, 20, 10)], "o", mfc="white", color=COLOURS[0], label="20x20x10, one thread")
    ax.loglog(*PUBLISHED, "s", color=COLOURS[1], label="Hiller and Lipson 2012, 2.67 GHz")
    ax.set(xlabel="voxels", ylabel="voxel-steps a second", xlim=(700, 4e4), ylim=(1e5, 2e8))
    ax.grid(axis="y", color=GREY, alpha=0.3)
    ax.set_title("Speed per voxel of solid bodies", fontsize=11, loc="left")
    ax.legend(fontsize=9, loc="center right")
    save_figure(figure, path)


CASES = {CASE: run}
PICTURES = {CASE: picture}
