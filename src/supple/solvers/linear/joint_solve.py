"""The linear system of bodies held by joints, some of which may say the same thing twice.

    [ A   P^T ] [ d ]   [ b ]        P, G (m, n): rows of the joints, equal for most methods
    [ G    0  ] [-l ] = [ g ]        a row that rests at its bound asks for its multiplier instead

Rows are redundant where N^T S G = 0; S scales rows to length one, N (m, k) is orthonormal. With Z = S^-1 N N^T S and,
for a compliance c, X = c S^-1 N N^T S^-1,

    [ A   P^T ] [ d ]   [ b            ]        l0: the multipliers that are there already
    [ G   -X  ] [-l ] = [ g - Z g - X l0 ]

is regular, and of all multipliers that give the same forces it takes the smallest, N^T S^-1 (l0 + l) = 0. Z g is what
no motion can meet: nothing where the joints agree, so where it stays, they contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sparse

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.cholesky.block_factor import BlockFactor, refined
from supple.algebra.sparse.direct import DirectSolver
from supple.errors import ConvergenceError

Array = np.ndarray
Matrix: TypeAlias = Any  # a dense array for small systems, a scipy matrix for large ones
REDUNDANT = 1e-5
"""Singular value of the unit rows below which they count as redundant, where the joints are closed."""
LARGEST_REDUNDANT = 3e-3
"""The same where they are not: rows that agree when closed differ by as much as the joints are open."""


@dataclass(frozen=True)
class JointSystem:
    """pull: P; G and g: the rows G d = g; held: the given value of a multiplier that rests at its bound, NaN where its
    row holds; known: the multipliers that are there already; open: largest violation of a row."""

    pull: Matrix
    G: Matrix
    g: Array
    held: Array
    known: Array
    open: float = 0.0


@dataclass(frozen=True)
class RedundantRows:
    """Z and X of the module's docstring by N (m, k) and the rows' lengths (m,)."""

    N: Array
    length: Array

    @classmethod
    def of(cls, G: Matrix, filtered: Matrix, rests: Array, open: float) -> RedundantRows:
        """Among the rows that do not rest. filtered: G C."""
        length = np.sqrt((G * G).sum(axis=1)) if isinstance(G, np.ndarray) else sparse.linalg.norm(G, axis=1)
        length = np.where(length > 0.0, length, 1.0)
        holds = np.flatnonzero(~rests)
        rows = filtered[holds] if len(holds) < len(rests) else filtered
        gram = rows @ rows.T
        gram = (gram if isinstance(gram, np.ndarray) else gram.toarray()) / np.outer(length[holds], length[holds])
        least = float(np.clip(open, REDUNDANT, LARGEST_REDUNDANT)) ** 2
        none = cls(np.zeros((len(rests), 0)), length)
        if not len(holds) or not np.isfinite(gram).all():
            return none
        with one_blas_thread():
            try:
                np.linalg.cholesky(gram - least * np.eye(len(holds)))
                return none
            except np.linalg.LinAlgError:
                values, vectors = np.linalg.eigh(gram)
        N = np.zeros((len(rests), int((values <= least).sum())))
        N[holds] = vectors[:, values <= least]
        return cls(N, length)

    def unmet(self, g: Array) -> Array:
        """Z g: the part of g that no motion can meet."""
        return (self.N @ (self.N.T @ (g / self.length))) * self.length

    def compliance(self, c: float) -> Array:
        """X."""
        scaled = self.N * self.length[:, None]
        return c * (scaled @ scaled.T)


@dataclass(frozen=True)
class JointSolution:
    """d, multipliers l (m,), the true relative residual, and Z g: what no motion can meet of each row (m,);
    again(b, g): d of the same matrix for another right side, g (m,) with the given multipliers of rows that rest."""

    d: Array
    multipliers: Array
    residual: float
    unmet: Array
    again: Callable[[Array, Array], Array]


def solve_with_joints(
    A: Matrix, b: Array, joints: JointSystem, pull: Matrix, G: Matrix, factor: BlockFactor | None = None
) -> JointSolution:
    """Solve for d and the multipliers. A: filtered; pull, G: those of the joints, filtered too; factor: of A."""
    n, rests = len(b), ~np.isnan(joints.held)
    rows = RedundantRows.of(joints.G, G, rests, joints.open)
    g = np.where(rests, -np.nan_to_num(joints.held), joints.g)
    unmet = rows.unmet(np.where(rests, 0.0, joints.g))
    g = g - unmet
    kkt = joint_matrix(A, pull, G, rests, rows)
    if rows.N.shape[1]:
        g -= rows.compliance(softness(A)) @ joints.known
    right = np.concatenate([b, g])
    solve: Directly | Bordered = Directly(kkt) if factor is None else Bordered(kkt, factor)
    x, residual = solve(right)

    def again(b: Array, g: Array) -> Array:
        g = np.where(rests, -g, g - rows.unmet(np.where(rests, 0.0, g)))
        return solve.once(np.concatenate([b, g]))[:n]

    return JointSolution(x[:n].copy(), -x[n:], residual, unmet, again)


def joint_matrix(A: Matrix, pull: Matrix, G: Matrix, rests: Array, rows: RedundantRows) -> Matrix:
    """[[A, P^T], [G, -X]]; rows that rest ask for their multiplier instead."""
    corner = np.diag(rests.astype(float))
    if rows.N.shape[1]:
        corner -= rows.compliance(softness(A))
    if isinstance(A, np.ndarray):
        return np.block([[A, np.asarray(pull).T], [np.asarray(G) * ~rests[:, None], corner]])
    held = sparse.diags_array((~rests).astype(float)) @ G
    return sparse.csc_array(sparse.block_array([[A, pull.T], [held, sparse.csr_array(corner)]]))


def softness(A: Matrix) -> float:
    """A compliance of the size of A's: how far a unit of force moves a body."""
    size = float(np.abs(A.diagonal()).mean())
    return 1.0 / size if size > 0.0 and np.isfinite(size) else 1.0


class Bordered:
    """The solution of [[A, P^T], [G, X]] by a factor of A: multipliers by the Schur complement X - G A^-1 P^T.

    Raises numpy.linalg.LinAlgError where that is singular.
    """

    def __init__(self, kkt: Any, factor: BlockFactor) -> None:
        self.kkt, self._factor, n = kkt.tocsr(), factor, factor.A.shape[0]
        border = self.kkt[:, n:].toarray()
        self._G = self.kkt[n:, :n]
        self._pulled = factor.once(np.ascontiguousarray(border[:n]))
        self._inverse = np.linalg.inv(border[n:] - self._G @ self._pulled)

    def once(self, right: Array) -> Array:
        """The solution but for what is not symmetric in A."""
        n = len(right) - len(self._inverse)
        d = self._factor.once(right[:n])
        l = self._inverse @ (right[n:] - self._G @ d)
        return np.concatenate([d - self._pulled @ l, l])

    def __call__(self, right: Array) -> tuple[Array, float]:
        """The solution and its true relative residual."""
        return refined(self.once, lambda x: self.kkt @ x, right)


class Directly:
    """The solution of one matrix, dense or of scipy, for several right sides."""

    def __init__(self, A: Matrix) -> None:
        self.A, self._sparse = A, None if isinstance(A, np.ndarray) else DirectSolver(A)

    def __call__(self, b: Array) -> tuple[Array, float]:
        """A^-1 b and its true relative residual."""
        if self._sparse is not None:
            report = self._sparse.solve(b)
            return report.x, float(report.residual)
        x = self.once(b)
        norm = float(np.linalg.norm(b))
        residual = float(np.linalg.norm(b - self.A @ x)) / norm if norm else 0.0
        if not residual < 1e-3:
            raise ConvergenceError(
                "the matrix is singular", where="direct solver", fix="A body may be held by nothing."
            )
        return x, residual

    def once(self, b: Array) -> Array:
        """A^-1 b, unchecked."""
        with one_blas_thread():
            if self._sparse is not None:
                return self._sparse.solve_once(b)
            try:
                return np.linalg.solve(self.A, b)
            except np.linalg.LinAlgError:
                return np.full_like(b, np.nan)


def solve_directly(A: Matrix, b: Array) -> tuple[Array, float]:
    """A^-1 b and its true relative residual."""
    return Directly(A)(b)
