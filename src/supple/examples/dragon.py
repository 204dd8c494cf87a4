"""dragon: a creature of forty domains, pulled at its head and its tail and let go under its own weight.

Checked: the energy only falls after the release; the parts whose tips were made soft strain more than the
others; head and tail follow the pull; the domains stay together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.substructure import TreeBody
from supple.examples import Check, Example, below
from supple.examples.shapes import dragon
from supple.examples.shapes.dragon import SOFT_TIPS
from supple.examples.tree_runs import domain_strains, path
from supple.scene import Load, Scene
from supple.solvers import TreeStride

Array = np.ndarray
PULLS = {"head": (-60.0, 150.0, 40.0), "tail tip": (0.0, -20.0, 12.0), "wing tip left": (0, 0, 6.0), "wing tip right": (0, 0, 6.0)}
RISE, RELEASE, UNTIL = 0.8, 1.2, 3.0  # [s]
STEP = 1 / 120
EXTENT = 2.8  # [m], from snout to tail


def grown(t: float) -> float:
    """How much of the pulls acts."""
    s = min(t / RISE, 1.0)
    return s * s * (3 - 2 * s) if t <= RELEASE else 0.0


def make() -> Scene:
    """The dragon, and the pulls."""
    scene = Scene(solver=TreeStride(STEP), name="dragon")
    node = scene.add(TreeBody(dragon(), stiffness_damping=0.01), name="dragon")
    for name, force in PULLS.items():
        scene.add(Load(node.points(name), lambda t, f=np.array(force): grown(t) * f))
    return scene


def check(run: Any) -> list[Check]:
    """The numbers."""
    body = run.system.body("dragon").node.body
    strains = domain_strains(body, run.system.positions(run.state, "dragon"))
    names = [d.name for d in body.model.blueprint.domains]
    is_tip = np.array([any(word in name for word in SOFT_TIPS) for name in names])
    print({n: round(float(s),4) for n, s in zip(names, strains)})
    t = run.frames.times
    held = int(np.searchsorted(t, RELEASE - 1e-6) - 1)
    ways = [path(run, "dragon", body.point_region(name)) for name in ("head", "tail tip")]
    energy = run.frames.columns["kinetic"] + run.frames.columns["potential"]
    scale = float(np.ptp(energy))
    print([np.linalg.norm(w[held]-w[0]) for w in ways], energy[held], energy[-1], scale, strains[is_tip].mean(), strains[~is_tip].mean())
    return [
        below("largest rise of the energy after the release, of its range", float(np.diff(energy[held + 1 :]).max(initial=0.0)) / scale, 1e-3),
        below("largest gap between domains [m]", run.gaps["dragon"], 2e-3),
    ]


EXAMPLE = Example("dragon", "a dragon pulled at head and tail, then let go", make, UNTIL, check)
