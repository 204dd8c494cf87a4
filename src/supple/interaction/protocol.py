"""The contract of an interaction: a law between points of bodies of any kinds, seen through their mappings.

    u = E-rows of relative motion,   E u + c p = r       p: impulses, equal and opposite on the two sides

A law sees positions and velocities of points alone, never bodies. The solvers honour two forms of it: a force with a
tangent on the joined points (`PointForce`: springs, dampers, a person's own), and conditions with multipliers
(`PointConditions`: joints, limits, motors), where c = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from supple.bodies.protocols import LocalState, Tangent

Array = np.ndarray


class PointForce(Protocol):
    """A law that gives forces on points x (n, 3) [m] with velocities v (n, 3) [m/s]."""

    def energy(self, state: LocalState) -> float: ...
    def add_force(self, state: LocalState, f_out: Array) -> None: ...
    def linearize(self, state: LocalState, *, definite: bool = False) -> Tangent: ...


class PointConditions(Protocol):
    """A law that asks phi(x) = 0 of points x (n, 3) [m], held by multipliers between bounds; one row a condition."""

    @property
    def count(self) -> int:
        """Number of rows."""
        ...

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest multiplier of each row."""
        ...

    @property
    def meets(self) -> Array:
        """Which rows ask points to meet, (count,)."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """What each row says, for messages, (count,)."""
        ...

    @property
    def units(self) -> Sequence[str]:
        """Of phi of each row, (count,)."""
        ...

    @property
    def rates(self) -> Array:
        """dphi/dt where a row holds, (count,)."""
        ...

    @property
    def is_driven(self) -> bool:
        """Whether energy may come from it, as from a motor."""
        ...

    def violation(self, x: Array) -> Array:
        """phi, (count,)."""
        ...

    def jacobian(self, x: Array) -> Array:
        """dphi/dx, (count, 3 n)."""
        ...

    def second(self, multipliers: Array, x: Array) -> Array:
        """d(G^T lambda)/dx, (n, n, 3, 3)."""
        ...

    def begin(self, x: Array, dt: float, t1: float) -> None:
        """A step of dt from these positions begins, which ends at t1."""
        ...


@runtime_checkable
class Interaction(Protocol):
    """What a scene takes: a law and the points it is between. on: a point set of the scene."""

    @property
    def on(self) -> Any: ...
    @property
    def force(self) -> PointForce: ...
