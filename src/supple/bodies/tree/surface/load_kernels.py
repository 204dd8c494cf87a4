"""Forces on points of a tree, brought to its coordinates before each call of its steps by virtual work, as kernels."""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.bodies.tree.surface import kinematics_kernels as kinematics
from supple.bodies.tree.surface.kinematics_kernels import Chain, Frames

Array = np.ndarray


class PointLoads(NamedTuple):
    """chain: the tree up to the last domain with points; forces (calls, p, 3) [N] on these. places (n,): where the
    coordinates of these domains lie in the kernels' vectors. frames, q (n,), frame (7,), y (p, 3), Q (n,), wrench
    (d, 6): scratch."""

    chain: Chain
    forces: Array
    places: Array
    frames: Frames
    q: Array
    frame: Array
    y: Array
    Q: Array
    wrench: Array

    @classmethod
    def of(cls, chain: Chain, forces: Array, places: Array) -> PointLoads:
        """With scratch; forces (calls, p, 3) [N]."""
        d, n = len(chain.parent), int(chain.start[-1])
        frames = Frames.empty(d)
        return cls(
            chain, np.ascontiguousarray(forces, dtype=float), np.ascontiguousarray(places[:n]), frames,
            np.zeros(n), np.zeros(7), np.zeros((int(chain.places[-1]), 3)), np.zeros(n), np.zeros((d, 6)),
        )  # fmt: skip


@compiled
def bring_loads(loads, call, workspace, root):
    """The forces of a call on the coordinates, at the state of now. A root that is free is not pushed."""
    for l in range(len(loads.places)):
        loads.q[l] = workspace.q[loads.places[l]]
        loads.Q[l] = 0.0
    loads.frame[:3], loads.frame[3:] = root.x, root.rotation
    loads.wrench[:] = 0.0
    kinematics.compute_frames(loads.chain, loads.q, loads.frame, loads.frames)
    kinematics.compute_local(loads.chain, loads.q, loads.y)
    kinematics.add_pulled(loads.chain, loads.frames, loads.y, loads.forces[call], loads.Q, loads.wrench)
    for l in range(len(loads.places)):
        workspace.load_q[loads.places[l]] = loads.Q[l]
