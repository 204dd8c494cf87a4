"""bouncing-ball: a hollow ball of voxels falls on a floor, flattens, and bounces until it lies still.

It is the scene of [HL12, figure 1]. The floor's impulse is what the momentum has more than free fall gives it,

    J(t) = p_z(t) + m g t

so that J rises in contact and is constant in flight, where the centre of mass would climb to z + v_z² / (2 g). Checked:
the floor is first felt at sqrt(2 h / g); the ball bounces at least three times, each time lower, and gains no energy
from one moment in flight to the next; at the end the floor carries its weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.voxel import VoxelBody
from supple.contact import Floor
from supple.examples import Check, Example, below, within
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.scene import Scene
from supple.solvers import LatticeSolver

Array = np.ndarray
SIZE = 0.01  # [m]
ACROSS, WALL = 14, 2  # voxels
DROP = 0.3  # [m], from the lowest voxel's face to the floor
GRAVITY = 9.81  # [m/s²]


def ball() -> VoxelBody:
    """The hollow ball, DROP above the floor at z = 0."""
    place = np.arange(ACROSS) - (ACROSS - 1) / 2
    distance = np.sqrt(sum(a**2 for a in np.meshgrid(place, place, place, indexing="ij")))
    shell = (distance < ACROSS / 2) & (distance >= ACROSS / 2 - WALL)
    rubber = VoxelMaterial(young=3e5, density=1000, bond_damping=0.2, contact_damping=0.5, name="rubber")
    return VoxelBody(VoxelGrid(shell.astype(int), SIZE, np.array([0.0, 0.0, DROP])), rubber)


def make() -> Scene:
    """The ball, let go."""
    scene = Scene(gravity=(0, 0, -GRAVITY), solver=LatticeSolver(bend_limit=0.5), name="bouncing-ball")
    scene.add(ball(), name="ball")
    scene.add(Floor())
    return scene


def first_contact(system: Any, dt: float = 2.5e-4) -> float:
    """Time [s] at which the floor is first felt, to dt/2."""
    state, stride = system.initial_state(), LatticeSolver(dt, bend_limit=0.5)
    (slot,) = system.bodies
    mass = slot.node.body.model.mass
    while float(mass @ slot.view_v(state.v)[:, 2]) <= -mass.sum() * GRAVITY * state.t * (1 - 1e-9):
        stride.step(system, state)
    return float(state.t - 0.5 * dt)


def pushed(t: Array, speed: Array) -> Array:
    """Whether the floor pushes between two frames, by more than a hundredth of the weight, (frames - 1,)."""
    return np.asarray(np.diff(speed + GRAVITY * t) > 0.01 * GRAVITY * np.diff(t))


def apexes(t: Array, z: Array, speed: Array) -> Array:
    """Heights [m] that the centre of mass reaches in its flights, from times, heights and vertical speeds (frames,)."""
    push = pushed(t, speed)
    leaving = 1 + np.flatnonzero(push[:-1] & ~push[1:])
    return np.asarray(z[leaving] + speed[leaving] ** 2 / (2 * GRAVITY))


def check(run: Any) -> list[Check]:
    """The first contact, the bounces, and the end."""
    columns, mass = run.frames.columns, run.system.body("ball").node.body.total_mass
    t, z, speed = run.frames.times, columns["centre_of_mass"][:, 2], columns["momentum"][:, 2] / mass
    late = t >= t[-1] - 0.5
    rest = z[late].mean()
    heights = (np.r_[z[0], apexes(t, z, speed)] - rest) / (z[0] - rest)
    push = pushed(t, speed)
    aloft = ~(np.r_[push, False] | np.r_[False, push])
    total = (columns["kinetic"] + columns["potential"])[aloft]
    gain = float(np.diff(total).max()) / (mass * GRAVITY * DROP)
    carried = np.polyfit(t[late], (speed + GRAVITY * t)[late], 1)[0]
    keeps = float(np.max(heights[1:4] / heights[:3]))
    return [
        within("time of the first contact [s]", first_contact(run.system), float(np.sqrt(2 * DROP / GRAVITY)), 2e-3),
        Check("height of the third bounce over the drop", float(heights[3]), 0.05, 0.0, bool(heights[3] >= 0.05)),
        below("largest ratio of a bounce's height to the one before", keeps, 0.95),
        below("largest gain of energy from flight to flight over that of the drop", gain, 1e-3),
        within("force of the floor at the end over the weight", float(carried / GRAVITY), 1.0, 0.02),
    ]


EXAMPLE = Example("bouncing-ball", "a hollow ball of voxels bounces on a floor", make, 5.0, check, record_every=1 / 50)
