"""gripper: two soft fingers close on a rigid box, lift it, and hold it by friction alone.

    closing for 0.5 s, lifting for 1 s, holding for 5 s        backs of the fingers are led, all else follows

Each finger is squeezed by CLOSE. The box hangs on friction, m g <= 2 mu N. Checked: how far the box slips on the
fingers while it is held, how high it is, and that the fingers carry its weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.fem import FemBody
from supple.bodies.rigid import RigidBody
from supple.contact import Contact, Floor
from supple.examples import Check, Example, below, within
from supple.geometry import TetMesh, box_tets
from supple.material import Material
from supple.scene import PrescribedMotion, Scene
from supple.scene.acting.time_functions import TableInTime
from supple.solvers import ImplicitEuler

BOX, DENSITY, G = (0.06, 0.06, 0.06), 800.0, 9.81
FINGER, CELLS = (0.03, 0.04, 0.06), (3, 3, 4)
SILICONE = Material(young=1e5, poisson=0.4, density=1000.0, stiffness_damping=5e-3, name="silicone")
GAP, CLOSE, LIFT = 0.005, 0.004, 0.1
"""Between box and fingers at the start, by how much each finger is squeezed, and how far they go up [m]."""
TIMES = (0.0, 0.5, 0.7, 1.7, 7.0)
HELD, UNTIL = 2.0, 7.0
"""From when on the box is held still, and the end: five seconds [s]."""


def finger() -> FemBody:
    """A block of silicone around the origin."""
    mesh = box_tets(size=FINGER, cells=CELLS)
    middle = (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2
    return FemBody(TetMesh(mesh.nodes - middle, mesh.tets), SILICONE)


def path(side: int) -> TableInTime:
    """Where the back of a finger goes; side: -1 left, 1 right."""
    inward = -side * (GAP + CLOSE)
    places = [(0, 0, 0), (inward, 0, 0), (inward, 0, 0), (inward, 0, LIFT), (inward, 0, LIFT)]
    return TableInTime(np.array(TIMES), np.array(places, dtype=float))


def make() -> Scene:
    """A box of 173 g on the floor between two fingers."""
    scene = Scene(gravity=(0, 0, -G), solver=ImplicitEuler(0.01), name="gripper")
    scene.add(RigidBody.box(BOX, density=DENSITY), at=(0, 0, BOX[2] / 2), name="box")
    away = BOX[0] / 2 + GAP + FINGER[0] / 2
    for side, name, back in ((-1, "left", "x_min"), (1, "right", "x_max")):
        node = scene.add(finger(), at=(side * away, 0, BOX[2] / 2 + 0.005), name=name)
        scene.add(PrescribedMotion(node, back, displacement=path(side)))
    scene.add(Floor())
    scene.add(Contact(friction=0.8))
    return scene


def check(run: Any) -> list[Check]:
    """The box is where the fingers brought it, and stays there."""
    first = int(np.searchsorted(np.asarray(run.energies.times), HELD))
    frames = range(first, len(run.energies.times))
    heights = np.array([run.frames.points("box", k)[:, 2].mean() for k in frames], dtype=float)
    slip = float(np.abs(heights - heights[0]).max())
    touching = run.system.contacts[0].touching(run.state.memory)
    force = sum(
        (f if pair[0] == "box" else -f for pair, f in zip(touching.bodies, touching.force) if "box" in pair),
        start=np.zeros(3),
    )
    return [
        below("slip of the box while held for five seconds [m]", slip, 1e-3),
        within("height of the box at the end [m]", float(heights[-1]), BOX[2] / 2 + LIFT, 0.05),
        within("force of the fingers on the box [N]", float(force[2]), DENSITY * float(np.prod(BOX)) * G, 1e-3),
    ]


EXAMPLE = Example("gripper", "two soft fingers lift a rigid box and hold it", make, UNTIL, check)
