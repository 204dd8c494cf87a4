"""About which point the angular momentum of a frame with more than a rigid body is balanced.

    over a whole step      h1 - h0 - c x (p1 - p0)        about the origin c of the frame in the middle
    to the end itself      h1 - h0 - c0 x (p1 - p0) = L1 - L0 + (c1 - c0) x p1

p linear momentum, h angular momentum about the world's origin, L about the frame's. The second is d/dt L = m - c' x p
of a rule that takes forces, and so p, at its end: with p0 in place of p1 a body thrown through a uniform gravity would
turn, the faster the faster it flies.

A step that takes the bias at its start takes its mean instead, as if the body turned freely and rigidly in its present
shape:

    bias + M(x) (-alpha x c, alpha, 0),      I alpha = I (w_1 - w)/h + w x I w

alpha [rad/s²] takes the angular acceleration from that of the start to its mean, w_1 being that of `turning_kernels`, I
the inertia about the centre of mass c, in body axes: M spreads it over the body as over a rigid one, so that neither
its centre nor its shape is accelerated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.algebra.dense import rotations
from supple.algebra.dense.turning_kernels import compute_turned
from supple.bodies.protocols import LocalState

Array = np.ndarray


def moment_at(c0: Array, c1: Array, c: Array, change: Array) -> Array:
    """Change of angular momentum (3,) [kg m²/s] in world axes, from the change (6 or more,) of (p, h), of a frame that
    goes from c0 to c1 (3,) [m], seen from one at c (3,)."""
    about = c0 if np.array_equal(c, c1) else c
    return change[3:6] - rotations.cross(about, change[:3])


def add_mean_turning(
    mass: Any, state: LocalState, h: float, total: float, S: Array, J: Array, M: Any, f_out: Array
) -> None:
    """f += bias and what takes it to its mean over h [s]. total [kg]; S (3,) [kg m], J (3, 3) [kg m²]: moments about
    the frame's origin in body axes; M: the mass matrix."""
    mass.add_bias(state, f_out)
    c, w = S / total, state.v[:1, 3:6].copy()
    I = J - total * (c @ c * np.eye(3) - np.outer(c, c))
    turned = np.empty_like(w)
    compute_turned(np.ascontiguousarray(I)[None], w, h, turned)
    change = (turned - w)[0] / h + np.linalg.solve(I, rotations.cross(w[0], I @ w[0]))
    push = np.zeros_like(f_out)
    push[0, :3] = -rotations.rotate(state.x[0, 3:7], rotations.cross(change, c))
    push[0, 3:6] = change
    M.add_product(push, f_out, 1.0)
