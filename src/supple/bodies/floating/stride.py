"""`advance`: the body's own stride, implicit midpoint steps in one compiled call, for a body that is alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.floating.stride_kernels import (
    NOT_CONVERGED,
    SINGULAR,
    StrideNumbers,
    StrideRoom,
    advance_explicitly,
    advance_steps,
)
from supple.bodies.placement import check_vector
from supple.errors import ConvergenceError, DivergenceError, InputError

if TYPE_CHECKING:
    from supple.bodies.floating.body import FloatingBody

Array = np.ndarray


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
        if self.method not in ("midpoint", "runge-kutta"):
            raise InputError("unknown method", where="Stride", value=self.method, allowed="midpoint, runge-kutta")
        if not 0 < self.tolerance < 1 or self.max_iterations < 1:
            raise InputError(
                "the settings are out of range",
                where="Stride",
                value=(self.tolerance, self.max_iterations),
                allowed="0 < tolerance < 1, max_iterations >= 1",
            )

    def loads(self) -> tuple[Array, Array]:
        """Node numbers (k,) and forces (k, 3)."""
        nodes = np.asarray(self.nodes, dtype=np.int64).ravel()
        forces = np.zeros((0, 3)) if self.forces is None else np.asarray(self.forces, dtype=float).reshape(-1, 3)
        if len(forces) != len(nodes) or not np.isfinite(forces).all():
            raise InputError("there is not one finite force a node", where="Stride", value=(len(nodes), len(forces)))
        return nodes, forces


def advance(
    body: FloatingBody, x: Array, v: Array, dt: float, *, steps: int, gravity: ArrayLike, stride: Stride | None
) -> StrideReport:
    """See `FloatingBody.advance`."""
    stride = stride or Stride()
    r = body.mode_count
    if x.shape != (1, body.coordinates.x_width) or v.shape != (1, body.coordinates.v_width):
        raise InputError("the state does not fit the body", where="FloatingBody.advance", value=(x.shape, v.shape))
    if not np.isfinite(dt) or dt <= 0 or steps < 0:
        raise InputError("the step is not positive", where="FloatingBody.advance", value=(dt, steps))
    if body.model.cubic is not None:
        raise InputError(
            "the stride knows the linear force only", where="FloatingBody.advance", fix="Use Midpoint in a scene."
        )
    g = check_vector(gravity, name="gravity", where="FloatingBody.advance")
    nodes, forces = stride.loads()
    points, shapes = (np.ascontiguousarray(part) for part in body.node_shapes(nodes))
    K, D = np.ascontiguousarray(body.model.K), np.ascontiguousarray(body.damping)
    x_own, v_own = x[0, : 7 + r].copy(), v[0, : 6 + r].copy()
    numbers, room = StrideNumbers(K, D, g, points, shapes, forces), StrideRoom.empty(r)
    iterations, residual = 0, 0.0
    if stride.method == "runge-kutta":
        outcome, made = advance_explicitly(body.model.numbers, numbers, float(dt), int(steps), room, x_own, v_own)
    else:
        limits = (float(stride.tolerance), int(stride.max_iterations))
        outcome, made, iterations, residual = advance_steps(
            body.model.numbers, numbers, float(dt), int(steps), *limits, room, x_own, v_own
        )
    if outcome == NOT_CONVERGED:
        raise ConvergenceError(
            "a step did not reach its tolerance",
            where=f"FloatingBody.advance, step {made}",
            value=residual,
            allowed=f"<= {stride.tolerance:g} in {stride.max_iterations} iterations",
            fix="Take smaller steps.",
        )
    if outcome == SINGULAR or not (np.isfinite(x_own).all() and np.isfinite(v_own).all()):
        raise DivergenceError(
            "the motion is not finite any more, or its matrix is singular",
            where=f"FloatingBody.advance, step {made}",
            fix="Take smaller steps; a fast spin may need stiffening=True.",
        )
    x[0, : 7 + r], v[0, : 6 + r] = x_own, v_own
    return StrideReport(int(iterations), float(residual))
