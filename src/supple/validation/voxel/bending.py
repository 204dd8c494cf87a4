"""voxel/circle, voxel/elastica: a line of voxels that is bent far.

circle      M = 2 pi E I / L at the free end rolls it up: both ends meet, on a circle of radius L / 2 pi. A link
            measures its angle a by t = 4 tan(a/4), so that its moment t dt/da is a²/12 more than that of a, and the
            ends miss each other by a²/12 of L: 0.084 voxels for 40 of them
elastica    deflection of the tip over the length, under P L²/EI across [BD45]

L is the length between the centres of the first voxel, which is held, and the last. `solve_statics` finds its load
steps itself. A straight beam has no side to which it rolls by itself: from half a turn on, the circle under a torque
about an axis that stays is unstable to the side, and `solve_statics` says so.
"""

from __future__ import annotations

import warnings

import numpy as np

from supple.errors import StabilityWarning
from supple.scene import Scene, System, Wrench
from supple.solvers import solve_statics
from supple.validation.row import Row, bounded, compare
from supple.validation.voxel.blocks import block

Array = np.ndarray
CIRCLE, ELASTICA = "voxel/circle", "voxel/elastica"
YOUNG, SIZE = 1e6, 0.01
BENDING = YOUNG * SIZE**4 / 12
"""E I [N m²]."""
COUNT, GAP = 40, 0.1
LONG = 80
TIPS = ((0.01, 0.0033333), (1.0, 0.30172), (5.0, 0.71379))
"""P L²/EI, and the deflection of the tip over the length."""


def cantilever(count: int, *, force: float = 0.0, torque: float = 0.0) -> System:
    """A line of voxels, held at one end; force as P L²/EI and torque as M L/EI on the other."""
    length = (count - 1) * SIZE
    scene = Scene()
    beam = scene.add(block((count, 1, 1), size=SIZE, young=YOUNG), fix=lambda X: X[:, 0] < SIZE, name="beam")
    push, turn = (0, 0, -force * BENDING / length**2), (0, torque * BENDING / length, 0)
    scene.add(Wrench(beam, lambda X: X[:, 0] > (count - 1) * SIZE, force=push, torque=turn))
    return scene.compile()


def rolled(count: int) -> Array:
    """Centres [m] of a line of voxels under M = 2 pi E I / L, (count, 3)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StabilityWarning)  # unstable to its side, as the module says
        state = solve_statics(cantilever(count, torque=2 * np.pi))
    return state.x.reshape(-1, 7)[:, :3]


def circle() -> list[Row]:
    """Forty voxels."""
    x, source = rolled(COUNT), "Euler and Bernoulli: curvature M/EI"
    radius = np.linalg.norm(x[:-1] - x[:-1].mean(axis=0), axis=1)
    around = (COUNT - 1) / (2 * np.pi)
    return [
        bounded(CIRCLE, f"gap between the ends, {COUNT}x1x1, in voxels", _gap(x), GAP, source=source),
        compare(CIRCLE, "mean radius, in voxels", float(radius.mean()) / SIZE, around, 0.01, unit="-", source=source),
        bounded(CIRCLE, "spread of the radius, relative", float(np.ptp(radius) / radius.mean()), 0.02, source=source),
    ]


def _gap(x: Array) -> float:
    return float(np.linalg.norm(x[-1] - x[0])) / SIZE


def elastica() -> list[Row]:
    """Eighty voxels, in one load step."""
    rows = []
    for force, tip in TIPS:
        x = solve_statics(cantilever(LONG, force=force)).x.reshape(-1, 7)
        value = float(x[0, 2] - x[-1, 2]) / ((LONG - 1) * SIZE)
        what = f"tip over length, P L²/EI = {force:g}"
        rows.append(compare(ELASTICA, what, value, tip, 2e-4, unit="-", source="Bisshopp and Drucker 1945"))
    return rows


CASES = {CIRCLE: circle, ELASTICA: elastica}
