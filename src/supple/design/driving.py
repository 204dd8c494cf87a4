"""Networks that drive the robots of an arena: what each voxel observes goes in, how much it swells comes out.

    control of a voxel = amplitude gain g(t / settle) network(what it observes),   g(s) = s² (3 - 2 s), 1 from s = 1 on

| numbers that a voxel observes | |
|---|---|
| 0 | 1 |
| 1, 2, 3 | place relative to the robot's centre of mass, over the longest edge of its grid |
| 4, 5, 6 | velocity [m/s] |
| 7 | mean strain of its links |
| 8 | 1 where it touches an obstacle |
| 9, 10 | sine and cosine of its clock, of the arena's frequency, at the voxel's phase |
| 11, 12, 13 | the goal, which an arena does not have: 0 |

They are those of tasks, so that one network drives robots in both. It is asked 20 times a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.algebra.dense.function_kernels import compute_sines
from supple.bodies.voxel import Commands
from supple.bodies.voxel.model import face_neighbours
from supple.design.controllers import Network
from supple.design.designs import Design
from supple.design.tasks.score_kernels import compute_cells
from supple.design.touching import touching
from supple.errors import InputError
from supple.geometry import VoxelGrid

if TYPE_CHECKING:
    from supple.design.arena import Arena

Array = np.ndarray
RATE = 20.0  # [Hz]
STATE, INPUTS = 9, 14
NEAR = 0.05  # part of a voxel within which it counts as touching an obstacle


def drivers(design: Design, arena: Arena, grid: VoxelGrid) -> Commands:
    """Commands of a design whose controller is the data of a `Network` of 14 inputs and one output."""
    network = Network.from_data(design.controller or {})
    if (network.inputs, network.outputs) != (INPUTS, 1):
        raise InputError("the network does not fit a voxel", where="design, controller",
                         value=(network.inputs, network.outputs), allowed=f"{INPUTS} inputs, 1 output")  # fmt: skip
    count, senses = grid.voxel_count, VoxelSenses(design, arena, grid)
    gain = design.fields["gain"][design.cells > 0] if "gain" in design.fields else np.ones(count)

    def asked(t: float, state: Any) -> Array:
        actions = network(senses.observe(t, state.x, state.v))[:, 0]
        return arena.amplitude * _grown(t, arena.settle) * actions

    return Commands(asked, rate=RATE, count=count, gain=np.diag(gain))


class VoxelSenses:
    """What the voxels of a design observe in an arena."""

    def __init__(self, design: Design, arena: Arena, grid: VoxelGrid) -> None:
        filled = design.cells > 0
        self.arena = arena
        self.phase = design.fields["phase"][filled] if "phase" in design.fields else np.zeros(grid.voxel_count)
        density = np.array([arena.materials[int(n)].density for n in design.cells[filled]])
        self.share = density * design.fields["density"][filled] if "density" in design.fields else density
        self.links = np.ascontiguousarray(face_neighbours(grid)[0], dtype=np.int64)
        self.extent = arena.voxel_size * max(design.cells.shape)

    def observe(self, t: float, x: Array, v: Array) -> Array:
        """Numbers of all voxels (n, 14) at a time [s], of frames x (n, 7) and velocities v (n, 6)."""
        size = self.arena.voxel_size
        out = np.zeros((len(x), INPUTS))
        near = touching(self.arena.obstacles, x[:, :3], (1 + 2 * NEAR) * size, t).astype(float)
        sums = np.cumsum(self.share[:, None] * x[:, :3], axis=0)[-1]  # in one order on every machine
        centre = sums / np.cumsum(self.share)[-1]
        seen = np.empty((len(x), STATE))
        compute_cells(x, v, centre, self.extent, self.links, size, near, seen)
        out[:, :STATE] = seen
        for channel, quarter in ((STATE, 0.0), (STATE + 1, 0.25)):
            clock = np.empty(len(x))
            compute_sines(self.arena.frequency * t + self.phase + quarter, clock)
            out[:, channel] = clock
        return out


def _grown(t: float, settle: float) -> float:
    """Part of the amplitude at a time [s]."""
    s = 1.0 if t >= settle else t / settle
    return s * s * (3 - 2 * s)
