"""oak: a young oak of 41 branches and 1394 leaves in a turbulent wind.

It has grown in gravity, so its weight is in its shape and is left out. The wind acts on a few flat patches a domain.

Checked: the patches feel the drag of the whole surface; the crown is bent downwind, and hardly across; branches
sway and leaves flutter; all stays finite and within reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.tree import TreeBody
from supple.examples import Check, Example, above, below, within
from supple.examples.shapes import oak
from supple.scene import Scene, Wind
from supple.scene.acting.wind_kernels import add_drag
from supple.solvers import TreeSolver

Array = np.ndarray
VELOCITY, UNTIL = np.array([7.0, 0.0, 0.0]), 3.0  # [m/s], [s]
SETTLED = 1.4  # [s]: from here on the oak is looked at
HEIGHT = 2.26  # [m]


def make(leaves: int | None = None) -> Scene:
    """The oak in the wind. leaves: how many, all of them by default."""
    domain_tree = oak() if leaves is None else oak(leaves=leaves)
    scene = Scene(solver=TreeSolver(1 / 60), name="oak")
    node = scene.add(TreeBody(domain_tree, stiffness_damping=0.02, mass_damping=0.5), name="oak")
    scene.add(Wind(node, VELOCITY, intensity=0.35, length=1.0, modes=24, seed=3))
    return scene


def surface_drag(wind: Wind, body: TreeBody) -> Array:
    """Total force (3,) [N] of the mean wind on every triangle of the surface at rest."""
    flow = wind.flow._replace(k=wind.flow.k[:0], a=wind.flow.a[:0], phase=wind.flow.phase[:0])
    x, f = body.skin.rest, np.zeros_like(body.skin.rest)
    add_drag(flow, 0.0, 0.5 * wind.density * wind.drag, 0.0, body.skin.triangles, x, np.zeros_like(x), f)
    return np.asarray(f.sum(axis=0))


def check(run: Any) -> list[Check]:
    """The numbers."""
    body = run.system.body("oak").node.body
    wind = next(f.force for f in run.system.forces if isinstance(f.force, Wind))
    looked = np.flatnonzero(run.frames.times >= SETTLED)
    is_leaf = np.isin(body.skin.domain, body.model.members(len(body.model.classes) - 1))
    start = run.frames.points("oak", 0)[is_leaf].astype(float)
    moved = np.array([run.frames.points("oak", int(k))[is_leaf] - start for k in looked])
    mean = moved.mean(axis=(0, 1))
    crown = moved.mean(axis=1)
    flutter = np.sqrt(((moved - crown[:, None]) - (moved - crown[:, None]).mean(axis=0)).var(axis=0).sum(axis=1).mean())
    sway = np.sqrt(crown.var(axis=0).sum())
    wind_patches, surface = wind.drag_at_rest(), surface_drag(wind, body)
    return [
        within(
            "drag of the patches at rest, against that of the whole surface [N]",
            float(wind_patches[0]),
            float(surface[0]),
            0.1,  # a few flat patches a domain stand for curled leaves and round twigs
        ),
        above("mean way of the leaves downwind [m]", float(mean[0]), 0.02),
        below("mean way across the wind, of that downwind", float(np.hypot(mean[1], mean[2]) / mean[0]), 0.5),
        above("sway of the crown, rms [m]", float(sway), 1e-3),
        above("flutter of leaves in the crown, rms [m]", float(flutter), 1e-3),
        below("largest way of a leaf, of the height", float(np.linalg.norm(moved, axis=2).max() / HEIGHT), 0.5),
    ]


EXAMPLE = Example("oak", "an oak in a turbulent wind", make, UNTIL, check, 0.25)
