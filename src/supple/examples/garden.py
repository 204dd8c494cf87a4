"""garden: every kind of body in one scene. An oak and a flower stand in the wind; a robot of voxels walks into the
flower; a rigid ball falls on the robot, a ball with a soft skin on the flower, and a jelly on the ground beside them.

    oak, flower     trees of reduced domains: steps of their own
    robot           528 voxels: an explicit sweep of small steps
    ball            rigid     soft ball  a layered body     jelly  finite elements, 2,058 tets: implicit Euler, together

They meet by contact. Checked: the robot comes forward until the flower holds it up, where it would go twice as far
in the time; nothing falls through the ground; the jelly comes to rest; the wind bends the oak.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.fem import FemBody
from supple.bodies.layered import LayeredBody
from supple.bodies.rigid import RigidBody
from supple.bodies.tree import TreeBody
from supple.bodies.voxel import Actuation, VoxelBody
from supple.contact import Contact, Floor
from supple.examples import Check, Example, above, below
from supple.examples.quadruped import BODY, MUSCLE, palette
from supple.examples.shapes import flower, oak
from supple.examples.shapes.flower import POT_TOP
from supple.geometry import TetMesh, VoxelGrid, box_tets, sphere_tets
from supple.material import Material
from supple.scene import Scene, Wind
from supple.solvers import ImplicitEuler, Partitioned

Array = np.ndarray
SIZE = 0.01  # [m], of a voxel
BALL, SOFT, JELLY = 0.04, 0.035, 0.1  # [m]: radii of the balls, edge of the jelly
UNTIL, STEP = 3.0, 1 / 60  # [s]
WIND = np.array([4.0, 1.0, 0.0])  # [m/s]
FALLING = ("ball", "soft ball", "jelly")


def robot() -> VoxelBody:
    """A back of 16 x 8 x 3 voxels on four legs of 3 x 3 x 4, which swing as those of the `quadruped`."""
    numbers = np.zeros((16, 8, 7), dtype=int)
    numbers[:, :, 4:] = BODY
    legs = (slice(0, 3), slice(-3, None))
    for x in legs:
        for y in legs:
            numbers[x, y, :4] = MUSCLE
    grid = VoxelGrid(numbers, SIZE)
    i, j, _ = grid.voxels.T
    front, left = i >= 8, j >= 4
    ahead = np.where(front, i - 13, i) / 2.0  # 0 to 1 along a leg
    phase = np.where(front == left, 0.0, 0.5) + 0.25 * (1 - ahead)
    return VoxelBody(grid, palette(4e5), actuation=Actuation(15.0, 3.0, phase, rise=0.2))


def jelly() -> FemBody:
    """A cube around the origin."""
    mesh = box_tets((JELLY, JELLY, JELLY), (7, 7, 7))
    centred = TetMesh(mesh.nodes - mesh.nodes.mean(axis=0), mesh.tets)
    return FemBody(centred, Material(2e4, 0.4, 400, stiffness_damping=0.005, name="jelly", colour="#c2477f"))


def soft_ball() -> LayeredBody:
    """A ball with a rigid core and a soft skin."""
    mesh = sphere_tets(SOFT, cells=4)
    middles = mesh.nodes[mesh.tets].mean(axis=1)
    core = np.flatnonzero(np.linalg.norm(middles, axis=1) < 0.55 * SOFT)
    return LayeredBody.from_mesh(mesh, Material(5e4, 0.3, 100), core=core, core_density=100)


def make(leaves: int | None = None) -> Scene:
    """The garden. leaves: of the oak, all 1,394 by default."""
    solver = Partitioned(STEP, implicit=ImplicitEuler(STEP, linear="cg", tolerance=1e-4))
    scene = Scene(gravity=(0, 0, -9.81), solver=solver, name="garden")
    big = TreeBody(
        oak() if leaves is None else oak(leaves=leaves), stiffness_damping=0.02, mass_damping=0.5, grown=True
    )
    tree = scene.add(big, at=(-0.5, 1.3, 0), name="oak")
    stem = scene.add(TreeBody(flower(), stiffness_damping=0.01, grown=True), at=(0.3, 0.035, -POT_TOP), name="flower")
    scene.add(robot(), at=(0, -0.04, 0.0), name="robot")
    scene.add(RigidBody.sphere(BALL, density=200, cells=4), at=(0.06, 0, 0.2), name="ball", colour="#3f72b8")
    scene.add(soft_ball(), at=(0.33, 0.055, 0.62), name="soft ball", colour="#f2a33a")
    scene.add(jelly(), at=(0.05, -0.25, 0.2), rotation=(0.3, 0.2, 0), name="jelly")
    scene.add(Wind([tree, stem], WIND, intensity=0.3, length=1.0, modes=24, seed=5))
    apart = [("oak", "floor"), ("flower", "floor")]
    # dashpots of stiff contacts would ask voxels for steps half as long
    rest: dict[str, Any] = {"exclude": apart, "parts": {"oak": ["trunk"]}}
    scene.add(Floor())
    scene.add(Contact(friction=0.6, stiffness=5e6, damping=0.0, **rest))
    return scene


def check(run: Any) -> list[Check]:
    """What became of them."""
    system, state, frames = run.system, run.state, run.frames
    before, after = (system.propagate(t, x, 0 * state.v) for t, x in ((0.0, system.x0), (state.t, state.x)))
    robot = system.body("robot")
    way = system.centre_of_mass(after, robot) - system.centre_of_mass(before, robot)
    count = len(frames.times)
    low = {name: min(float(frames.points(name, k)[:, 2].min()) for k in range(count)) for name in FALLING}
    crown = frames.points("oak", count - 1).astype(float) - frames.points("oak", 0)
    return [
        above("distance that the robot walks [m]", float(way[0]), 0.1),
        below("distance that the robot walks, which the flower stops [m]", float(way[0]), 0.2),
        below("how deep a body is in the ground [m]", -min(low.values()), 0.005),
        below("speed of the jelly in the end [m/s]", float(np.abs(system.body("jelly").view_v(state.v)).max()), 0.02),
        above("way of the oak downwind, mean [m]", float(crown.mean(axis=0) @ WIND / np.linalg.norm(WIND)), 2e-3),
    ]


EXAMPLE = Example("garden", "every kind of body in one scene", make, UNTIL, check, 0.1)
