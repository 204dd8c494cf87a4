"""The linear system of bodies held by joints, by conjugate gradients among the motions that joints allow [GHN01].

    A d - P^T l = b,   G d = g           V (k, n): orthonormal, spans the rows of P;  C = I - V^T V
    Y = M^-1 V^T,   T = V Y,             z = M^-1 r - Y T^-1 V M^-1 r        M: a preconditioner of A without joints

d begins with Y (G Y)^-1 g, which closes the rows; C A C y = C (b - A d) then moves nothing that P holds. Where G
differs from P, as in joints that must hold where a step ends, y opens the rows by as little as they differ, and both
are repeated. So rows are closed to round-off whatever the tolerance, and forces balance to the tolerance. Redundant
rows are those of `joint_solve`; where contacts make A unsymmetric, iterations are stabilised biconjugate ones [Vor92].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import LinearOperator, bicgstab

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.conjugate_gradients import solve_cg
from supple.algebra.sparse.preconditioners import Preconditioner
from supple.solvers.linear.joint_solve import JointSystem, Matrix, RedundantRows

Array = np.ndarray
ROUNDS = 20
"""How often rows are closed and forces balanced."""
ROOM = 0.3
"""Part of the tolerance that iterations leave to what closes the rows after them."""
MAX_UNSYMMETRIC = 400
"""Iterations, of two products each, after which a direct solution is cheaper."""


@dataclass(frozen=True, eq=False)
class Operator:
    """product(d): A d, filtered; M: a preconditioner of it, None: there is none; project(v): the filter, in place."""

    product: Callable[[Array], Array]
    M: Preconditioner | None
    project: Callable[[Array], None]
    is_symmetric: bool = True


@dataclass
class JointIterated:
    """d and multipliers l (m,), iterations, true residual over the size of the right side, and whether that is within
    the tolerance; unmet (m,): see `JointSolution`; lost (n,): what is left open; size: of the right side."""

    d: Array
    multipliers: Array
    iterations: int
    residual: float
    ok: bool
    unmet: Array
    lost: Array
    size: float


class JointIterations:
    """Solves with one operator and the rows P of joints that hold, for any number of right sides and rows G."""

    def __init__(self, A: Operator, joints: JointSystem, pull: Matrix, G: Matrix) -> None:
        """pull, G: those of the joints, filtered. Raises numpy.linalg.LinAlgError where P is not of the rank of G."""
        self.A, self.pull, self.rests = A, joints.pull, ~np.isnan(joints.held)
        self._P = sparse.csr_array(pull)
        rows = self._rows = RedundantRows.of(joints.G, G, self.rests, joints.open)
        self._holds = np.flatnonzero(~self.rests)
        self._unit = sparse.diags_array(1.0 / rows.length[self._holds])
        P = sparse.csr_array(self._unit @ self._P[self._holds])
        self._cols = np.unique(P.indices)
        with one_blas_thread():
            U, s, V = np.linalg.svd(P[:, self._cols].toarray(), full_matrices=False)
            k = len(self._holds) - rows.N.shape[1]
            if k > len(s) or (k and not s[k - 1] > 0.0):
                raise np.linalg.LinAlgError("the rows of the joints are redundant")
            self._U, self._s, self._V = U[:, :k], s[:k], np.ascontiguousarray(V[:k])
            self._Y = self._responses(pull.shape[1])
            self._T = np.linalg.inv(self._V @ self._Y[self._cols])

    def fits(self, joints: JointSystem) -> bool:
        """Whether joints pull by the same rows, and rest in the same of them."""
        return self.pull is joints.pull and np.array_equal(self.rests, ~np.isnan(joints.held))

    def _responses(self, n: int) -> Array:
        """Y, (n, k)."""
        Y, column = np.empty((len(self._V), n)), np.zeros(n)
        for row, out in zip(self._V, Y):
            column[self._cols] = row
            self._precondition(column, out)
        return np.ascontiguousarray(Y.T)

    def _precondition(self, r: Array, z_out: Array) -> None:
        if self.A.M is None:
            z_out[:] = r
        else:
            self.A.M.apply(r, z_out)

    def apply(self, r: Array, z_out: Array) -> None:
        """z_out = (M^-1 - Y T^-1 Y^T) r: the constraint preconditioner."""
        self._precondition(r, z_out)
        z_out -= self._Y @ (self._T @ (self._V @ z_out[self._cols]))

    def project(self, v: Array) -> None:
        """v <- C v, filtered, in place."""
        self.A.project(v)
        v[self._cols] -= (self._V @ v[self._cols]) @ self._V

    def solve(
        self,
        b: Array,
        joints: JointSystem,
        G: Matrix,
        *,
        tolerance: float,
        size: float = 0.0,
        start: Array | None = None,
        max_iterations: int | None = None,
    ) -> JointIterated | None:
        """For b (n,), filtered, and the rows G of joints, filtered, that rest as those of this object do. tolerance: of
        the residual over `size`, by default that of b; max_iterations: exactly so many where the tolerance is zero.
        None where iterations fail and their number is not given."""
        rows = RedundantRows.of(joints.G, G, self.rests, joints.open)
        unmet = rows.unmet(np.where(self.rests, 0.0, joints.g))
        if rows.N.shape[1] != len(self._holds) - len(self._s):
            return None
        held = sparse.csr_array(self._unit @ sparse.csr_array(G)[self._holds])
        g = self._U.T @ (self._unit @ (joints.g - unmet)[self._holds])
        with one_blas_thread():
            b = b + self._P.T @ np.where(self.rests, joints.held, 0.0)
            closing = self._Y @ np.linalg.inv(self._U.T @ (held @ self._Y))
            d, iterations, ok = np.zeros_like(b) if start is None else start.copy(), 0, True
            for _ in range(ROUNDS):
                d += closing @ (g - self._U.T @ (held @ d))
                rest = b - self.A.product(d)
                lost = rest.copy()
                self.project(lost)
                left = float(np.linalg.norm(lost))
                size = size or max(float(np.linalg.norm(b)), left)
                if not ok or left <= tolerance * size or (tolerance == 0.0 and iterations):
                    break
                y, count, ok = self._balanced(lost, ROOM * tolerance * size / left, max_iterations)
                if not ok and max_iterations is None:
                    return None
                d, iterations = d + y, iterations + count
        ok = left <= tolerance * size
        if not ok and max_iterations is None:
            return None
        multipliers = self._multipliers(lost - rest, joints)
        return JointIterated(d, multipliers, iterations, left / size if size else 0.0, ok, unmet, lost, size)

    def _balanced(self, r: Array, tolerance: float, limit: int | None) -> tuple[Array, int, bool]:
        """y of C A C y = r, the iterations, and whether that is solved to a relative residual."""
        if self.A.is_symmetric:
            product, project = self.A.product, self.project
            found = solve_cg(product, r, preconditioner=self, tolerance=tolerance, max_iterations=limit, fixed=project)
            return found.x, found.iterations, found.is_converged
        done, n = [0], len(r)

        def projected(x: Array) -> Array:
            out = self.A.product(np.ascontiguousarray(x).ravel())
            self.project(out)
            return out

        def preconditioned(r: Array) -> Array:
            z = np.empty(n)
            self.apply(np.ascontiguousarray(r).ravel(), z)
            return z

        def count(_: Array) -> None:
            done[0] += 1

        A, M = (LinearOperator((n, n), matvec=by, dtype=float) for by in (projected, preconditioned))
        y, _ = bicgstab(A, r, rtol=0.9 * tolerance, maxiter=limit or MAX_UNSYMMETRIC, M=M, callback=count)
        return y, done[0], float(np.linalg.norm(r - projected(y))) <= tolerance * float(np.linalg.norm(r))

    def _multipliers(self, pushed: Array, joints: JointSystem) -> Array:
        """l (m,) of P^T l = pushed; of all that give the same forces the smallest, with those that are known."""
        out, (N, length) = np.where(self.rests, joints.held, 0.0), (self._rows.N, self._rows.length)
        out[self._holds] = (self._U @ ((self._V @ pushed[self._cols]) / self._s)) / length[self._holds]
        return out - (N @ (N.T @ (length * (joints.known + out)))) / length
