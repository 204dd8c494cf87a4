"""stack: five boxes on each other, rigid and soft in turn, at rest for ten seconds.

A stack shows every fault of contact: what is not solved together sinks, creeps or walks. Checked over the last eight
seconds: how far any box drifts, the kinetic energy at the end, and the force on the floor against the weight.
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
from supple.scene import Scene
from supple.solvers import ImplicitEuler

SIDE, DENSITY, G = 0.1, 500.0, 9.81
RUBBER = Material(young=2e5, poisson=0.3, density=DENSITY, stiffness_damping=2e-3, name="rubber")
OFFSETS = ((0.0, 0.0), (0.012, -0.006), (-0.008, 0.01), (0.006, 0.008), (-0.004, -0.01))
SETTLED = 8.0
"""Time after which nothing may move any more [s]. Before, the column of soft boxes sways back upright; its lean halves
every 0.6 s or so."""


def soft_box(cells: int = 3) -> FemBody:
    """A rubber cube around the origin."""
    mesh = box_tets(size=(SIDE, SIDE, SIDE), cells=(cells, cells, cells))
    middle = (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2
    return FemBody(TetMesh(mesh.nodes - middle, mesh.tets), RUBBER)


def make() -> Scene:
    """Rigid, soft, rigid, soft, rigid, each a little beside the one below, let go 0.2 mm apart."""
    scene = Scene(gravity=(0, 0, -G), solver=ImplicitEuler(0.01), name="stack")
    for k, (x, y) in enumerate(OFFSETS):
        body = soft_box() if k % 2 else RigidBody.box((SIDE, SIDE, SIDE), density=DENSITY)
        scene.add(body, at=(x, y, SIDE / 2 + k * (SIDE + 2e-4)), name=f"{'soft' if k % 2 else 'rigid'}-{k + 1}")
    scene.add(Floor())
    scene.add(Contact(friction=0.5))
    return scene


def check(run: Any) -> list[Check]:
    """Nothing moves, and the floor carries all of it."""
    names = [slot.name for slot in run.system.bodies]
    times = np.asarray(run.energies.times)
    first = int(np.searchsorted(times, SETTLED))
    drift = max(
        float(np.linalg.norm(run.frames.points(name, -1) - run.frames.points(name, first), axis=1).max())
        for name in names
    )
    kin = run.system.propagate(run.state.t, run.state.x, run.state.v)
    touching = run.system.contacts[0].touching(run.state.memory)
    floor = sum(f[2] for pair, f in zip(touching.bodies, touching.force) if pair[1] == "floor")
    return [
        below("drift of any point from 8 s to the end [m]", drift, 1e-5),
        below("kinetic energy at the end [J]", run.system.kinetic_energy(kin), 1e-9),
        within("force on the floor [N]", float(floor), 5 * DENSITY * SIDE**3 * G, 1e-6),
    ]


EXAMPLE = Example("stack", "five rigid and soft boxes on each other, at rest", make, 10.0, check, record_every=0.1)
