"""hanging-beam: a rubber beam, clamped at one end, sags under its weight until it rests.

Checked: the place where the damped motion comes to rest is the static equilibrium, which Newton's method finds by
another way; and the vertical reaction at the clamp is the weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.fem import FemBody
from supple.examples import Check, Example, within
from supple.geometry import box_hexes
from supple.material import Material
from supple.scene import Scene
from supple.solvers import ImplicitEuler, solve_statics


def make() -> Scene:
    """A beam of 0.2 m x 0.02 m x 0.02 m, clamped at x = 0."""
    rubber = Material(young=1e6, poisson=0.45, density=1100, mass_damping=4.0, name="rubber")
    scene = Scene(gravity=(0, 0, -9.81), solver=ImplicitEuler(dt=0.01), name="hanging-beam")
    scene.add(FemBody(box_hexes(size=(0.2, 0.02, 0.02), cells=(24, 3, 3)), rubber), fix="x_min", name="beam")
    return scene


def check(run: Any) -> list[Check]:
    """Tip height against the static solution; reaction against the weight."""
    system, state = run.system, run.state
    tip = system.body("beam").node.indices("x_max")
    rest = solve_statics(system, load_steps=4)
    dropped = -float(np.mean(system.positions(state, "beam")[tip, 2]))
    expected = -float(np.mean(system.positions(rest, "beam")[tip, 2]))
    f = system.force(system.propagate(rest.t, rest.x, np.zeros_like(rest.v))).reshape(-1, 3)
    reaction = -float(f[system.filter.blocks, 2].sum())
    weight = 9.81 * system.body("beam").node.body.total_mass
    return [
        within("tip drop [m]", dropped, expected, 0.01),
        within("reaction of the clamp [N]", reaction, weight, 1e-6),
    ]


EXAMPLE = Example("hanging-beam", "a rubber beam sags under its weight", make, 2.0, check)
