"""`StepBlocks`: the matrix of a step in filtered 3x3 blocks, solved with what contacts add.

    (C A C + J^T S K J) d = C (b - A d_prescribed),   d += d_prescribed

Bodies that neither forces nor contacts connect do not know of each other: `within` is the same of some of them, with
vectors of their own length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.dense.outer_kernels import OuterTerm
from supple.algebra.sparse.bicgstab_kernels import multiply
from supple.algebra.sparse.block_rows import BlockRows
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.cholesky.block_factor import BlockFactor, BlockPattern
from supple.algebra.sparse.cholesky.conjugate_residuals import solve_by_residuals
from supple.algebra.sparse.conjugate_gradients import CgWorkspace, matrix_preconditioner, solve_cg
from supple.algebra.sparse.preconditioners import Preconditioner
from supple.contact.contact_set import ContactSet
from supple.scene.acting.system_filter import SystemFilter
from supple.scene.linearization import dense_blocks
from supple.solvers.coupling.contact_blocks import ContactBlocks, WideMatrix
from supple.solvers.coupling.touched_part import TouchedPart
from supple.solvers.linear.contact_iteration import (
    Found,
    Law,
    LinearLimits,
    NewtonLimits,
    Rows,
    Wide,
    iterate_contacts,
)
from supple.solvers.linear.joint_iterations import Operator
from supple.solvers.linear.joint_solve import Matrix, solve_directly
from supple.solvers.linear.solution import LinearOptions, LinearSolution
from supple.solvers.linear.unsymmetric import MAX_ITERATIONS, solve_unsymmetric
from supple.solvers.linear.yielding import DENSE, EXACT, solve_yielding

Array = np.ndarray
ROUGH = 0.1  # residual of a solution that is only looked at
MUCH = 10.0  # a tolerance looser by less is not worth a solution more
LEAST = 1e-14  # tolerance of iterations on an unsymmetric matrix
STIFF = 1e-2  # tolerance times how much stiffer contacts are than what they touch, up to which iterations resolve them
PATIENCE = 2000  # iterations after which a factor is quicker


class Iterated(NamedTuple):
    """What it came to: Newton iterations, those of all linear solutions, residual of the last one, and what the
    contacts leave open, relative."""

    found: Found
    iterations: int
    linear_iterations: int
    residual: float
    left: float


@dataclass(eq=False)
class BlocksMemory:
    """What is kept from step to step: patterns, with contacts and of a factor; vectors of conjugate gradients."""

    wide: WideMatrix | None = None
    workspace: CgWorkspace | None = None
    pattern: BlockPattern | None = None

    def pattern_of(self, A: BlockSparse) -> BlockPattern:
        """What the factor of a matrix looks like."""
        if self.pattern is None or not self.pattern.fits(A):
            self.pattern = BlockPattern(A)
        return self.pattern

    def workspace_for(self, A: BlockSparse) -> CgWorkspace:
        """Vectors that fit a matrix."""
        if self.workspace is None:
            self.workspace = CgWorkspace(A.block_row_count)
        return self.workspace


@dataclass(eq=False)
class StepBlocks:
    """A: filtered by f; unfiltered: before that. uses_cg: iterations are allowed, see `LinearOptions`. special: makes
    another preconditioner than the options name, of a matrix; None where it cannot."""

    A: BlockSparse
    unfiltered: BlockSparse
    f: SystemFilter
    options: LinearOptions
    uses_cg: bool
    memory: BlocksMemory = field(default_factory=BlocksMemory)
    special: Callable[[BlockSparse], Preconditioner | None] | None = None

    def solve(
        self,
        b: Array,
        prescribed: Array | None,
        extra: ContactBlocks | None,
        start: Array | None = None,
        tolerance: float = 0.0,
        pull: Array | None = None,
    ) -> LinearSolution:
        """See `LinearSolve.solve`."""
        if extra is not None and extra.yielding is not None and pull is None:
            pull = np.zeros(len(extra.yielding.N))
        b, free = b.copy(), start
        if prescribed is not None:
            pull = self._prescribe(prescribed, extra, b, pull)
            free = None if start is None else start - prescribed
        self.f.project(b)
        if not np.isfinite(b).all():
            return LinearSolution(np.full_like(b, np.nan), np.zeros(0), 0, np.inf, False)
        solution = None
        if extra is not None and pull is not None:
            solution = self.by_shapes(b, pull, extra, free, tolerance)
        elif self.uses_cg:
            solution = self.by_iterations(b, extra, free, tolerance)
        if solution is None:
            solution = self._eliminated(b, extra, pull)
        if prescribed is not None:
            solution.d += prescribed
        return solution

    def _prescribe(self, prescribed: Array, extra: ContactBlocks | None, b: Array, pull: Array | None) -> Array | None:
        """Take what prescribed changes ask for from b, in place, and from the forces on shapes."""
        moved = np.empty_like(b)
        self.unfiltered.product(prescribed, moved)
        b -= moved
        if extra is None:
            return pull
        pushed = extra.stiff(extra.J.times(prescribed))
        b -= extra.J.transposed(pushed)
        if extra.yielding is None or pull is None:
            return pull
        return np.asarray(pull - extra.yielding.shapes.W.pulled(pushed) / extra.yielding.h)

    def by_iterations(
        self, b: Array, extra: ContactBlocks | None, start: Array | None, tolerance: float
    ) -> LinearSolution | None:
        """By conjugate gradients; where contacts make the matrix unsymmetric, by stabilised biconjugate ones
        [Vor92]. None where these fail, or contacts are too stiff for them, and a factor is to be taken."""
        o, may_factor = self.options, self._may_factor
        if not self.resolves(extra):
            return None
        tolerance = worth(tolerance, o.tolerance)
        A = self.A if extra is None else self._widened(extra)
        outer = None if extra is None else extra.outer(self.f)
        special = None if self.special is None else self.special(A)
        if extra is not None and not extra.is_symmetric:
            solve = partial(solve_unsymmetric, A, b, outer, start=start, tolerance=max(tolerance, LEAST))
            with one_blas_thread():
                found = solve(special)
            if found is None and special is not None:
                found = solve(None)
            if found is None:
                return None
            final = tolerance == o.tolerance or found.residual <= o.tolerance
            lost = _residual(A, outer, b, found.x) if final else None
            return LinearSolution(found.x, np.zeros(0), found.iterations, found.residual, True, final, lost=lost)
        by = partial(
            solve_cg,
            A,
            b,
            x0=self._projected(start),
            tolerance=tolerance,
            max_iterations=PATIENCE if may_factor else o.max_iterations,
            workspace=self.memory.workspace_for(A),
            outer=outer,
        )
        with one_blas_thread():
            report = by(preconditioner=o.named if special is None else special)  # type: ignore[arg-type]
            if special is not None and not report.is_converged and o.max_iterations is None:
                report = by(preconditioner=o.named)  # type: ignore[arg-type]
        if may_factor and not report.is_converged:
            return None
        final = tolerance == o.tolerance or report.residual <= o.tolerance
        lost = _residual(A, outer, b, report.x) if final else None
        return LinearSolution(
            report.x.copy(), np.zeros(0), report.iterations, report.residual, report.is_converged, final, lost=lost
        )

    @property
    def _may_factor(self) -> bool:
        return self.options.may_factor(3 * self.A.block_row_count)

    def resolves(self, extra: ContactBlocks | None) -> bool:
        """Whether iterations resolve the bodies beside what contacts add, or nothing else is to take the step."""
        return extra is None or self._resolves(extra.J, np.einsum("kii->k", extra.K))

    def _resolves(self, J: BlockRows, traces: Array) -> bool:
        """Of contacts with rows J, whose blocks have traces (k,). An error of iterations is in proportion to their
        forces."""
        if not self._may_factor:
            return True
        added = np.repeat(traces, np.diff(J.ptr)) * np.einsum("eij,eij->e", J.blocks, J.blocks) / 3.0
        return bool(self.options.tolerance * np.max(added / self._traces[J.cols], initial=0.0) <= STIFF)

    @cached_property
    def _traces(self) -> Array:
        """Of the diagonal blocks, (n,)."""
        return np.asarray(np.einsum("kii->k", self.A.data[self.A.diagonal]))

    def helpful(self, start: Array | None, b: Array) -> Array | None:
        """A start of the iterations, filtered, where it leaves less than nothing does."""
        start = self._projected(start)
        if start is None:
            return None
        left = _residual(self.A, None, b, start)
        return start if left @ left < b @ b else None

    def operator(self, extra: ContactBlocks | None) -> Operator:
        """The matrix with what contacts add, and its preconditioner."""
        A = self.A if extra is None else self._widened(extra)
        outer = None if extra is None else extra.outer(self.f)
        M = None if self.special is None else self.special(A)
        if M is None:
            M = matrix_preconditioner(A, self.options.named, None, self.memory.workspace_for(A))

        def product(x: Array) -> Array:
            y = np.empty_like(x)
            multiply(A.kernel_arrays, outer, A.is_parallel, x, y)
            return y

        return Operator(product, M, self.f.project, extra is None or extra.is_symmetric)

    def roughly(self, b: Array) -> Array:
        """A solution without contacts to a tenth."""
        found = self.by_iterations(b, None, None, ROUGH)
        return self._directly(b, None).d if found is None else found.d

    def by_shapes(
        self, b: Array, pull: Array, extra: ContactBlocks, start: Array | None, tolerance: float
    ) -> LinearSolution | None:
        """With shapes that yield; None where the iterations fail, or one force couples several contacts."""
        if extra.coupling is not None:
            return None
        own = self.options.tolerance if self.uses_cg and self.options.tolerance > 0 else EXACT
        tolerance = worth(tolerance, own)
        found = solve_yielding(self._widened(extra), extra.filtered(self.f), b, pull, self._projected(start), tolerance)
        if found is None:
            return None
        final = tolerance == own or found.residual <= own
        return LinearSolution(
            found.d,
            np.zeros(0),
            found.iterations,
            found.residual,
            True,
            final,
            pulled=found.g,
            lost=found.lost if final else None,
        )

    def _projected(self, start: Array | None) -> Array | None:
        if start is not None and len(self.f):
            start = start.copy()
            self.f.project(start)
        return start

    def _eliminated(self, b: Array, extra: ContactBlocks | None, pull: Array | None) -> LinearSolution:
        """Directly, the forces on shapes eliminated."""
        if extra is None or extra.yielding is None or pull is None:
            return self._directly(b, extra)
        y = extra.yielding
        by_pull = extra.J.transposed(extra.stiff(y.shapes.W.times(y.shapes.Y @ y.eliminated(pull))))
        self.f.project(by_pull)
        s = self._directly(b - by_pull, extra)
        s.pulled = y.eliminated(pull - y.shapes.W.pulled(extra.stiff(extra.J.times(s.d))) / y.h)
        return s

    def _directly(self, b: Array, extra: ContactBlocks | None) -> LinearSolution:
        """By a Cholesky factor whose pattern is kept, where that is near enough; by an unsymmetric one where not, and
        where one force couples several contacts. What iterations on a factor leave is told as that of others."""
        if 3 * self.A.block_row_count > DENSE and (extra is None or extra.coupling is extra.yielding is None):
            try:
                with one_blas_thread():
                    d, residual = self._by_factor(b, extra)
                lost = None if extra is None else _residual(self._widened(extra), None, b, d)
                return LinearSolution(d, np.zeros(0), 0, residual, True, lost=lost)
            except np.linalg.LinAlgError:
                pass  # indefinite, or far from symmetric
        d, residual = solve_directly(self.matrix(extra), b)
        return LinearSolution(d, np.zeros(0), 0, residual, True)

    def _by_factor(self, b: Array, extra: ContactBlocks | None) -> tuple[Array, float]:
        """By the factor of the symmetric part, without what friction takes from its definiteness."""
        if extra is None:
            return BlockFactor(self.A, self.memory.pattern_of(self.A))(b)
        near = self._widened(extra._replace(K=semidefinite_part(extra.K)))
        pattern = self.memory.pattern_of(self.A if near.block_count == self.A.block_count else near)
        once, A = BlockFactor(near, pattern).once, self._widened(extra)

        def product(x: Array) -> Array:
            out = np.empty_like(x)
            A.product(x, out)
            return out

        return solve_by_residuals(once, product, b)

    @cached_property
    def _own(self) -> Matrix:
        return dense_blocks(self.A) if 3 * self.A.block_row_count <= DENSE else sparse.csr_array(self.A.to_scipy())

    def matrix(self, extra: ContactBlocks | None) -> Matrix:
        """The filtered matrix as a whole, with what contacts add: dense where it is small, else of scipy."""
        if extra is None:
            return self._own
        added = extra.filtered(self.f)
        if isinstance(self._own, np.ndarray):
            return self._own + added.dense(np.ones(self.A.block_row_count, dtype=bool))
        return self._own + added.matrix()

    def _widened(self, extra: ContactBlocks) -> BlockSparse:
        """The matrix with what contacts add."""
        return self._wide(extra.J).add(extra.K)

    def _wide(self, J: BlockRows) -> WideMatrix:
        """The matrix with places for what contacts add."""
        wide = self.memory.wide
        if wide is None or not wide.fits(self.A, J):
            wide = self.memory.wide = WideMatrix(self.A, J)
        if wide.taken is not self.A or wide.J is not J:
            wide.begin(self.A, J, self.f)
        return wide

    def iterate(
        self, b: Array, J: BlockRows, law: ContactSet, start: Array, at: tuple[Array, Array], how: NewtonLimits
    ) -> Iterated | None:
        """Newton's method for a law of contact between its bodies in one compiled call, from a change of velocity
        `start` (n,); at: relative velocities (3 k,) without it, and those where the law is linearised first. None where
        matrices are not solved by iterations, or these do not settle."""
        if not self.uses_cg or self.special is not None or not law.friction.any():
            return None
        if not self._resolves(J, 3.0 * how.h**2 * law.stiffness):
            return None
        wide, b, (given, u), own = self._wide(J), b.copy(), at, max(self.options.tolerance, LEAST)
        self.f.project(b)
        found = Found.begin(start, u)
        matrix = wide.matrix
        arrays = Wide(matrix.kernel_arrays, matrix.data, matrix.diagonal, wide.touched, wide.base, wide.at_touched)
        numbers = iterate_contacts(
            Law(*(np.ascontiguousarray(getattr(law, name)) for name in Law._fields)),
            Rows(J.ptr, J.cols, J.blocks, wide.blocks, wide.each),
            arrays,
            b,
            given,
            how,
            LinearLimits(own, MUCH * own, MAX_ITERATIONS, matrix.is_parallel),
            found,
        )
        return Iterated(found, *numbers) if numbers[0] else None

    def part(self, label: Array, touched: Array, extra: ContactBlocks | None) -> TouchedPart:
        """The unknowns that respond to forces on block rows that are touched (n,); label (n,): components of A."""
        C = filter_matrix(self.f, 3 * self.A.block_row_count) if len(self.f) else None
        return TouchedPart.of(self.A, label, None if extra is None else extra.filtered(self.f), touched, C)

    def within(self, rows: PartRows) -> StepBlocks:
        """The same of some block rows that nothing connects to others; small ones are solved directly."""
        A = rows.of(self.A)
        unfiltered = A if self.unfiltered is self.A else rows.of(self.unfiltered)
        uses_cg = self.uses_cg and 3 * A.block_row_count > DENSE
        return StepBlocks(A, unfiltered, self.f.within(rows.keep), self.options, uses_cg, rows.memory)


@dataclass(eq=False)
class PartRows:
    """Some block rows of a pattern, `keep` (n,), that nothing connects to others; what is kept for them."""

    keep: Array
    pattern: tuple[Array, Array]
    at: Array
    part: BlockSparse
    memory: BlocksMemory = field(default_factory=BlocksMemory)

    @classmethod
    def make(cls, A: BlockSparse, keep: Array) -> PartRows:
        """Of a matrix with the pattern."""
        counts, place = np.diff(A.indptr), (np.cumsum(keep) - 1).astype(np.int32)
        at = np.flatnonzero(np.repeat(keep, counts))
        indptr = np.concatenate([[0], np.cumsum(counts[keep])]).astype(np.int32)
        return cls(keep, (A.indptr, A.indices), at, BlockSparse(indptr, place[A.indices[at]], A.data[at]))

    def fits(self, A: BlockSparse) -> bool:
        """Whether a matrix has the pattern."""
        return self.pattern[0] is A.indptr and self.pattern[1] is A.indices

    def of(self, A: BlockSparse) -> BlockSparse:
        """Its part of a matrix."""
        return self.part.with_data(np.take(A.data, self.at, axis=0))


def filter_matrix(f: SystemFilter, n: int) -> sparse.csr_array:
    """The filters' C as a matrix (n, n)."""
    blocks = np.broadcast_to(np.eye(3), (n // 3, 3, 3)).copy()
    blocks[f.blocks] = f.projectors
    return sparse.csr_array(sparse.bsr_array((blocks, np.arange(n // 3), np.arange(n // 3 + 1)), shape=(n, n)))


def semidefinite_part(K: Array) -> Array:
    """Symmetric parts of blocks (k, 3, 3), without their negative eigenvalues."""
    S = 0.5 * (K + np.swapaxes(K, 1, 2))
    values, vectors = np.linalg.eigh(S)
    bad = values[:, 0] < 0.0
    kept = vectors[bad] * np.maximum(values[bad], 0.0)[:, None, :]
    S[bad] = kept @ np.swapaxes(vectors[bad], 1, 2)
    return S


def worth(tolerance: float, own: float) -> float:
    """A tolerance that is looser than the solver's own, where it is so much looser that it saves iterations."""
    return tolerance if own > 0.0 and tolerance > MUCH * own else own


def _residual(A: BlockSparse, outer: OuterTerm | None, b: Array, x: Array) -> Array:
    """b - (A + outer) x."""
    y = np.empty(b.size)
    multiply(A.kernel_arrays, outer, A.is_parallel, x, y)
    return b - y
