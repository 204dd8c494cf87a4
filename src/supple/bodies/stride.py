"""Options and report of a body's own stride: many steps of a body that is alone, in one compiled call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_array, check_vector, check_whole
from supple.bodies.coordinates import Coordinates, check_coordinates
from supple.bodies.protocols import LocalState
from supple.errors import InputError, check_choice, check_instance, check_number, is_finite, is_number

Array = np.ndarray
MOST_STEPS = 10**12
"""Of one call: more would run for years."""


class StrideReport(NamedTuple):
    """iterations: most of a step; residual: largest, relative to the momentum and the impulse of a step."""

    iterations: int
    residual: float


@dataclass(frozen=True, eq=False)
class Stride:
    """tolerance: relative residual of a step. nodes (k,), forces (k, 3) [N]: constant world forces on nodes.

    method: "midpoint", implicit and converged, or "runge-kutta", explicit of fourth order, as a reference.
    """

    method: Literal["midpoint", "runge-kutta"] = field(default="midpoint", kw_only=True)
    tolerance: float = field(default=1e-11, kw_only=True)
    max_iterations: int = field(default=30, kw_only=True)
    nodes: ArrayLike = field(default=(), kw_only=True)
    forces: ArrayLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_choice(self.method, ("midpoint", "runge-kutta"), "method", where="Stride")
        check_number(self.tolerance, name="tolerance", where="Stride", above=0.0, most=1.0)
        check_number(self.max_iterations, name="max_iterations", where="Stride", least=1, whole=True)

    def loads(self, node_count: int) -> tuple[Array, Array]:
        """Node numbers (k,) and forces (k, 3), for a body of so many nodes."""
        nodes = check_whole(self.nodes, name="nodes", where="Stride").ravel()
        forces = check_array(() if self.forces is None else self.forces, name="forces", where="Stride")
        if forces.size % 3:
            raise InputError("forces are not (k, 3)", where="Stride", value=forces.shape)
        forces = forces.reshape(-1, 3)
        if len(forces) != len(nodes) or not np.isfinite(forces).all():
            raise InputError("there is not one finite force a node", where="Stride", value=(len(nodes), len(forces)))
        if nodes.size and (nodes.min() < 0 or nodes.max() >= node_count):
            raise InputError("a node's number is out of range", where="Stride", allowed=f"0 to {node_count - 1}")
        return nodes, forces


def check_local_state(state: LocalState, coordinates: Coordinates, where: str) -> None:
    """Refuse what is no state of a body of these coordinates."""
    check_instance(state, LocalState, "a LocalState", where=where)
    check_coordinates(state.x, (coordinates.count, coordinates.x_width), name="x", where=where)
    check_coordinates(state.v, (coordinates.count, coordinates.v_width), name="v", where=where)


def check_steps(dt: float, steps: int, where: str, *, infinite: bool = False) -> None:
    """Refuse what is no step [s], or no number of steps. infinite: whether a step may be."""
    if type(dt) is not float or type(steps) is not int or not 0 < dt < np.inf or not 0 <= steps < MOST_STEPS:
        is_step = is_number(dt) and dt > 0 and (is_finite(dt) or (infinite and dt == np.inf))
        if not is_step:
            raise InputError("the step is not positive and finite", where=where, value=dt, allowed="> 0 s")
        check_number(steps, name="steps", where=where, least=0, most=MOST_STEPS, whole=True)


def check_stride(
    coordinates: Coordinates, x: Array, v: Array, dt: float, steps: int, gravity: ArrayLike, where: str
) -> Array:
    """Refuse what a body's own stride cannot take; gravity (3,) [m/s²]."""
    check_coordinates(x, (coordinates.count, coordinates.x_width), name="x", where=where)
    check_coordinates(v, (coordinates.count, coordinates.v_width), name="v", where=where)
    check_steps(dt, steps, where)
    return check_vector(gravity, name="gravity", where=where)


def stride_of(given: Stride | None, usual: Stride, where: str) -> Stride:
    """The options that were given, or the usual ones."""
    if given is None:
        return usual
    check_instance(given, Stride, "a Stride", where=where)
    return given
