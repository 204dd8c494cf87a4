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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.block_sparse_kernels import compute_product
from supple.algebra.sparse.lanczos.largest import LANCZOS, largest_eigenvalue, largest_pair
from supple.bodies.protocols import LocalState
from supple.bodies.voxel.elastic import LatticeForce, links_of
from supple.bodies.voxel.links.transverse import stiffening
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.stability.stages import ONE_STAGE, STAGES, StableStep, Stages
from supple.bodies.voxel.stability.windows import LARGE, Lattice, make_windows
from supple.bodies.voxel.sweep import lattice_kernels as kernels
from supple.bodies.voxel.sweep.lattice_kernels import Links
from supple.bodies.voxel.touching.collision import Collision, contact_rates
from supple.bodies.voxel.touching.obstacles import contact_constants
from supple.errors import ConvergenceError

Array = np.ndarray
Product = Callable[[Array], Array]
TOLERANCE = 1e-3
MAX_ITERATIONS = 20
WORTH = 1.1  # times as many simulated seconds a second at least, for more stages
NOISE, ANEW = 0.1, 1e3  # over the motion from which an iteration begins: near it, and anew
SURE = 0.98  # of the step that windows allow: the whole may have places a little faster
ROUGH = 0.03  # tolerance of a first look
SHRUNK = 2.0  # times the axial stiffness of links that follow their rest lengths, of those shrunk to half
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
    known: StableStep | None = None,
    choices: Sequence[Stages] = STAGES,
) -> StableStep:
    """The largest stable step times a safety factor, in the stages of damping that make a simulated second cheapest;
    infinite where nothing is stiff or damped.

    held: voxels that do not move. x: frames (n, 7) to linearise at, at rest by default; compressed and stretched
    lattices have other frequencies, so ask again where deformation is large. rest: rest lengths of the links there
    (m,) [m], where voxels have changed their sizes. contact: with every voxel on so many planes of one
    normal. collision: with every voxel in the midst of others. start: a step [s] to begin with, such as that of another
    state, with the same safety; known: what was found there, which stays where it is still stable. Of large lattices
    windows are looked at: see `windows`.
    """
    whole = _lattice_of(model, held, rest, contact, collision)
    guess = None if start is None else start / safety
    with one_blas_thread():  # vectors are short
        if known is not None and model.voxel_count <= LARGE:
            before = known._replace(step=known.step / safety, single=known.single / safety)
            if _Motions.of(whole, model, x).bear(before):
                return known
        found = _found(model, whole, x, guess, choices)
    return found._replace(step=safety * found.step, single=safety * found.single)


def _found(
    model: VoxelModel, whole: Lattice, x: Array | None, guess: float | None, choices: Sequence[Stages]
) -> StableStep:
    """The largest stable step of a lattice, small or by windows."""
    if model.voxel_count <= LARGE:
        return _search(_Motions.of(whole, model, x), guess, choices)
    windows = make_windows(whole, None if x is None else _strained(whole.links, x))
    found = _search(_Motions.of(windows.lattice, model, None), guess, choices)
    part = singly = SURE
    if x is not None:  # windows that are bent do not close: compared are open ones, bent and at rest
        rest, bent = (_Motions.of(windows.open, model, frames) for frames in (None, x[windows.voxels]))
        at_rest, now = (_search(motions, found.single, (found.stages,)) for motions in (rest, bent))
        part, singly = part * now.step / at_rest.step, singly * now.single / at_rest.single
    return found._replace(step=part * found.step, single=singly * found.single)


def stable_step(model: VoxelModel, **options: Any) -> float:
    """The step [s] that `find_step` finds."""
    return find_step(model, **options).step


def _search(motions: _Motions, start: float | None, choices: Sequence[Stages]) -> StableStep:
    """The largest stable step, from a first guess of that in one stage."""
    y = np.random.default_rng(0).normal(size=motions.size)
    largest = max(quotient(motions.stiffness, y), quotient(motions.damping, y) ** 2) / float(y @ y)
    if largest == 0.0:
        return StableStep(np.inf, ONE_STAGE, np.inf)
    h, y = motions.limit(ONE_STAGE, 1.0 / np.sqrt(largest) if start is None else start, y)
    best, single = (h, ONE_STAGE), h
    undamped = 2.0 / np.sqrt(max(quotient(motions.stiffness, y), TINY * largest))  # no stages allow more
    damped = quotient(motions.combined(0.0, 1.0, 0.0), y)
    for stages in reversed(choices) if damped > TINY * np.sqrt(largest) else ():
        pays, most = WORTH * stages.cost * best[0] / best[1].cost, min(undamped, stages.reach / damped)
        if stages is ONE_STAGE or most <= pays:
            continue
        h, _ = motions.limit(stages, undamped, y)
        if h > pays:
            best = (h, stages)
    return StableStep(best[0], best[1], single)


def quotient(apply: Product, y: Array) -> float:
    """y A y."""
    return float(y @ apply(y))


def largest_eigenvector(apply: Product, start: Array, tolerance: float) -> Array:
    """Of a symmetric operator, of length 1, by Lanczos iteration, to a residual of so much of the eigenvalue."""
    vectors = [start / np.linalg.norm(start)]
    diagonal: list[float] = []
    beside: list[float] = []
    for k in range(min(LANCZOS, len(start))):
        w = apply(vectors[-1])
        diagonal.append(float(w @ vectors[-1]))
        w -= diagonal[-1] * vectors[-1]
        if k:
            w -= beside[-1] * vectors[-2]
        norm = float(np.linalg.norm(w))
        if k % 4 == 3 or norm <= TINY * abs(diagonal[-1]):
            value, parts = largest_pair(diagonal, beside)
            if norm * abs(parts[-1]) <= tolerance * abs(value):
                break
        beside.append(norm)
        vectors.append(w / norm)
    else:
        raise ConvergenceError("the fastest motion was not found", where="voxel body", value=LANCZOS)
    y = parts @ np.array(vectors)
    return np.asarray(y / np.linalg.norm(y))


@dataclass(frozen=True)
class _Motions:
    """Products of vectors (size,), scaled by the roots of the masses, with M^-1 K, M^-1 C of the links and C_o of all
    else; combined: (a, b, c) -> a K + b C + c C_o in one; matrix: the same as a matrix, where there is one."""

    size: int
    combined: Callable[[float, float, float], Product]
    matrix: Callable[[float, float, float], BlockSparse] | None = None

    @classmethod
    def of(cls, lattice: Lattice, model: VoxelModel, x: Array | None) -> _Motions:
        """At frames x (n, 7), or at rest."""
        n, scale = len(lattice.cells), np.repeat(np.sqrt(lattice.inverse), 3, axis=1)
        floor, ground = (scale**2 * np.repeat(part, 3, axis=1) for part in (lattice.stiffness, lattice.damping))
        links = lattice.links
        if x is not None:
            matrix = _bent(lattice, float(model.size.max()), x, floor, ground)
            return cls(6 * n, lambda a, b, c: _product_of(matrix(a, b, c)), matrix)

        def combined(a: float, b: float, c: float) -> Product:
            weighted = links._replace(stiffness=a * links.stiffness + b * np.repeat(links.damping, 2, axis=1))
            beside = a * floor + c * ground

            def product(y: Array) -> Array:
                d = y.reshape(n, 6)
                f = np.zeros((n, 6))
                kernels.add_rest_product(weighted, scale * d, f)
                f *= scale
                f += beside * d
                return f.ravel()

            return product

        return cls(6 * n, combined)

    @property
    def stiffness(self) -> Product:
        """M^-1 K."""
        return self.combined(1.0, 0.0, 0.0)

    @property
    def damping(self) -> Product:
        """M^-1 (C + C_o)."""
        return self.combined(0.0, 1.0, 1.0)

    def bear(self, known: StableStep) -> bool:
        """Whether the steps of one stage and of several are still stable."""
        start, links = np.random.default_rng(1).normal(size=self.size), self.combined(0.0, 1.0, 0.0)
        for stages, h in {(ONE_STAGE, known.single), (known.stages, known.step)}:
            if np.isfinite(stages.reach) and h * self._largest(links, start) > (1 + TOLERANCE) * stages.reach:
                return False
            if self._largest_staged(stages, h, start) > 4.0 * (1 + TOLERANCE):
                return False
        return True

    def _largest_staged(self, stages: Stages, h: float, start: Array) -> float:
        """The largest eigenvalue of `_staged`, in compiled steps where there are matrices."""
        if self.matrix is None:
            return self._largest(self._staged(stages, h), start)
        if stages is ONE_STAGE:
            others = links = self.matrix(h * h, 2 * h, 2 * h)
        else:
            others, links = self.matrix(h * h, 0.0, 2 * h), self.matrix(0.0, h, 0.0)
        shares = np.array(() if stages is ONE_STAGE else stages.shares)
        return largest_eigenvalue(others, links, shares, start, TOLERANCE)

    def _largest(self, apply: Product, start: Array) -> float:
        """An eigenvalue."""
        return quotient(apply, largest_eigenvector(apply, start, TOLERANCE))

    def limit(self, stages: Stages, h: float, y: Array) -> tuple[float, Array]:
        """The largest stable step [s] in these stages, and the motion that limits it, from a first guess of both; in
        several stages from a step that is no smaller."""
        if np.isfinite(stages.reach):
            links = self.combined(0.0, 1.0, 0.0)
            start = np.random.default_rng(2).normal(size=self.size)
            h = min(h, stages.reach / self._largest(links, start))
        noise = np.random.default_rng(1).normal(size=self.size) / np.sqrt(self.size)
        near, tolerance = NOISE, ROUGH
        for _ in range(MAX_ITERATIONS):
            found = largest_eigenvector(self._staged(stages, h), y / np.linalg.norm(y) + near * noise, tolerance)
            reached = self._crossing(stages, h, found)
            if near == ANEW and reached > (1.0 - TOLERANCE) * h:
                return min(h, reached), y
            # an iteration that begins near a motion may stay there: once more from all of them
            near = ANEW if abs(h - reached) < TOLERANCE * h else NOISE
            h, y, tolerance = reached, found, TOLERANCE
        raise ConvergenceError("the stable step was not found", where="voxel body", value=h)

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


def _bent(lattice: Lattice, unit: float, x: Array, floor: Array, ground: Array) -> Callable[..., BlockSparse]:
    """`matrix` of `_Motions` at frames x (n, 7); floor, ground (n, 6): the diagonals of K and C_o. unit: the voxel size
    [m]."""
    n, frames = len(lattice.cells), np.ascontiguousarray(x, dtype=float)
    tangent = LatticeForce(lattice.links, n, unit).linearize(LocalState(0.0, frames, np.zeros((n, 6))), definite=True)
    K, C, root = tangent.stiffness, tangent.damping, np.sqrt(lattice.inverse).ravel()
    scale = -(np.repeat(root, np.diff(K.indptr)) * root[K.indices])[:, None, None]

    def matrix(a: float, b: float, c: float) -> BlockSparse:
        found = K.with_data(scale * (a * K.data + b * C.data))
        found.add_diagonal((a * floor + c * ground).reshape(-1, 3))
        return found

    return matrix


def _product_of(matrix: BlockSparse) -> Product:
    def product(y: Array) -> Array:
        out = np.empty(len(y))
        compute_product(matrix.kernel_arrays, y, matrix.is_parallel, out)
        return out

    return product


def _lattice_of(
    model: VoxelModel, held: ArrayLike, rest: Array | None, contact: int, collision: Collision | None
) -> Lattice:
    """What of a model the stable step depends on; see `find_step`."""
    links = links_of(model)
    if model.transverse.any():
        stiffness = links.stiffness.copy()
        stiffness[:, 0] *= stiffening(model)
        links = links._replace(stiffness=stiffness)
    if model.by_rest.any():
        stiffness = links.stiffness.copy()
        stiffness[model.by_rest[links.voxels[:, 0]], 0] *= SHRUNK
        links = links._replace(stiffness=stiffness)
    if rest is not None:
        links = links._replace(rest=rest)
    masses = np.stack([model.mass, model.inertia], axis=1)
    ground, floor = model.ground_damping.copy(), np.zeros_like(masses)
    if contact:
        on_plane = contact * contact_constants(model) * model.mass[:, None]
        floor[:, 0] = on_plane[:, 0]
        ground[:, 0] += on_plane[:, 1]
    if collision is not None:
        among = contact_rates(model, collision)
        floor += among[:, ::2] * masses
        ground += among[:, 1::2] * masses
    inverse = 1.0 / masses
    inverse[np.asarray(held, dtype=np.int64)] = 0.0
    return Lattice(links, inverse, floor, ground, model.cells)


def _strained(links: Links, x: Array) -> Array:
    """The largest strain of a voxel's links, (n,)."""
    out, largest = np.empty(len(links.axis)), np.zeros(len(x))
    kernels.compute_elongations(links, np.ascontiguousarray(x, dtype=float), out)
    for end in links.voxels.T:
        np.maximum.at(largest, end, np.abs(out / links.rest))
    return largest
