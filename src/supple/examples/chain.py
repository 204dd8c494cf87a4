"""chain: bodies of different kinds joined in one swinging chain, through mappings and joints.

A rigid bar hangs on a hinge in the world; a soft block is joined to its end by ball joints; a ball hangs on a spring
from the block's other end; and a string of particles trails from the ball. Checked: the joints hold, the energy is
kept, and the ends of each joint pull alike, so that the momentum changes by the impulse of gravity and of the hinge
alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.fem import FemBody
from supple.bodies.particles import Particles
from supple.bodies.rigid import RigidBody
from supple.examples import Check, Example, below
from supple.geometry import box_hexes
from supple.material import Material
from supple.scene import BallJoint, HingeJoint, Scene, Springs
from supple.solvers import Midpoint


def make() -> Scene:
    """The chain, stretched out along x, let go."""
    scene = Scene(gravity=(0, 0, -9.81), solver=Midpoint(dt=2e-3), name="chain")
    bar = scene.add(RigidBody.box((0.4, 0.04, 0.04), density=800), at=(0.2, 0, 0), name="bar")
    scene.add(HingeJoint(bar, at=(0, 0, 0), axis=(0, 1, 0)))
    rubber = Material(young=2e5, poisson=0.3, density=1000, name="rubber")
    mesh = box_hexes(size=(0.3, 0.06, 0.06), cells=(5, 1, 1))
    centre = (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2
    soft = scene.add(FemBody(mesh, rubber, law="neo-hookean"), at=np.array([0.55, 0, 0]) - centre, name="soft")
    for y in (-0.03, 0.03):
        scene.add(BallJoint(bar, soft, at=(0.4, y, 0.0)))
    ball = scene.add(RigidBody.sphere(0.05, density=1500), at=(0.78, 0, 0), name="ball")
    scene.add(Springs(soft.points("x_max").centroid(), ball.points(at=(0.73, 0, 0)), stiffness=2000.0), name="spring")
    x = 0.83 + 0.05 * np.arange(5)
    links = [(i, i + 1) for i in range(4)]
    string = scene.add(Particles(np.c_[x, np.zeros((5, 2))], 0.02, springs=links, stiffness=500.0), name="string")
    scene.add(BallJoint(ball.points(at=(0.83, 0, 0)), string.points([0])))
    return scene


def check(run: Any) -> list[Check]:
    """Joints and energy at the end."""
    system, state = run.system, run.state
    kin = system.propagate(state.t, state.x, state.v)
    total = run.energies.kinetic + run.energies.potential
    exchanged = float(run.energies.kinetic.max())
    return [
        below("gap of the joints [m]", float(np.abs(system.violation(kin)).max()), 1e-8),
        below("energy drift over the energy exchanged [-]", float(np.abs(total - total[0]).max()) / exchanged, 5e-3),
    ]


EXAMPLE = Example("chain", "rigid, soft and particle bodies joined in one swinging chain", make, 1.0, check)
