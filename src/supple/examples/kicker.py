"""kicker: a beam swings in resonance and kicks a ball into a pin, which falls.

It is the scene of [HL12, figure 9a-c]: the beam is 10 times stiffer than the ball, and the ball 10 times stiffer than
the pin. The beam hangs from its upper end; its two layers swell and shrink against each other at the frequency of its
first mode, so that each swing is wider than the one before until it reaches the ball. Beam, ball and pin are pieces of
one grid with empty cells between them, three bodies that meet. Checked: the ball has gone and the pin lies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.voxel import Actuation, VoxelBody
from supple.contact import Contact, Floor
from supple.examples import Check, Example
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.scene import Scene
from supple.solvers import LatticeSolver

Array = np.ndarray
SIZE = 0.01  # [m]
LEFT, RIGHT, BALL, PIN = 1, 2, 3, 4
HANG, DEEP, LAYER = 22, 5, 2  # voxels of the beam over its length, its width and the thickness of a layer
GROUND = 3  # empty cells under the beam
ACROSS = 7  # voxels of the ball over its diameter
RADII = (1.6, 2.3, 2.3, 1.6, 1.6, 1.6, 1.1, 1.1, 1.6, 1.6)  # of the pin, from its foot up, in voxels
REACH, AWAY = 3, 8  # empty cells from the beam to the ball, and from the ball to the pin
FREQUENCY = 13.8  # [Hz], the first of the beam
STRAIN = 1.2  # of a layer, in percent
AIR = 1e-3  # damping ratio of the beam's voxels to the world: a ninth of critical in the first mode


def disc(cells: int, radius: float) -> Array:
    """A disc in a square of so many cells, (cells, cells)."""
    place = np.arange(cells) - (cells - 1) / 2
    return np.asarray(np.hypot(*np.meshgrid(place, place, indexing="ij")) <= radius)


def pieces(strain: float = STRAIN) -> VoxelBody:
    """Beam, ball and pin; strain: amplitude of the layers' strain [%]."""
    first = 2 * LAYER + REACH
    second = first + ACROSS + AWAY
    numbers = np.zeros((second + 5, ACROSS, GROUND + HANG), dtype=int)
    middle = slice((ACROSS - DEEP) // 2, (ACROSS + DEEP) // 2)
    numbers[:LAYER, middle, GROUND:] = LEFT
    numbers[LAYER : 2 * LAYER, middle, GROUND:] = RIGHT
    place = np.arange(ACROSS) - (ACROSS - 1) / 2
    distance = np.sqrt(sum(a**2 for a in np.meshgrid(place, place, place, indexing="ij")))
    numbers[first : first + ACROSS, :, :ACROSS][distance < ACROSS / 2] = BALL
    for k, radius in enumerate(RADII):
        numbers[second:, 1:6, k][disc(5, radius)] = PIN
    made = {
        number: VoxelMaterial(young=young, density=1000, expansion=expansion, ground_damping=damping, name=name)
        for number, young, expansion, damping, name in (
            (LEFT, 1e7, 0.01, AIR, "left layer"),
            (RIGHT, 1e7, -0.01, AIR, "right layer"),
            (BALL, 1e6, 0.0, 0.0, "ball"),
            (PIN, 1e5, 0.0, 0.0, "pin"),
        )
    }
    return VoxelBody(VoxelGrid(numbers, SIZE), made, actuation=Actuation(strain, FREQUENCY))


def voxels_of(body: VoxelBody, *numbers: int) -> Array:
    """Voxels of some materials."""
    return np.flatnonzero(np.isin(body.grid.materials[tuple(body.grid.voxels.T)], numbers))


def hold(body: VoxelBody) -> Array:
    """Numbers of the voxels that the beam hangs from."""
    return np.flatnonzero(body.grid.voxels[:, 2] == body.grid.shape[2] - 1)


def make(strain: float = STRAIN) -> Scene:
    """The three on a floor at z = 0."""
    body = pieces(strain)
    scene = Scene(gravity=(0, 0, -9.81), solver=LatticeSolver(bend_limit=0.5), name="kicker")
    scene.add(body, fix=hold(body), name="pieces")
    scene.add(Floor())
    scene.add(Contact(self_contact=True))
    return scene


def lean(body: VoxelBody, x: Array) -> float:
    """Angle of the pin's axis, from foot to head, to the vertical at frames x (n, 7) [degrees]."""
    pin = voxels_of(body, PIN)
    height = body.grid.voxels[pin, 2]
    axis = x[pin[height == height.max()], :3].mean(axis=0) - x[pin[height == 0], :3].mean(axis=0)
    return float(np.degrees(np.arccos(axis[2] / np.linalg.norm(axis))))


def ball_way(body: VoxelBody, x: Array) -> float:
    """How far the ball has gone along x [m]."""
    ball = voxels_of(body, BALL)
    return float((x[ball, 0] - body.positions[ball, 0]).mean())


def check(run: Any) -> list[Check]:
    """Ball and pin at the end."""
    slot = run.system.body("pieces")
    body, x = slot.node.body, slot.view_x(run.state.x)
    angle, way = lean(body, x), ball_way(body, x)
    return [
        Check("way of the ball over its diameter", way / (ACROSS * SIZE), 1.0, 0.0, way >= ACROSS * SIZE),
        Check("lean of the pin [degrees]", angle, 45.0, 0.0, angle >= 45.0),
    ]


EXAMPLE = Example("kicker", "a beam in resonance kicks a ball into a pin", make, 0.8, check, record_every=1 / 150)
