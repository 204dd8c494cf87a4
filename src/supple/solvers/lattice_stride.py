"""The stride of a voxel lattice: its own fused sweep of symplectic Euler, many stable steps in one compiled call.

For a scene of one voxel body, with gravity, held voxels, actuation, planes to stand on and collisions of voxels with
voxels. Anything else in the scene takes the general solvers, in which the lattice is a force like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.voxel import Plane, VoxelBody
from supple.bodies.voxel.collision import Collision
from supple.bodies.voxel.contact import Sphere
from supple.errors import InputError
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.implicit_euler import check_dt
from supple.solvers.report import Outcome, StepReport

Array = np.ndarray


@dataclass
class LatticeStride:
    """dt: time of one call [s], divided into as many stable steps as it takes. planes: what the voxels stand on.

    collision: how voxels meet each other, None: not at all. safety: part of the largest stable step that is used.
    """

    dt: float = 1 / 300
    planes: Sequence[Plane | Sphere] = field(default=(), kw_only=True)
    collision: Collision | None = field(default=None, kw_only=True)
    safety: float = field(default=0.7, kw_only=True)

    def __post_init__(self) -> None:
        check_dt(self.dt, "LatticeStride")
        self._prepared: System | None = None

    def prepare(self, system: System) -> None:
        """Find the held voxels and the number of steps a call."""
        (body, *others) = [slot.node.body for slot in system.bodies]
        own = {label for label, slot, _ in system.forces if slot.is_body}
        if others or not isinstance(body, VoxelBody) or system.joints or len(own) < len(system.forces):
            raise InputError(
                "the stride of a lattice needs a scene of one voxel body and nothing that acts on it",
                where="LatticeStride",
                fix="Use ImplicitEuler or SymplecticEuler.",
            )
        self._held = _held_voxels(system)
        largest = body.stable_step(
            held=self._held, contact=bool(self.planes), collision=self.collision, safety=self.safety
        )
        self._steps = int(np.ceil(self.dt / largest))
        self._prepared = system

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        if self._prepared is not system:
            self.prepare(system)
        (slot,) = system.bodies
        start = LocalState(state.t, slot.view_x(state.x), slot.view_v(state.v))
        end = slot.node.body.advance(
            start,
            self.dt / self._steps,
            self._steps,
            gravity=system.gravity,
            held=self._held,
            planes=self.planes,
            collision=self.collision,
        )
        state.x, state.v, state.t = end.x.ravel(), end.v.ravel(), state.t + self.dt
        outcome = Outcome.SOLVED if state.is_finite else Outcome.NOT_FINITE
        return StepReport(outcome, iterations=self._steps)


def _held_voxels(system: System) -> Array:
    """Numbers of the voxels that filters hold, which must be wholly and for good."""
    f = system.filter
    linear, angular = f.blocks[f.blocks % 2 == 0] // 2, f.blocks[f.blocks % 2 == 1] // 2
    if f.projectors.any() or f.moving or set(linear.tolist()) != set(angular.tolist()):
        raise InputError(
            "the stride of a lattice holds voxels wholly or not at all",
            where="LatticeStride",
            fix="Use fix= or FixedPoints; for sliding or led voxels use ImplicitEuler.",
        )
    return np.unique(linear)
