"""The contract of a part: bodies of a scene that one method advances.

    M v' = f + J^T p        p: impulses of laws at points that are coupled to other parts
    A = M + theta dt D + (theta dt)^2 K,   the change of the points' velocities by p is  J A^-1 J^T p

`Part` and `Step` are what a coupling asks for. A body that owns every force of its part may have a stride of its own,
`OwnStride`: many steps in one compiled call. It is optional; the general operations exist beside it, and a test holds
the two equal. Voxels and trees keep it; floating and layered bodies move their coordinates in place instead.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.protocols import LocalState

Array = np.ndarray
StateT = TypeVar("StateT", contravariant=True)
ReportT = TypeVar("ReportT", covariant=True)


class OwnStride(Protocol):
    """A body that advances itself while nothing couples it to others."""

    def advance(self, state: LocalState, dt: float, *, steps: int, gravity: ArrayLike) -> LocalState:
        """The state after so many steps of dt [s]; gravity (3,) [m/s²]."""
        ...


class Step(Protocol[ReportT]):
    """A step that has begun, linearised at the impulses p (k, 3) [N s] that `begin` was given.

    velocity (k, 3) [m/s]: of the coupled points at the end of the step, with these impulses.
    """

    @property
    def velocity(self) -> Array: ...
    def solve(self, f: Array) -> Array:
        """A^-1 f in the part's own coordinates, flat; the response of points is J solve J^T."""
        ...

    def finish(self, p: Array) -> ReportT:
        """Take the step; all of p arrives in it."""
        ...

    def shift(self, s: Array) -> None:
        """Positions += A^-1 J^T s, momentum kept: joints brought back after the step."""
        ...


class Part(Protocol[StateT, ReportT]):
    """Bodies that one method advances. It holds bodies, filters and loads, and no law between points."""

    def advance(self, state: StateT, dt: float, steps: int, loads: Array | None) -> ReportT:
        """Many steps, where nothing couples the part. loads: on its coordinates, flat [N]."""
        ...

    def begin(self, state: StateT, dt: float, loads: Array | None, points: Any, p: Array) -> Step[ReportT]:
        """A step in which these points are coupled to other parts; p: the impulses of the last step on them."""
        ...
