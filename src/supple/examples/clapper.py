"""clapper: two arms of a U of voxels bend towards each other and clap.

Each arm has two layers; the inner one shrinks while the outer one swells, and the other way round, so the arms swing.
The control swings near the arms' first resonance. It is the scene that times collisions in [HL12, section 4.3], with a
gentler control: the source's strain of 60 % would curl the arms up several times over. Checked: the arms touch, and
never pass through each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.voxel import Actuation, VoxelBody
from supple.contact import Contact
from supple.examples import Check, Example, below
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.scene import Scene
from supple.solvers import LatticeSolver

Array = np.ndarray
SIZE = 0.01  # [m]
THICK, WIDTH, HEIGHT, GAP = 2, 6, 20, 10  # voxels
BASE, INNER, OUTER = 1, 2, 3
FREQUENCY = 3.0  # [Hz], near the first resonance of an arm
CONTROL = 2.0  # strain of a layer, in percent


def clapper(control: float = CONTROL) -> VoxelBody:
    """The U of 600 voxels; control: amplitude of the layers' strain [%]."""
    numbers = np.zeros((2 * THICK + GAP, WIDTH, HEIGHT), dtype=int)
    numbers[[0, -1]] = OUTER
    numbers[[1, -2]] = INNER
    numbers[THICK:-THICK, :, :THICK] = BASE
    soft = {
        number: VoxelMaterial(young=1e6, density=1000, expansion=expansion, bond_damping=0.1, name=name)
        for number, expansion, name in ((BASE, 0.0, "base"), (INNER, 0.01, "inner"), (OUTER, -0.01, "outer"))
    }
    return VoxelBody(VoxelGrid(numbers, SIZE), soft, actuation=Actuation(control, FREQUENCY))


def base(body: VoxelBody) -> Array:
    """Numbers of the voxels of the base, with the feet of the arms."""
    return np.flatnonzero(body.grid.voxels[:, 2] < THICK)


def clearance(body: VoxelBody, x: Array) -> float:
    """Least distance between the arms along x [m], between voxels across from each other, at frames x (n, 7)."""
    number = np.full(body.grid.shape, -1)
    number[tuple(body.grid.voxels.T)] = np.arange(body.model.voxel_count)
    left, right = number[THICK - 1, :, THICK:], number[-THICK, :, THICK:]
    return float((x[right, 0] - x[left, 0]).min())


def make() -> Scene:
    """The clapper, held at its base."""
    body = clapper()
    scene = Scene(name="clapper")
    scene.add(body, fix=base(body), name="clapper")
    scene.add(Contact(self_contact=True))
    return scene


def check(run: Any) -> list[Check]:
    """The next two swings: how near the arms come to each other."""
    system, state = run.system, run.state.copy()
    slot = system.body("clapper")
    stride = LatticeSolver()
    distance, stop = [], state.t + 2 / FREQUENCY
    while state.t < stop:
        stride.step(system, state)
        distance.append(clearance(slot.node.body, slot.view_x(state.x)) / SIZE)
    least = min(distance)
    return [
        below("least distance of the arms over the voxels' size: they touch", least, 1 + 0.01 * CONTROL),
        Check("least distance of the arms over the voxels' size: they do not pass", least, 0.7, 0.0, least >= 0.7),
    ]


EXAMPLE = Example("clapper", "two voxel arms clap and do not pass through each other", make, 2.0, check)
