"""The largest stable step of the explicit sweep on a lattice with its damping.

Symplectic Euler on M a = -K x - C v is stable exactly while h² K + 2 h C < 4 M: with x_n = lambda^n y and the
quotients k = y*Ky / y*My, c = y*Cy / y*My the step gives

    lambda² + (h² k + h c - 2) lambda + 1 - h c = 0,    |lambda| <= 1  if and only if  h² k + 2 h c <= 4

and at the border lambda = -1 is an eigenvalue. So h is the root of largest_eigenvalue(M^-1 (h² K + 2 h C)) = 4, found
by Lanczos iteration: each eigenvector y gives the next h = (sqrt(c² + 4 k) - c) / k. Critical bond damping makes the
step of a solid block five times smaller than that of the undamped one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, eigsh

from supple.bodies.protocols import LocalState
from supple.bodies.voxel import lattice_kernels as kernels
from supple.bodies.voxel.contact import contact_constants
from supple.bodies.voxel.elastic import LatticeForce
from supple.bodies.voxel.model import VoxelModel
from supple.errors import ConvergenceError

Array = np.ndarray
TOLERANCE = 1e-3


def stable_step(
    model: VoxelModel,
    *,
    held: ArrayLike = (),
    x: Array | None = None,
    contact: bool = False,
    safety: float = 0.9,
    max_iterations: int = 20,
) -> float:
    """The largest stable step [s] times a safety factor; infinite where nothing is stiff or damped.

    held: voxels that do not move. x: frames (n, 7) to linearise at, at rest by default; compressed and stretched
    lattices have other frequencies, so ask again where deformation is large. contact: with every voxel on a plane.
    """
    force = LatticeForce.of(model)
    n = model.voxel_count
    free = np.ones((n, 1))
    free[np.asarray(held, dtype=np.int64)] = 0.0
    scale = free / np.sqrt(np.repeat(np.stack([model.mass, model.inertia], axis=1), 3, axis=1))
    ground, floor = np.repeat(model.ground_damping, 3, axis=1), np.zeros((n, 6))
    if contact:
        on_plane = contact_constants(model) * model.mass[:, None]
        floor[:, :3] = on_plane[:, :1]
        ground[:, :3] += on_plane[:, 1:2]
    frames = model.rest_frames if x is None else np.ascontiguousarray(x, dtype=float)
    tangent = None if x is None else force.linearize(LocalState(0.0, frames, np.zeros((n, 6))), definite=True)

    def stiffness(d: Array) -> Array:
        f = floor * d
        if tangent is not None:
            tangent.add_product(d, f, -1.0, 0.0)
        else:
            kernels.add_differential(force.links, frames, np.zeros((n, 6)), d, -1.0, f)
        return f

    def damping(d: Array) -> Array:
        f = np.zeros((n, 6))
        kernels.add_force(force.links, frames, d, 0.0, f)
        return ground * d - f

    h = 0.5 * float(np.sqrt(model.mass.min() / max(model.link_stiffness[:, 0].max(initial=0.0), 1e-300)))
    if not model.link_count:
        h = 1.0
    start = np.random.default_rng(0).normal(size=6 * n)
    trial = scale * start.reshape(n, 6)
    if not (np.any(scale * stiffness(trial)) or np.any(scale * damping(trial))):
        return np.inf
    for _ in range(max_iterations):

        def apply(y: Array, h: float = h) -> Array:
            d = scale * y.reshape(n, 6)
            return (scale * (h * h * stiffness(d) + 2 * h * damping(d))).ravel()

        operator = LinearOperator((6 * n, 6 * n), matvec=apply, dtype=float)
        y = eigsh(operator, k=1, which="LA", v0=start, tol=TOLERANCE)[1][:, 0]
        d = scale * y.reshape(n, 6)
        k, c = float(np.sum(d * stiffness(d))), float(np.sum(d * damping(d)))
        before, h = h, 4.0 / (c + np.sqrt(c * c + 4 * k))
        start = y
        if abs(h - before) < TOLERANCE * h:
            return safety * h
    raise ConvergenceError("the stable step was not found", where="voxel body", value=h)
