"""The largest stable step of the explicit sweep on a lattice with its damping.

Symplectic Euler on M a = -K x - C v is stable exactly while h² K + 2 h C < 4 M: with x_n = lambda^n y and the
quotients k = y*Ky / y*My, c = y*Cy / y*My the step gives

    lambda² + (h² k + h c - 2) lambda + 1 - h c = 0,    |lambda| <= 1  if and only if  h² k + 2 h c <= 4

and at the border lambda = -1 is an eigenvalue. With the damping of links in stages, see `stages`, 2 h C of the links
becomes 2 M (I - P(h M^-1 C)). So h is the root of largest_eigenvalue(M^-1 (h² K + 2 h C_o + ...)) = 4, found by Lanczos
iteration: each eigenvector y gives the next h, the first root of an equation with its quotients. In one stage, critical
bond damping makes the step of a solid block five times smaller than that of the undamped one, in three by a tenth.
Links that yield or fail grow softer, so that the step stays stable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, eigsh

from supple.bodies.protocols import LocalState
from supple.bodies.voxel.elastic import LatticeForce, links_of
from supple.bodies.voxel.links.transverse import stiffening
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep import lattice_kernels as kernels
from supple.bodies.voxel.sweep.stages import ONE_STAGE, STAGES, StableStep, Stages
from supple.bodies.voxel.touching.collision import Collision, contact_rates
from supple.bodies.voxel.touching.obstacles import contact_constants
from supple.errors import ConvergenceError

Array = np.ndarray
Product = Callable[[Array], Array]
TOLERANCE = 1e-3
MAX_ITERATIONS = 20
WORTH = 1.1  # times as many simulated seconds a second at least, for more stages
NOISE = 0.3  # over the motion from which an iteration begins
TINY = 1e-12  # of a frequency squared, as good as none


def find_step(
    model: VoxelModel,
    *,
    held: ArrayLike = (),
    x: Array | None = None,
    rest: Array | None = None,
    contact: int = 0,
    collision: Collision | None = None,
    safety: float = 0.9,
    start: float | None = None,
    choices: Sequence[Stages] = STAGES,
) -> StableStep:
    """The largest stable step times a safety factor, in the stages of damping that make a simulated second cheapest;
    infinite where nothing is stiff or damped.

    held: voxels that do not move. x: frames (n, 7) to linearise at, at rest by default; compressed and stretched
    lattices have other frequencies, so ask again where deformation is large. rest: rest lengths of the links there
    (m,) [m], where voxels have changed their sizes. contact: with every voxel on so many planes of one
    normal. collision: with every voxel in the midst of others. start: a step [s] to begin with, such as that of another
    state, with the same safety.
    """
    lattice = _Lattice.of(model, held, x, rest, contact, collision)
    y = np.random.default_rng(0).normal(size=lattice.size)
    largest = max(quotient(lattice.stiffness, y), quotient(lattice.damping, y) ** 2) / float(y @ y)
    if largest == 0.0:
        return StableStep(np.inf, ONE_STAGE, np.inf)
    h, y = lattice.limit(ONE_STAGE, 1.0 / np.sqrt(largest) if start is None else start / safety, y)
    best, single = (h, ONE_STAGE), h
    undamped = 2.0 / np.sqrt(max(quotient(lattice.stiffness, y), TINY * largest))  # no stages allow more
    damped = quotient(lattice.combined(0.0, 1.0, 0.0), y)
    for stages in reversed(choices) if damped > TINY * np.sqrt(largest) else ():
        pays, most = WORTH * stages.cost * best[0] / best[1].cost, min(undamped, stages.reach / damped)
        if stages is ONE_STAGE or most <= pays:
            continue
        h, _ = lattice.limit(stages, undamped, y)
        if h > pays:
            best = (h, stages)
    return StableStep(safety * best[0], best[1], safety * single)


def stable_step(model: VoxelModel, **options: Any) -> float:
    """The step [s] that `find_step` finds."""
    return find_step(model, **options).step


def quotient(apply: Product, y: Array) -> float:
    """y A y."""
    return float(y @ apply(y))


@dataclass(frozen=True)
class _Lattice:
    """Products of vectors (size,), scaled by the roots of the masses, with M^-1 K, M^-1 C of the links and C_o of all
    else; combined: (a, b, c) -> a K + b C + c C_o in one."""

    size: int
    combined: Callable[[float, float, float], Product]

    @classmethod
    def of(
        cls,
        model: VoxelModel,
        held: ArrayLike,
        x: Array | None,
        rest: Array | None,
        contact: int,
        collision: Collision | None,
    ) -> _Lattice:
        """At frames x or at rest; see `find_step`."""
        n = model.voxel_count
        free = np.ones((n, 1))
        free[np.asarray(held, dtype=np.int64)] = 0.0
        scale = free / np.sqrt(np.repeat(np.stack([model.mass, model.inertia], axis=1), 3, axis=1))
        weighted = _weighted_sums(model, x, rest, contact, collision)

        def combined(a: float, b: float, c: float) -> Product:
            product = weighted(a, b, c)
            return lambda y: (scale * product(scale * y.reshape(n, 6))).ravel()

        return cls(6 * n, combined)

    @property
    def stiffness(self) -> Product:
        """M^-1 K."""
        return self.combined(1.0, 0.0, 0.0)

    @property
    def damping(self) -> Product:
        """M^-1 (C + C_o)."""
        return self.combined(0.0, 1.0, 1.0)

    def limit(self, stages: Stages, h: float, y: Array) -> tuple[float, Array]:
        """The largest stable step [s] in these stages, and the motion that limits it, from a first guess of both; in
        several stages from a step that is no smaller."""
        if np.isfinite(stages.reach):
            fastest = self._extreme(self.combined(0.0, 1.0, 0.0), y)
            h = min(h, stages.reach / quotient(self.combined(0.0, 1.0, 0.0), fastest))
        for _ in range(MAX_ITERATIONS):
            y = self._extreme(self._staged(stages, h), y)
            before, h = h, self._crossing(stages, h, y)
            if abs(h - before) < TOLERANCE * h:
                return h, y
        raise ConvergenceError("the stable step was not found", where="voxel body", value=h)

    def _extreme(self, apply: Product, y: Array) -> Array:
        """The unit eigenvector of the largest eigenvalue; begins near y, beside motions of every symmetry."""
        operator = LinearOperator((self.size, self.size), matvec=apply, dtype=float)
        noise = np.random.default_rng(1).normal(size=self.size)
        start = y / np.linalg.norm(y) + NOISE * noise / np.linalg.norm(noise)
        return np.asarray(eigsh(operator, k=1, which="LA", v0=start, tol=TOLERANCE)[1][:, 0])

    def _staged(self, stages: Stages, h: float) -> Product:
        """h² K + 2 h C_o + 2 (I - P(h C))."""
        if stages is ONE_STAGE:
            return self.combined(h * h, 2 * h, 2 * h)
        others, links = self.combined(h * h, 0.0, 2 * h), self.combined(0.0, h, 0.0)

        def apply(y: Array) -> Array:
            left = y.copy()
            for share in stages.shares:
                left -= share * links(left)
            return others(y) + 2.0 * (y - left)

        return apply

    def _crossing(self, stages: Stages, h: float, y: Array) -> float:
        """The first step at which the quotient of `_staged` with y is 4; in several stages h where it is less there."""
        coefficients = np.zeros(len(stages.shares) + 2)  # of powers of the step over h
        coefficients[0] = -4.0
        coefficients[1] = 2.0 * h * quotient(self.combined(0.0, 0.0, 1.0), y)
        coefficients[2] = h * h * quotient(self.stiffness, y)
        links, power = self.combined(0.0, h, 0.0), y
        for k, p in enumerate(stages.polynomial.coef[1:], start=1):
            power = links(power)
            coefficients[k] -= 2.0 * p * float(y @ power)
        if stages is not ONE_STAGE and coefficients.sum() <= 0.0:
            return h
        coefficients[np.abs(coefficients) < TINY * np.abs(coefficients).max()] = 0.0  # their roots are far away
        roots = np.polynomial.polynomial.polyroots(np.trim_zeros(coefficients, "b"))
        return h * float(roots[(abs(roots.imag) < 1e-6 * abs(roots)) & (roots.real > 0.0)].real.min())


def _weighted_sums(
    model: VoxelModel, x: Array | None, rest: Array | None, contact: int, collision: Collision | None
) -> Callable[[float, float, float], Product]:
    """(a, b, c) -> (d -> (a K + b C + c C_o) d), at frames x or at rest; C_o: of all that is not a link."""
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

    def weighted(a: float, b: float, c: float) -> Product:
        constants = a * force.links.stiffness + b * np.repeat(force.links.damping, 2, axis=1)
        links = force.links._replace(stiffness=constants)

        def product(d: Array) -> Array:
            f = (a * floor + c * ground) * d
            if x is None:
                kernels.add_rest_product(links, d, f)
            else:
                tangent.add_product(d, f, -a, -b)
            return f

        return product

    return weighted
