"""The largest stable step of the explicit sweep on a lattice with its damping.

Symplectic Euler on M a = -K x - C v is stable exactly while h² K + 2 h C < 4 M: with x_n = lambda^n y and the
quotients k = y*Ky / y*My, c = y*Cy / y*My the step gives

    lambda² + (h² k + h c - 2) lambda + 1 - h c = 0,    |lambda| <= 1  if and only if  h² k + 2 h c <= 4

and at the border lambda = -1 is an eigenvalue. So h is the root of largest_eigenvalue(M^-1 (h² K + 2 h C)) = 4, found
by Lanczos iteration: each eigenvector y gives the next h = (sqrt(c² + 4 k) - c) / k. Critical bond damping makes the
step of a solid block five times smaller than that of the undamped one. Links that yield or fail grow softer, so that
the step stays stable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, eigsh

from supple.bodies.protocols import LocalState
from supple.bodies.voxel.elastic import LatticeForce, links_of
from supple.bodies.voxel.links.transverse import stiffening
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep import lattice_kernels as kernels
from supple.bodies.voxel.touching.collision import Collision, contact_rates
from supple.bodies.voxel.touching.obstacles import contact_constants
from supple.errors import ConvergenceError

Array = np.ndarray
Product = Callable[[Array], Array]
TOLERANCE = 1e-3


def stable_step(
    model: VoxelModel,
    *,
    held: ArrayLike = (),
    x: Array | None = None,
    rest: Array | None = None,
    contact: int = 0,
    collision: Collision | None = None,
    safety: float = 0.9,
    start: float | None = None,
    max_iterations: int = 20,
) -> float:
    """The largest stable step [s] times a safety factor; infinite where nothing is stiff or damped.

    held: voxels that do not move. x: frames (n, 7) to linearise at, at rest by default; compressed and stretched
    lattices have other frequencies, so ask again where deformation is large. rest: rest lengths of the links there
    (m,) [m], where voxels have changed their sizes. contact: with every voxel on so many planes of one
    normal. collision: with every voxel in the midst of others. start: a step [s] to begin with, such as that of another
    state, with the same safety.
    """
    n = model.voxel_count
    free = np.ones((n, 1))
    free[np.asarray(held, dtype=np.int64)] = 0.0
    scale = free / np.sqrt(np.repeat(np.stack([model.mass, model.inertia], axis=1), 3, axis=1))
    weighted = _weighted_sums(model, x, rest, contact, collision)
    bound = 4.0

    def quotient(y: Array, stiffness: float, damping: float) -> float:
        d = scale * y.reshape(n, 6)
        return float(np.sum(d * weighted(stiffness, damping)(d)))

    y = np.random.default_rng(0).normal(size=6 * n)
    largest = max(quotient(y, 1.0, 0.0), quotient(y, 0.0, 1.0) ** 2) / float(y @ y)
    if largest == 0.0:
        return np.inf
    h = 1.0 / np.sqrt(largest) if start is None else start / safety
    for _ in range(max_iterations):
        product = weighted(h * h, 2 * h)

        def apply(y: Array, product: Product = product) -> Array:
            return (scale * product(scale * y.reshape(n, 6))).ravel()

        operator = LinearOperator((6 * n, 6 * n), matvec=apply, dtype=float)
        y = eigsh(operator, k=1, which="LA", v0=y, tol=TOLERANCE)[1][:, 0]
        k, c = quotient(y, 1.0, 0.0), quotient(y, 0.0, 1.0)
        before, h = h, bound / (c + np.sqrt(c * c + bound * k))
        if abs(h - before) < TOLERANCE * h:
            return safety * h
    raise ConvergenceError("the stable step was not found", where="voxel body", value=h)


def _weighted_sums(
    model: VoxelModel, x: Array | None, rest: Array | None, contact: int, collision: Collision | None
) -> Callable[[float, float], Product]:
    """(a, b) -> (d -> (a K + b C) d), at frames x or at rest."""
    n = model.voxel_count
    force = LatticeForce(links_of(model), n, float(model.size.max()))
    if model.transverse.any():
        stiffness = force.links.stiffness.copy()
        stiffness[:, 0] *= stiffening(model)
        force = replace(force, links=force.links._replace(stiffness=stiffness))
    if rest is not None:
        force = replace(force, links=force.links._replace(rest=rest))
    ground, floor = np.repeat(model.ground_damping, 3, axis=1), np.zeros((n, 6))
    if contact:
        on_plane = contact * contact_constants(model) * model.mass[:, None]
        floor[:, :3] = on_plane[:, :1]
        ground[:, :3] += on_plane[:, 1:2]
    if collision is not None:
        among = contact_rates(model, collision)
        for part, inertia in ((slice(0, 3), model.mass), (slice(3, 6), model.inertia)):
            rates = among[:, :2] if part.start == 0 else among[:, 2:]
            floor[:, part] += rates[:, :1] * inertia[:, None]
            ground[:, part] += rates[:, 1:] * inertia[:, None]
    if x is not None:
        frames = np.ascontiguousarray(x, dtype=float)
        tangent = force.linearize(LocalState(0.0, frames, np.zeros((n, 6))), definite=True)

    def weighted(a: float, b: float) -> Product:
        constants = a * force.links.stiffness + b * np.repeat(force.links.damping, 2, axis=1)
        links = force.links._replace(stiffness=constants)

        def product(d: Array) -> Array:
            f = (a * floor + b * ground) * d
            if x is None:
                kernels.add_rest_product(links, d, f)
            else:
                tangent.add_product(d, f, -a, -b)
            return f

        return product

    return weighted
