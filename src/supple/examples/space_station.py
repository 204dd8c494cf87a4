"""space-station: modules, trusses and panels, free in space. A thruster at the end of a panel fires for a second.

Checked: momentum and angular momentum are the thruster's impulse and its moment, to the end; the panel that is pushed
bends; the energy falls once the thruster is off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.tree import TreeBody
from supple.examples import Check, Example, above, below
from supple.examples.shapes import space_station
from supple.examples.shapes.tree_runs import path
from supple.scene import Load, Scene
from supple.solvers import TreeSolver

Array = np.ndarray
PANEL = "outer panel 7 up left"
THRUST, BURNS, UNTIL = np.array([0.0, 0.0, 20000.0]), 1.0, 6.0  # [N], [s], [s]
STEP = 1 / 120


def thrust(t: float) -> Array:
    """Force of the thruster [N], in world axes."""
    return THRUST * np.sin(np.pi * t / BURNS) ** 2 if t < BURNS else np.zeros(3)


def make() -> Scene:
    """The station at rest, with the thruster."""
    scene = Scene(solver=TreeSolver(STEP), name="space-station")
    node = scene.add(TreeBody(space_station(), stiffness_damping=0.005), name="station")
    scene.add(Load(node.points(nozzle(node.body)), thrust))
    return scene


def nozzle(body: TreeBody) -> Array:
    """Points of the panel farthest from the station's middle."""
    points = body.point_region(PANEL)
    away = np.linalg.norm(body.skin.rest[points], axis=1)
    return np.asarray(points[away >= np.quantile(away, 0.99)])


def check(run: Any) -> list[Check]:
    """The numbers."""
    t, momentum = run.frames.times, run.frames.columns["momentum"]
    body = run.system.body("station").node.body
    impulse, end, after = THRUST * BURNS / 2, momentum[-1], int(np.searchsorted(t, BURNS + STEP))
    moment = np.cross(
        body.skin.rest[nozzle(body)].mean(axis=0), impulse
    )  # while the panel bends, its arm grows shorter
    energy, later = run.energies.total, run.energies.times > BURNS + STEP
    drift = np.linalg.norm(momentum[after:, 3:] - momentum[after, 3:], axis=1).max()
    bent = path(run, "station", nozzle(body))[after] - path(run, "station", body.point_region("hub"))[after]
    moved = np.linalg.norm(
        bent - (body.skin.rest[nozzle(body)].mean(axis=0) - body.skin.rest[body.point_region("hub")].mean(axis=0))
    )
    return [
        below("momentum at the end less the impulse, relative", _apart(end[:3], impulse), 1e-9),
        below("angular momentum at the end less the impulse's moment, relative", _apart(end[3:], moment), 0.01),
        below("drift of the angular momentum after the burn, relative", float(drift / np.linalg.norm(end[3:])), 1e-9),
        below(
            "largest rise of the energy after the burn, relative",
            float(np.diff(energy[later]).max() / energy[later][0]),
            1e-3,
        ),
        above("way of the nozzle from its place, seen from the hub [m]", float(moved), 0.5),
        # a thousandth of its 98 m: domains meet in the mean of an interface, not at each of its vertices
        below("largest gap between domains [m]", run.gaps["station"], 0.1),
    ]


def _apart(a: Array, b: Array) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


EXAMPLE = Example("space-station", "a station in space, pushed at the end of a panel", make, UNTIL, check, 1 / 10)
