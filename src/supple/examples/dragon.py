"""dragon: a creature of forty domains, pulled at head, tail and wings, held and let go.

Its shape is that in which it stands under its weight, which is left out. Horns, ears, spikes, jaw, the ends of wings
and tail are softer than the rest.

Checked: head and tail follow the pulls; while it swings afterwards a soft tip strains most, and horns more than the
head that carries them; the energy only falls; the domains stay together, but for the wings' long interfaces, which
bend.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from supple.bodies.tree import TreeBody
from supple.examples import Check, Example, above, below
from supple.examples.shapes import dragon
from supple.examples.shapes.dragon import SOFT_TIPS
from supple.examples.shapes.tree_runs import domain_strains, path
from supple.scene import Load, Scene
from supple.solvers import TreeSolver

Array = np.ndarray
PULLS = {
    "head": (-60.0, 150.0, 40.0),
    "tail tip": (0.0, -20.0, 12.0),
    "wing tip left": (0.0, 0.0, 6.0),
    "wing tip right": (0.0, 0.0, 6.0),
}  # [N]
RISE, RELEASE, UNTIL = 0.8, 1.2, 3.0  # [s]
STEP = 1 / 120
LENGTH = 2.8  # [m], from snout to tail


def grown(t: float) -> float:
    """How much of the pulls acts."""
    s = min(t / RISE, 1.0)
    return s * s * (3 - 2 * s) if t <= RELEASE else 0.0


def pull(force: Array, t: float) -> Array:
    """What of a force [N] acts at time t."""
    return grown(t) * force


def make() -> Scene:
    """The dragon, and the pulls."""
    scene = Scene(solver=TreeSolver(STEP), name="dragon")
    node = scene.add(TreeBody(dragon(), stiffness_damping=0.01), name="dragon")
    for name, force in PULLS.items():
        scene.add(Load(node.points(name), partial(pull, np.array(force))))
    return scene


def check(run: Any) -> list[Check]:
    """The numbers."""
    body = run.system.body("dragon").node.body
    names = [d.name for d in body.model.domain_tree.domains]
    strains = dict(zip(names, domain_strains(body, run.system.positions(run.state, "dragon")).tolist()))
    tips = [name for name in names if any(word in name for word in SOFT_TIPS)]
    firm = [name for name in names if name not in tips]
    held = int(np.searchsorted(run.frames.times, RELEASE - 1e-6) - 1)
    head, tail = (path(run, "dragon", body.point_region(name)) for name in ("head", "tail tip"))
    energy, later = run.energies.total, run.energies.times > RELEASE + STEP
    largest = max(strains[name] for name in firm)
    return [
        above("way of the head while held [m]", float(np.linalg.norm(head[held] - head[0])), 0.1),
        above("way of the tail's tip while held [m]", float(np.linalg.norm(tail[held] - tail[0])), 0.2),
        above("largest strain of a soft tip, of the largest of the rest", max(strains[n] for n in tips) / largest, 1.5),
        above(
            "strain of the horns, of the head's",
            (strains["horn left"] + strains["horn right"]) / 2 / strains["head"],
            1.0,
        ),
        below("largest rise of the energy after the release, relative", _rise(energy[later]), 1e-3),
        # the wings' interfaces are long, and domains meet in the mean of an interface, not at each of its vertices
        below("largest gap between domains, of the length", run.gaps["dragon"] / LENGTH, 0.02),
    ]


def _rise(energy: Array) -> float:
    return float(np.diff(energy).max(initial=0.0) / energy[0])


EXAMPLE = Example("dragon", "a dragon pulled at head and tail, then let go", make, UNTIL, check)
