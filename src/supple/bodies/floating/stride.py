"""`advance`: the body's own stride, implicit midpoint steps in one compiled call, for a body that is alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.floating.stride_kernels import (
    NOT_CONVERGED,
    SINGULAR,
    StrideNumbers,
    StrideWorkspace,
    advance_explicitly,
    advance_steps,
)
from supple.bodies.stride import Stride, StrideReport, check_stride, stride_of
from supple.errors import ConvergenceError, DivergenceError, InputError

if TYPE_CHECKING:
    from supple.bodies.floating.body import FloatingBody

Array = np.ndarray


def advance(
    body: FloatingBody,
    x: Array,
    v: Array,
    dt: float,
    *,
    steps: int,
    gravity: ArrayLike,
    stride: Stride | None,
    history: Array | None = None,
    workspace: StrideWorkspace | None = None,
) -> StrideReport:
    """See `FloatingBody.advance`."""
    stride = stride_of(stride, Stride(), "FloatingBody.advance")
    r = body.mode_count
    g = check_stride(body.coordinates, x, v, dt, steps, gravity, "FloatingBody.advance")
    if body.model.cubic is not None:
        raise InputError(
            "the stride knows the linear force only", where="FloatingBody.advance", fix="Use Midpoint in a scene."
        )
    nodes, forces = stride.loads(len(body.model.X))
    points, shapes = (np.ascontiguousarray(part) for part in body.node_shapes(nodes))
    K, D = np.ascontiguousarray(body.model.K), np.ascontiguousarray(body.damping)
    x_own, v_own = x[0, : 7 + r].copy(), v[0, : 6 + r].copy()
    numbers, workspace = StrideNumbers(K, D, g, points, shapes, forces), workspace or StrideWorkspace.empty(r)
    iterations, residual = 0, 0.0
    if stride.method == "runge-kutta":
        outcome, made = advance_explicitly(body.model.numbers, numbers, float(dt), int(steps), workspace, x_own, v_own)
    else:
        limits = (float(stride.tolerance), int(stride.max_iterations))
        outcome, made, iterations, residual = advance_steps(
            body.model.numbers, numbers, float(dt), int(steps), *limits, workspace,
            body.stride_history() if history is None else history, x_own, v_own,
        )  # fmt: skip
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
