"""rigid-on-springs: a heavy rigid plate carried by a soft block, coupled both ways in one solve.

The plate's corners are tied to the block's top by stiff springs. Given a push, the plate bounces on the block.
Checked: the frequency of its bounce against the closed form of a mass on a rod,

    b tan b = m_block / m_plate,   w = b c / L,   c = sqrt(E / rho)

for a column of Poisson's ratio zero, which deforms in one direction only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from supple.bodies.fem import FemBody
from supple.bodies.rigid import RigidBody
from supple.examples import Check, Example, within
from supple.geometry import box_hexes
from supple.material import Material
from supple.scene import Scene, Springs
from supple.solvers import Newmark

SIZE, HEIGHT, YOUNG, DENSITY, PLATE_DENSITY, THICKNESS = 0.1, 0.1, 2e5, 1000.0, 4000.0, 0.03


def make() -> Scene:
    """A block 0.1 m wide and high, a plate of 1.2 kg on it, pushed down at 0.05 m/s."""
    foam = Material(young=YOUNG, poisson=0.0, density=DENSITY, name="foam")
    scene = Scene(solver=Newmark(dt=5e-4), name="rigid-on-springs")
    mesh = box_hexes(size=(SIZE, SIZE, HEIGHT), cells=(3, 3, 4))
    centre = (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2
    block = scene.add(FemBody(mesh, foam, law="corotational", mass="consistent"), at=-centre, fix="z_min", name="block")
    plate = scene.add(
        RigidBody.box((SIZE, SIZE, THICKNESS), density=PLATE_DENSITY),
        at=(0, 0, (HEIGHT + THICKNESS) / 2),
        velocity=(0, 0, -0.05),
        name="plate",
    )
    top = block.points("z_max")
    scene.add(Springs(top, plate.points(at=top.rest), stiffness=1e6, rest_length=0.0), name="glue")
    return scene


def bounce_frequency() -> float:
    """First axial frequency [Hz] of a fixed rod with a mass at its end."""
    block, plate = DENSITY * SIZE * SIZE * HEIGHT, PLATE_DENSITY * SIZE * SIZE * THICKNESS
    k = brentq(lambda b: b * np.tan(b) - block / plate, 1e-6, np.pi / 2 - 1e-6)
    return float(k / (2 * np.pi * HEIGHT) * np.sqrt(YOUNG / DENSITY))


def frequency_of(t: np.ndarray, z: np.ndarray) -> float:
    """Frequency [Hz] of the plate's height z(t) from its upward crossings of the rest height."""
    z = z - (HEIGHT + THICKNESS) / 2
    up = np.flatnonzero((z[:-1] < 0) & (z[1:] >= 0))
    crossings = t[up] - z[up] * (t[up + 1] - t[up]) / (z[up + 1] - z[up])
    return float((len(crossings) - 1) / (crossings[-1] - crossings[0]))


def check(run: Any) -> list[Check]:
    """Frequency of the bounce, from the recorded heights of the plate."""
    frames = range(len(run.energies.times))
    z = np.array([run.frames.points("plate", k)[:, 2].mean() for k in frames], dtype=float)
    return [within("bounce frequency [Hz]", frequency_of(run.energies.times, z), bounce_frequency(), 0.01)]


EXAMPLE = Example(
    "rigid-on-springs", "a rigid plate bounces on a soft block, one solve", make, 0.5, check, record_every=0.002
)
