"""flower: a potted flower of twelve domains. A hand pulls its small stem aside, holds it and lets go.

The small stem hangs on the main stem, which carries the bloom and the leaves: all of them follow, and swing when the
stem is let go. The flower has grown in gravity, so its weight is in its shape and is left out here.

Checked: the energy in the flower while it is held is the work of the hand (virtual work through the whole tree); the
bloom moves though nobody touches it; after the release the energy only falls; the domains stay together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.tree import TreeBody
from supple.examples import Check, Example, above, below, within
from supple.examples.shapes import flower, flower_mesh
from supple.examples.shapes.flower import POT_TOP
from supple.examples.shapes.smooth_surface import smooth_surface
from supple.examples.shapes.tree_runs import path, work
from supple.scene import Load, Scene
from supple.scene.mapped.surface_points import render_points
from supple.solvers import TreeSolver

Array = np.ndarray
PULL = np.array([1.1, -0.5, -0.9])  # [N]
RISE, RELEASE, UNTIL = 1.5, 2.0, 4.0  # [s]
WIDTH = 0.012  # [m], of the stem where the small one leaves it
STEP = 1 / 120


def pull(t: float) -> Array:
    """Force of the hand [N]: it grows gently and ends at once."""
    if t > RELEASE:
        return np.zeros(3)
    s = min(t / RISE, 1.0)
    return PULL * s * s * (3 - 2 * s)


def make() -> Scene:
    """The flower, and the hand at the end of the small stem."""
    scene = Scene(solver=TreeSolver(STEP), name="flower")
    smooth = smooth_surface(flower_mesh()[0].boundary.surface, keep=lambda x: x[:, 2] <= POT_TOP)
    body = TreeBody(flower(), stiffness_damping=0.004, surface=smooth)
    node = scene.add(body, name="flower")
    scene.add(Load(render_points(node).subset(held_vertices(body)), pull))
    return scene


def held_vertices(body: TreeBody) -> Array:
    """Vertices where the small stem is held: the eighth of them that is highest."""
    points = part(body, "small stem")
    height = body.seen.positions(body.rest_coordinates)[points, 2]
    return np.asarray(points[height >= np.quantile(height, 7 / 8)])


def part(body: TreeBody, name: str) -> Array:
    """Vertices of the surface on a domain."""
    number = [d.name for d in body.model.domain_tree.domains].index(name)
    return np.flatnonzero(body.seen.domain == number)


def check(run: Any) -> list[Check]:
    """The numbers."""
    body, times = run.system.body("flower").node.body, run.frames.times
    way, bloom = (path(run, "flower", p) for p in (held_vertices(body), part(body, "bloom")))
    held = int(np.searchsorted(times, RELEASE - 1e-6) - 1)
    done = work(np.array([pull(t) for t in times]), way)[held]
    energy = run.frames.columns["kinetic"] + run.frames.columns["potential"]
    after = energy[held + 1 :]
    return [
        within("energy of the held flower, against the work of the hand [J]", float(energy[held]), float(done), 0.03),
        above("way of the hand [m]", float(np.linalg.norm(way[held] - way[0])), 0.04),
        above("way of the bloom while held [m]", float(np.linalg.norm(bloom[held] - bloom[0])), 0.04),
        below(
            "largest rise of the energy after the release, of what was held", _rise(after) / float(energy[held]), 1e-3
        ),
        below("energy at the end, of what was held", float(after[-1] / energy[held]), 0.2),
        below("largest gap between domains, of the stem's width", run.gaps["flower"] / WIDTH, 0.1),
    ]


def _rise(energy: Array) -> float:
    return float(np.diff(energy).max(initial=0.0))


EXAMPLE = Example("flower", "a flower pulled at its small stem, then let go", make, UNTIL, check)
