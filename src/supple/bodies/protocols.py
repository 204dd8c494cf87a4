"""The contracts that bodies, forces, masses and mappings keep (Faure's elementary operations).

    f(x, v)   force on the coordinates a force acts on        [N], for frames (force, torque in body axes)
    K = df/dx, B = df/dv   so that a stable spring has a negative semi-definite K
    M         mass, v_c = J v_p, f_p = J^T f_c  mapping       [Faure07], signs as corrected in docs/theory.md

A tangent is a value: it belongs to the state it was made from, whatever is called later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from supple.bodies.coordinates import Coordinates

Array = np.ndarray
Pairs = tuple[Array, Array]


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


class Mapping(Protocol):
    """Points that follow the coordinates of a parent: x_c = m(x_p), v_c = J v_p, a_c = J a_p + (dJ/dt) v_p."""

    @property
    def count(self) -> int: ...
    def apply(self, x: Array) -> Array: ...
    def linearize(self, x: Array) -> MappingTangent: ...


class MappingTangent(Protocol):
    """J of a mapping at one state, with what follows from its change."""

    def product(self, v: Array) -> Array: ...
    def add_transpose(self, f: Array, f_out: Array) -> None: ...
    def bias(self, v: Array) -> Array: ...
    def add_geometric(self, f: Array, dv: Array, df_out: Array, factor: float) -> None: ...


@dataclass(frozen=True)
class PlacedBody:
    """A body placed in the world: initial coordinates and all that acts inside it."""

    coordinates: Coordinates
    x: Array
    v: Array
    masses: tuple[Mass | ChangingMass, ...]
    forces: tuple[tuple[str, Force], ...]
