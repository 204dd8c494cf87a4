"""The contracts that bodies, forces, masses and mappings keep (Faure's elementary operations).

    f(x, v)   force on the coordinates a force acts on        [N], for frames (force, torque in body axes)
    K = df/dx, B = df/dv   so that a stable spring has a negative semi-definite K
    M         mass, v_c = J v_p, f_p = J^T f_c  mapping       [Faure07], signs as corrected in docs/theory.md

A tangent is a value: it belongs to the state it was made from, whatever is called later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

import numpy as np

from supple.bodies.coordinates import Coordinates

Array = np.ndarray
Pairs = tuple[Array, Array]


class JacobianRows(NamedTuple):
    """J by 3x3 blocks: row i holds blocks[ptr[i]:ptr[i+1]] in the columns cols[ptr[i]:ptr[i+1]]."""

    ptr: Array
    cols: Array
    blocks: Array


class LocalState(NamedTuple):
    """What a force sees: time [s], positions x (n, x_width), velocities v (n, v_width) of the points it acts on.

    memory: what a body with a stride of its own remembers beside them, None where it remembers nothing.
    """

    t: float
    x: Array
    v: Array
    memory: Any = None


class Tangent(Protocol):
    """Derivatives of a force at one state. df += stiffness K dv + damping B dv."""

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None: ...


@runtime_checkable
class BlockTangent(Tangent, Protocol):
    """A tangent that can be assembled: it writes one 3x3 block for each pair of its force's `block_pattern`."""

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """data_out[positions[k]] += stiffness K_k + damping B_k, for the k-th pair of the pattern."""
        ...


class Force(Protocol):
    """A force on one set of coordinates.

    `block_pattern()` (optional) names the block pairs (rows, cols) that the tangent fills; a force without it, such
    as one written by a user in Python, is still solved, by products alone. `definite` asks `linearize` for a
    negative semi-definite K where the exact one is indefinite; a force may ignore it.
    """

    def energy(self, state: LocalState) -> float: ...
    def add_force(self, state: LocalState, f_out: Array) -> None: ...
    def linearize(self, state: LocalState, *, definite: bool = False) -> Tangent: ...


@runtime_checkable
class GivenForce(Force, Protocol):
    """A force that does not depend on positions."""

    def values(self, t: float) -> Array:
        """On each point at time t, (n, 3) [N]."""
        ...


class Mass(Protocol):
    """Inertia of one set of coordinates; the matrix is constant in the coordinates of `supple.bodies.coordinates`.

    Where it is not, see `ChangingMass`.
    """

    def add_product(self, dv: Array, f_out: Array, factor: float) -> None: ...
    def add_blocks(self, data_out: Array, positions: Array, factor: float) -> None: ...
    def block_pattern(self) -> Pairs: ...
    def solve(self, f: Array) -> Array: ...
    def add_bias(self, state: LocalState, f_out: Array) -> None: ...
    def compute_impulse(self, x0: Array, v0: Array, x1: Array, v1: Array) -> Array: ...
    def gravity_field(self, g: Array) -> Array: ...
    def momentum(self, state: LocalState) -> Array: ...
    def first_moment(self, x: Array) -> tuple[float, Array]: ...


@runtime_checkable
class DenseMass(Protocol):
    """Inertia of a body that is stepped by its own elimination, as one matrix, for small motions."""

    def matrix(self, x: Array) -> Array:
        """M (v_width, v_width) at coordinates x (1, x_width); rows of what does not move are zero."""
        ...


@runtime_checkable
class ChangingMass(Protocol):
    """Inertia that changes with positions: `at(x)` is its value there, with the products of a `Mass`.

    `impulse_at` is the change of momentum from one state to another, pulled back at positions x. `weight(g)` is gravity
    as a force, since it changes with positions too.
    """

    def at(self, x: Array) -> Any: ...
    def block_pattern(self) -> Pairs: ...
    def add_bias(self, state: LocalState, f_out: Array) -> None: ...
    def impulse_at(self, x0: Array, v0: Array, x1: Array, v1: Array, x: Array) -> Array: ...
    def weight(self, g: Array) -> Force: ...
    def momentum(self, state: LocalState) -> Array: ...
    def first_moment(self, x: Array) -> tuple[float, Array]: ...


@runtime_checkable
class TumblingMass(Protocol):
    """Inertia that knows the mean of its bias over a step in which nothing else acts."""

    def add_mean_bias(self, state: LocalState, h: float, f_out: Array) -> None: ...


@runtime_checkable
class JoinedMass(Protocol):
    """Inertia of which that of many bodies, one after another, is one of the same class."""

    def joined(self, others: Sequence[Any]) -> Mass | None: ...


@runtime_checkable
class KineticMass(Protocol):
    """Inertia that knows its kinetic energy: where M changes with x, or where it finds it faster."""

    def kinetic_energy(self, state: LocalState) -> float: ...


@runtime_checkable
class Assembled(Protocol):
    """A force or mass that names the block pairs (rows, cols) it fills."""

    def block_pattern(self) -> Pairs: ...


class Mapping(Protocol):
    """Points that follow the coordinates of a parent: x_c = m(x_p), v_c = J v_p, a_c = J a_p + (dJ/dt) v_p."""

    @property
    def count(self) -> int: ...
    def apply(self, x: Array) -> Array: ...
    def linearize(self, x: Array) -> MappingTangent: ...


@runtime_checkable
class Choosing(Mapping, Protocol):
    """A mapping that can make some of its points alone."""

    def chosen(self, numbers: Array) -> Mapping: ...


class MappingTangent(Protocol):
    """J of a mapping at one state, with what follows from its change."""

    def product(self, v: Array) -> Array: ...
    def add_transpose(self, f: Array, f_out: Array) -> None: ...
    def bias(self, v: Array) -> Array: ...
    def add_geometric(self, f: Array, dv: Array, df_out: Array, factor: float) -> None: ...


@runtime_checkable
class TurningTangent(MappingTangent, Protocol):
    """J of points whose velocities change with positions: d(J v)/dx dx, which dampers on them feel."""

    def velocity_change(self, v: Array, dx: Array) -> Array: ...


@runtime_checkable
class LocatedTangent(MappingTangent, Protocol):
    """J of points whose positions were found on the way to it."""

    def positions(self) -> Array: ...


@runtime_checkable
class AssembledTangent(MappingTangent, Protocol):
    """J of a mapping that can be assembled: its blocks, and those of its geometric stiffness."""

    def jacobian_rows(self) -> JacobianRows: ...
    def geometric_pattern(self) -> Pairs: ...
    def geometric_blocks(self, f: Array, *, definite: bool) -> Array: ...


@runtime_checkable
class CarriedTangent(AssembledTangent, Protocol):
    """The same of points that frames carry: d(J v)/dx in the pattern of J."""

    def velocity_rows(self, v: Array) -> JacobianRows: ...


@runtime_checkable
class CarriedMapping(Mapping, Protocol):
    """Points that frames carry. Some of them can be looked at without the others, as contacts do."""

    def part(self, points: Array) -> CarriedMapping: ...
    def linearize(self, x: Array) -> CarriedTangent: ...


@dataclass(frozen=True)
class PlacedBody:
    """A body placed in the world: initial coordinates and all that acts inside it."""

    coordinates: Coordinates
    x: Array
    v: Array
    masses: tuple[Mass | ChangingMass, ...]
    forces: tuple[tuple[str, Force], ...]


# Asked in every step, so found once for each class: `isinstance` of a protocol walks its members.
_KEPT: dict[tuple[type, type], bool] = {}


def _keeps(thing: object, protocol: Any) -> bool:
    key = type(thing), protocol
    if key not in _KEPT:
        _KEPT[key] = issubclass(*key)
    return _KEPT[key]


def is_changing(mass: Any) -> TypeGuard[ChangingMass]:
    """Whether a mass changes with positions; then its weight is a force of its own."""
    return _keeps(mass, ChangingMass)


def is_tumbling(mass: Any) -> TypeGuard[TumblingMass]:
    """Whether a mass knows the mean of its bias over a step."""
    return _keeps(mass, TumblingMass)


def is_kinetic(mass: Any) -> TypeGuard[KineticMass]:
    """Whether a mass knows its kinetic energy."""
    return _keeps(mass, KineticMass)


def is_assembled(tangent: Any) -> TypeGuard[AssembledTangent]:
    """Whether J and its geometric stiffness can be assembled."""
    return _keeps(tangent, AssembledTangent)


def is_turning(tangent: Any) -> TypeGuard[TurningTangent]:
    """Whether velocities of mapped points change with positions."""
    return _keeps(tangent, TurningTangent)


def is_carried(mapping: Any) -> TypeGuard[CarriedMapping]:
    """Whether points are carried by frames."""
    key = type(mapping), CarriedMapping
    if key not in _KEPT:
        _KEPT[key] = isinstance(mapping, CarriedMapping)
    return _KEPT[key]


def knows_positions(tangent: Any) -> TypeGuard[LocatedTangent]:
    """Whether positions were found on the way to J."""
    return _keeps(tangent, LocatedTangent)


def knows_velocity_rows(tangent: Any) -> TypeGuard[CarriedTangent]:
    """Whether d(J v)/dx has rows."""
    return _keeps(tangent, CarriedTangent)
