"""The conjugate-gradient loop for any symmetric operator, preconditioner and projector, in plain Python.

The same algorithm as `conjugate_gradients_kernels`, step for step: solve C A C x = C b with the true residual
computed anew whenever the recurrence says done.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.algebra.sparse.cg_report import CgOutcome, CgReport, CgRequest
from supple.algebra.sparse.conjugate_gradients_kernels import RESTART_GAIN, VANISHED, dot
from supple.algebra.sparse.vector_kernels import advance, turn
from supple.errors import InputError

Vector = NDArray[np.float64]
Product = Callable[[Vector, Vector], None]


def as_product(A: Any) -> Product:
    """The operator as a function (x, y_out): from `product`, from `@`, or from a function x -> A x."""
    if hasattr(A, "product"):
        return A.product
    if not (hasattr(A, "__matmul__") or callable(A)):
        raise InputError(
            "this is not a linear operator",
            where="solve_cg",
            value=type(A).__name__,
            allowed="BlockSparse, an object with product(x, y_out) or @, a function x -> A x",
        )
    multiply = A.__matmul__ if hasattr(A, "__matmul__") else A

    def product(x: Vector, y_out: Vector) -> None:
        y_out[:] = multiply(x)

    return product


class GeneralSolve:
    """One solve: the operator, its scratch vectors and the iteration count."""

    def __init__(self, product: Product, request: CgRequest, M: Any, project: Callable | None) -> None:
        self.product, self.request, self.M, self.project = product, request, M, project
        self.x = request.x
        self.r, self.z, self.p, self.q = (np.zeros_like(request.b) for _ in range(4))
        self.history = request.make_history()
        self.iterations = 0
        self.bb = 0.0

    def run(self) -> CgReport:
        """Start, descend, check the true residual, and restart from it while that helps."""
        request = self.request
        self._start()
        if self.bb == 0.0:
            return self._report(CgOutcome.CONVERGED, 0.0)
        if not math.isfinite(self.bb):
            return self._report(CgOutcome.NOT_FINITE, math.nan)
        target = request.tolerance**2 * self.bb
        previous_rr = math.inf
        while True:
            outcome = self._descend(max(target, VANISHED * self.bb))
            rr = self._compute_residual()
            residual = math.sqrt(rr / self.bb)
            if rr <= target:
                return self._report(CgOutcome.CONVERGED, residual)
            if outcome is not CgOutcome.CONVERGED:
                return self._report(outcome, residual)
            if not math.isfinite(rr):
                return self._report(CgOutcome.NOT_FINITE, residual)
            if request.tolerance == 0.0:
                return self._report(CgOutcome.ITERATIONS_DONE, residual)
            if self.iterations >= request.limit:
                return self._report(CgOutcome.ITERATION_LIMIT, residual)
            if not rr < RESTART_GAIN * previous_rr:
                return self._report(CgOutcome.STAGNATED, residual)
            previous_rr = rr

    def _start(self) -> None:
        self.r[:] = self.request.b
        self._project(self.r)
        self.bb = dot(self.r, self.r)
        if self.bb == 0.0 or not self.request.is_warm:
            self.x.fill(0.0)
        else:
            self._project(self.x)
            self._compute_residual()

    def _descend(self, target: float) -> CgOutcome:
        rz, rr = self._precondition()
        beta = 0.0
        self._record(rr)
        while rr > target and self.iterations < self.request.limit:
            if not rz > 0.0:
                return CgOutcome.PRECONDITIONER_BREAKDOWN if math.isfinite(rz) else CgOutcome.NOT_FINITE
            turn(beta, self.z, self.p)
            self.product(self.p, self.q)
            pq = dot(self.p, self.q)
            if not math.isfinite(pq):
                return CgOutcome.NOT_FINITE
            if pq <= 0.0:
                return CgOutcome.NEGATIVE_CURVATURE
            alpha, previous_rz = rz / pq, rz
            advance(alpha, self.p, self.q, self.x, self.r)
            self._project(self.r)
            rz, rr = self._precondition()
            beta = rz / previous_rz
            self.iterations += 1
            self._record(rr)
        return CgOutcome.CONVERGED if math.isfinite(rr) else CgOutcome.NOT_FINITE

    def _precondition(self) -> tuple[float, float]:
        """z = C M^-1 r; returns r . z and r . r."""
        rr = dot(self.r, self.r)
        if self.M is None:
            self.z[:] = self.r
            return rr, rr
        self.M.apply(self.r, self.z)
        self._project(self.z)
        return dot(self.r, self.z), rr

    def _compute_residual(self) -> float:
        """r = C (b - A x); returns r . r."""
        self.product(self.x, self.q)
        np.subtract(self.request.b, self.q, out=self.r)
        self._project(self.r)
        return dot(self.r, self.r)

    def _project(self, vector: Vector) -> None:
        if self.project is not None:
            self.project(vector)

    def _record(self, rr: float) -> None:
        if self.history.size > self.iterations:
            self.history[self.iterations] = rr / self.bb

    def _report(self, outcome: CgOutcome, residual: float) -> CgReport:
        return self.request.make_report(outcome, self.iterations, residual, self.history)


def solve_general(product: Product, request: CgRequest, M: Any, project: Callable | None) -> CgReport:
    """Solve C A C x = C b for an operator given as product(x, y_out); M: None or with apply(r, z_out).

    project: C, applied to a vector (n) in place, or None.
    """
    return GeneralSolve(product, request, M, project).run()
