"""quadruped: a robot of voxels walks by swelling and shrinking its legs.

Each leg has a front and a rear half that swing a quarter of a period apart: their mean lifts the foot, their
difference bends the leg, and the foot runs round an ellipse. Legs across from each other swing together, half a period
after the other two: a trot. Checked: it walks forward by at least two lengths of its body in five seconds, stays on its
feet and keeps its way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.voxel import Actuation, VoxelBody
from supple.contact import Floor
from supple.examples import Check, Example, below
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.scene import Scene

Array = np.ndarray
SIZE = 0.01  # [m]
LENGTH, WIDTH, LEG = 10, 6, 3  # voxels
BODY, MUSCLE = 1, 2


def palette(young: float) -> dict[int, VoxelMaterial]:
    """A firm body with Young's modulus `young` [Pa], and muscles half as stiff that hold on to the floor."""
    grey, red = (0.55, 0.62, 0.7, 1.0), (0.88, 0.45, 0.36, 1.0)
    firm = VoxelMaterial(young, 1000, bond_damping=0.3, ground_damping=1e-3, colour=grey, name="body")
    muscle = VoxelMaterial(
        young=young / 2,
        density=1000,
        expansion=0.01,
        bond_damping=0.3,
        ground_damping=1e-3,
        contact_damping=0.8,
        static_friction=1.0,
        kinetic_friction=0.8,
        colour=red,
        name="muscle",
    )
    return {BODY: firm, MUSCLE: muscle}


def robot(direction: float = 1.0) -> VoxelBody:
    """The robot; direction -1 walks the other way."""
    numbers = np.zeros((LENGTH, WIDTH, LEG + 2), dtype=int)
    numbers[:, :, LEG:] = BODY
    legs = (slice(0, 2), slice(-2, None))
    for x in legs:
        for y in legs:
            numbers[x, y, :LEG] = MUSCLE
    grid = VoxelGrid(numbers, SIZE)
    i, j, _ = grid.voxels.T
    front, left, ahead = i >= LENGTH // 2, j >= WIDTH // 2, i % 2 == 1
    phase = np.where(front == left, 0.0, 0.5) + np.where(ahead, 0.0, 0.25 * direction)
    return VoxelBody(grid, palette(1e6), actuation=Actuation(15.0, 5.0, phase))


def make() -> Scene:
    """The robot on a floor at z = 0."""
    scene = Scene(gravity=(0, 0, -9.81), name="quadruped")
    scene.add(robot(), name="robot")
    scene.add(Floor())
    return scene


def check(run: Any) -> list[Check]:
    """How far it came, and how."""
    system, state = run.system, run.state
    slot = system.body("robot")
    before, after = slot.view_x(system.x0)[:, :3].mean(axis=0), slot.view_x(state.x)[:, :3].mean(axis=0)
    way = after - before
    lengths = float(way[0]) / (LENGTH * SIZE)
    return [
        Check("way forward over the body's length", lengths, 2.0, 0.0, lengths >= 2.0),
        below("drift sideways over the way", abs(float(way[1] / way[0])), 0.2),
        below("loss of height [m]", -float(way[2]), 0.5 * SIZE),
    ]


EXAMPLE = Example("quadruped", "a voxel robot walks on a floor", make, 5.0, check)
