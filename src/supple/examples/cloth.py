"""cloth: a layer of voxels falls on a fixed ball and drapes over it.

The layer is one voxel thick; collisions are on, for folds that might meet. It is the scene of [HL12, figure 9d-f].
Checked: it stays on the ball, hangs down around it, and neither enters the ball nor itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.voxel import VoxelBody
from supple.contact import Contact, Sphere
from supple.examples import Check, Example, below
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.scene import Scene
from supple.solvers import LatticeSolver

Array = np.ndarray
SIZE = 0.01  # [m]
EDGE = 24  # voxels
RADIUS = 0.05  # [m]
MIDDLE = 0.5 * EDGE * SIZE


def sheet() -> VoxelBody:
    """The layer, level."""
    material = VoxelMaterial(young=2e4, density=1000, bond_damping=0.3, ground_damping=5e-3, name="cloth")
    return VoxelBody(VoxelGrid(np.ones((EDGE, EDGE, 1), dtype=int), SIZE), material)


def make() -> Scene:
    """The layer half a voxel above the ball."""
    scene = Scene(gravity=(0, 0, -9.81), solver=LatticeSolver(bend_limit=None), name="cloth")  # cloth folds
    scene.add(sheet(), name="cloth")
    scene.add(Sphere((MIDDLE, MIDDLE, -RADIUS - SIZE), RADIUS), name="ball")
    scene.add(Contact(self_contact=True))
    return scene


def nearest(body: VoxelBody, x: Array) -> float:
    """Least distance [m] between the centres of voxels that are not close neighbours, at frames x (n, 7)."""
    cells = body.grid.voxels
    apart = np.abs(cells[:, None] - cells[None]).sum(axis=2) > 3
    distance = np.linalg.norm(x[:, None, :3] - x[None, :, :3], axis=2)
    return float(distance[apart].min())


def check(run: Any) -> list[Check]:
    """The layer at the end."""
    slot = run.system.body("cloth")
    x = slot.view_x(run.state.x)
    out = np.linalg.norm(x[:, :3] - (MIDDLE, MIDDLE, -RADIUS - SIZE), axis=1) - RADIUS
    least = nearest(slot.node.body, x) / SIZE
    top, rim = float(x[:, 2].max()), float(x[:, 2].min())
    return [
        below("depth in the ball over the voxels' size", 0.5 - float(out.min()) / SIZE, 0.3),
        below("loss of height of the top [m]", -top, SIZE),
        Check("height of top over rim [m]", top - rim, RADIUS, 0.0, top - rim >= RADIUS),
        Check("least distance of folds over the voxels' size", least, 0.7, 0.0, least >= 0.7),
    ]


EXAMPLE = Example("cloth", "a layer of voxels drapes over a ball", make, 1.0, check)
