"""Controllers as data that drive the robots of an arena: networks, and samples of a signal.

    network    control of a voxel = amplitude gain g(t / settle) network(what it observes)
    samples    control of a voxel = amplitude gain g(t / settle) signal(t + phase period)
    g(s) = s² (3 - 2 s), 1 from s = 1 on

Samples are {"kind": "samples", "values": [...], "rate": [Hz], "repeats": whether they do}, linear in between, as of
`supple.bodies.voxel.Samples`; each control is held until the next sample is due. Of a network:

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

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.algebra.dense.function_kernels import compute_sines
from supple.bodies.voxel import Commands, Samples
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
SAMPLES = "samples"
STATE, INPUTS = 9, 14
NEAR = 0.05  # part of a voxel within which it counts as touching an obstacle


def drivers(design: Design, arena: Arena, grid: VoxelGrid) -> Commands:
    """Commands of a design whose controller is the data of a `Network` of 14 inputs and one output, or samples."""
    count = grid.voxel_count
    gain = design.fields["gain"][design.cells > 0] if "gain" in design.fields else np.ones(count)
    if (design.controller or {}).get("kind") == SAMPLES:
        signal, rate = _by_samples(design, arena, count)
        return Commands(signal, rate=rate, count=count, gain=np.diag(gain))
    network = Network.from_data(design.controller or {})
    if (network.inputs, network.outputs) != (INPUTS, 1):
        raise InputError("the network does not fit a voxel", where="design, controller",
                         value=(network.inputs, network.outputs), allowed=f"{INPUTS} inputs, 1 output")  # fmt: skip
    senses = VoxelSenses(design, arena, grid)

    def asked(t: float, state: Any) -> Array:
        actions = network(senses.observe(t, state.x, state.v))[:, 0]
        return arena.amplitude * _grown(t, arena.settle) * actions

    return Commands(asked, rate=RATE, count=count, gain=np.diag(gain))


def _by_samples(design: Design, arena: Arena, count: int) -> tuple[Callable[[float, Any], Array], float]:
    """What is asked, and how often [Hz]."""
    given = dict(design.controller or {})
    try:
        values, rate = np.array(given["values"], dtype=float), float(given["rate"])
        signal = Samples(values, rate, repeats=bool(given.get("repeats", False)))
    except (KeyError, TypeError, ValueError):
        raise InputError("samples lack values or a rate", where="design, controller",
                         allowed='{"kind": "samples", "values": numbers, "rate": Hz}') from None  # fmt: skip
    phase = design.fields["phase"][design.cells > 0] if "phase" in design.fields else np.zeros(count)
    if phase.any() and signal.period is None:
        raise InputError("phases are of samples that repeat", where="design, controller", fix='Give "repeats": true.')
    ahead = phase * (signal.period or 0.0)
    return lambda t, state: arena.amplitude * _grown(t, arena.settle) * signal.sample(t + ahead), rate


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
