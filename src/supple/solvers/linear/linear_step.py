"""The linear system of an implicit step, with filters and joints.

    A d = b,  A = mass M + damping B + stiffness K        filtered: C A C d = C (b - A d_prescribed),  d += d_prescribed

One matrix where all forces can be assembled, ordered products where not. Joints take the direct solver, with rows and
multipliers as in `joint_solve`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.dense.outer_kernels import OuterTerm
from supple.algebra.sparse.bicgstab_kernels import multiply
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.conjugate_gradients import CgWorkspace, solve_cg
from supple.errors import InputError
from supple.scene.linearization import Linearization, dense_blocks
from supple.scene.system import System
from supple.solvers.coupling.contact_blocks import ContactBlocks, WideMatrix
from supple.solvers.coupling.touched_part import TouchedPart, components
from supple.solvers.linear.body_preconditioner import BodyPreconditioner
from supple.solvers.linear.joint_solve import (
    JointSystem,
    Matrix,
    RedundantRows,
    joint_matrix,
    solve_directly,
    solve_with_joints,
)
from supple.solvers.linear.unsymmetric import solve_unsymmetric
from supple.solvers.linear.yielding import EXACT, solve_yielding

Array = np.ndarray
SMALL = 1500  # unknowns up to which the direct solver is the better choice
MUCH = 30.0  # a tolerance looser by less is not worth a solution more


@dataclass(frozen=True)
class LinearOptions:
    """method: "cg", "direct", or "auto": direct for small systems and where there are joints.

    tolerance: true relative residual of cg. max_iterations: of cg; with tolerance 0 exactly so many are done.
    preconditioner: a name of `solve_cg`, or "bodies": what a body can solve by itself it solves.
    """

    method: Literal["auto", "cg", "direct"] = "auto"
    tolerance: float = 1e-6
    max_iterations: int | None = None
    preconditioner: str = "block_jacobi"

    def __post_init__(self) -> None:
        if self.method not in ("auto", "cg", "direct"):
            raise InputError("unknown linear solver", value=self.method, allowed="auto, cg, direct")

    def uses_cg(self, system: System) -> bool:
        """Whether conjugate gradients will be used, and so a definite tangent is needed."""
        if system.joints:
            if self.method == "cg":
                raise InputError("joints need the direct solver", fix="Use linear='auto' or 'direct'.")
            return False
        return self.method == "cg" or (self.method == "auto" and system.v_size > SMALL)


@dataclass
class LinearSolution:
    """d: the increment. multipliers of the joints. iterations, residual: of the linear solve; ok: within tolerance;
    is_final: that was the options' tolerance, not a looser one. unmet: what no motion can meet of the joints' rows.
    opened: by how much joints are open at the end of the step, over the size. pulled: forces on shapes that yield.
    lost (n,): the residual of a solution by iterations, None of others."""

    d: Array
    multipliers: Array
    iterations: int
    residual: float
    ok: bool
    is_final: bool = True
    unmet: Array = field(default_factory=lambda: np.zeros(0))
    opened: float = 0.0
    pulled: Array = field(default_factory=lambda: np.zeros(0))
    lost: Array | None = None


@dataclass(eq=False)
class _Kept:
    """The matrix of one linearization: its filtered blocks and those before the filter, where there are blocks; with
    room for contacts, for cg; as a whole, for the direct solver."""

    lin: Linearization
    weights: dict[str, float]
    A: BlockSparse | None
    unfiltered: BlockSparse | None
    wide: WideMatrix | None = None
    whole: Matrix | None = None


@dataclass
class LinearSolve:
    """Solves the systems of one solver; keeps memory between steps."""

    options: LinearOptions
    workspace: CgWorkspace | None = field(default=None, repr=False)
    _kept: _Kept | None = field(default=None, repr=False)
    _components: tuple[Array, Array] | None = field(default=None, repr=False)

    def solve(
        self,
        lin: Linearization,
        b: Array,
        *,
        mass: float,
        damping: float,
        stiffness: float,
        prescribed: Array | None = None,
        joints: JointSystem | None = None,
        extra: ContactBlocks | None = None,
        start: Array | None = None,
        tolerance: float = 0.0,
        pull: Array | None = None,
    ) -> LinearSolution:
        """Solve for the increment d. prescribed: its given part, flat. extra: of contacts, added to A, symmetric for
        cg; A is then assembled once for a linearization. start: of the iterations of cg; tolerance: of these, where
        it is looser than the options'. pull: forces on the shapes that yield in extra, none where it is not given."""
        system = lin.system
        if extra is not None and extra.yielding is not None and pull is None:
            pull = np.zeros(len(extra.yielding.N))
        weights = {"mass": mass, "damping": damping, "stiffness": stiffness}
        kept = None if extra is None else self._keep(lin, weights)
        A = lin.assemble(**weights) if kept is None else kept.unfiltered
        b = b.copy()
        moved = prescribed is not None and bool(prescribed.any())
        if moved:
            assert prescribed is not None
            b -= _product(A, lin, prescribed, weights)
            if extra is not None:
                pushed = extra.stiff(extra.J.times(prescribed))
                b -= extra.J.transposed(pushed)
                if extra.yielding is not None and pull is not None:
                    pull = pull - extra.yielding.shapes.W.pulled(pushed) / extra.yielding.h
        system.filter.project(b)
        if not np.isfinite(b).all():
            nothing = np.full(system.joint_row_count, np.nan)
            return LinearSolution(np.full_like(b, np.nan), nothing, 0, np.inf, False)
        with system.timings.measure("linear solve"):
            solution = None
            free = start if start is None or not moved else start - prescribed
            if pull is not None and joints is None and kept is not None and kept.A is not None:
                solution = self._by_shapes(kept, b, pull, extra, free, tolerance)
            elif self.options.uses_cg(system):
                solution = self._by_iterations(lin, A, b, weights, kept, extra, free, tolerance)
            if solution is None:
                solution = self._eliminated(
                    lin, A, b, weights, prescribed if moved else None, joints, kept, extra, pull
                )
        if moved:
            solution.d += prescribed
        return solution

    def _keep(self, lin: Linearization, weights: dict[str, float]) -> _Kept:
        """The assembled matrix of a linearization, which contacts ask for several times."""
        kept = self._kept
        if kept is None or kept.lin is not lin or kept.weights != weights:
            A, system = lin.assemble(**weights), lin.system
            before = None if A is None else A.copy()
            if A is not None and len(system.filter):
                assert system.assembly is not None
                system.assembly.project(system, _diagonal_scale(A))
                A = A.copy()
            else:
                A = before
            kept = self._kept = _Kept(lin, weights, A, before, None if kept is None else kept.wide)
        return kept

    def _by_iterations(
        self,
        lin: Linearization,
        A: BlockSparse | None,
        b: Array,
        weights: dict[str, float],
        kept: _Kept | None,
        extra: ContactBlocks | None,
        start: Array | None,
        tolerance: float,
    ) -> LinearSolution | None:
        """By conjugate gradients; where contacts make the matrix unsymmetric, by stabilised biconjugate ones
        [Vor92], and None where these fail."""
        o, system = self.options, lin.system
        tolerance, outer = _worth(tolerance, o.tolerance), None
        if extra is not None and not extra.is_symmetric:
            if A is None or kept is None:
                return None
            wide, outer = self._widened(kept, extra), extra.outer(system.filter)
            M: Any = BodyPreconditioner(wide, lin, **weights) if o.preconditioner == "bodies" else None
            found = solve_unsymmetric(wide, b, outer, M, start=start, tolerance=max(tolerance, 1e-14))
            if found is None:
                return None
            final = tolerance == o.tolerance or found.residual <= o.tolerance
            lost = _residual(wide, outer, b, found.x) if final else None
            return LinearSolution(found.x, np.zeros(0), found.iterations, found.residual, True, final, lost=lost)
        if A is not None:
            if kept is None or extra is None:
                assert system.assembly is not None
                system.assembly.project(system, _diagonal_scale(A))
            else:
                A = self._widened(kept, extra)
            outer = None if extra is None else extra.outer(system.filter)
            if start is not None:
                start = start.copy()
                system.filter.project(start)
            if self.workspace is None:
                self.workspace = CgWorkspace(A.block_row_count)
            chosen = BodyPreconditioner(A, lin, **weights) if o.preconditioner == "bodies" else o.preconditioner
            with one_blas_thread():
                report = solve_cg(
                    A,
                    b,
                    x0=start,
                    preconditioner=chosen,  # type: ignore[arg-type]
                    tolerance=tolerance,
                    max_iterations=o.max_iterations,
                    workspace=self.workspace,
                    outer=outer,
                )
        else:
            report = solve_cg(
                lambda d: lin.product(d, **weights) + (0.0 if extra is None else extra.product(d)),
                b,
                x0=start,
                tolerance=tolerance,
                max_iterations=o.max_iterations,
                fixed=system.filter.project,
            )
        final = tolerance == o.tolerance or report.residual <= o.tolerance
        lost = _residual(A, outer, b, report.x) if final and A is not None else None
        return LinearSolution(
            report.x.copy(), np.zeros(0), report.iterations, report.residual, report.is_converged, final, lost=lost
        )

    def _by_shapes(
        self,
        kept: _Kept,
        b: Array,
        pull: Array,
        extra: ContactBlocks | None,
        start: Array | None,
        tolerance: float,
    ) -> LinearSolution | None:
        """With shapes that yield; None where the iterations fail, or one force couples several contacts."""
        assert extra is not None
        if extra.coupling is not None:
            return None
        o, f = self.options, kept.lin.system.filter
        own = o.tolerance if o.uses_cg(kept.lin.system) and o.tolerance > 0 else EXACT
        tolerance = _worth(tolerance, own)
        A, filtered = self._widened(kept, extra), extra.filtered(f)
        if start is not None:
            start = start.copy()
            f.project(start)
        found = solve_yielding(A, filtered, b, pull, start, tolerance)
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

    def _eliminated(
        self,
        lin: Linearization,
        A: BlockSparse | None,
        b: Array,
        weights: dict[str, float],
        prescribed: Array | None,
        joints: JointSystem | None,
        kept: _Kept | None,
        extra: ContactBlocks | None,
        pull: Array | None,
    ) -> LinearSolution:
        """Directly, the forces on shapes eliminated."""
        if extra is None or extra.yielding is None or pull is None:
            return self._directly(lin, A, b, weights, prescribed, joints, kept, extra)
        y, f = extra.yielding, lin.system.filter
        by_pull = extra.J.transposed(extra.stiff(y.shapes.W.times(y.shapes.Y @ y.eliminated(pull))))
        f.project(by_pull)
        s = self._directly(lin, A, b - by_pull, weights, prescribed, joints, kept, extra)
        s.pulled = y.eliminated(pull - y.shapes.W.pulled(extra.stiff(extra.J.times(s.d))) / y.h)
        return s

    @staticmethod
    def _widened(kept: _Kept, extra: ContactBlocks) -> BlockSparse:
        """The kept matrix with what contacts add."""
        assert kept.A is not None
        if kept.wide is None or not kept.wide.fits(kept.A, extra.J):
            kept.wide = WideMatrix(kept.A, extra.J)
        if kept.wide.taken is not kept.A or kept.wide.J is not extra.J:
            kept.wide.begin(kept.A, extra.J, kept.lin.system.filter)
        return kept.wide.add(extra.K)

    def _directly(
        self,
        lin: Linearization,
        A: BlockSparse | None,
        b: Array,
        weights: dict[str, float],
        prescribed: Array | None,
        joints: JointSystem | None,
        kept: _Kept | None,
        extra: ContactBlocks | None,
    ) -> LinearSolution:
        system = lin.system
        matrix = self._matrix(lin, A, weights, kept, extra)
        if joints is None:
            d, residual = solve_directly(matrix, b)
            return LinearSolution(d, np.zeros(0), 0, residual, True)
        if prescribed is not None:
            joints = replace(joints, g=joints.g - joints.G @ prescribed)
        pull, G = filtered_columns(system, joints.pull), filtered_columns(system, joints.G)
        s = solve_with_joints(matrix, b, joints, pull, G)
        return LinearSolution(s.d, s.multipliers, 0, s.residual, True, unmet=s.unmet)

    def part(
        self,
        lin: Linearization,
        touched: Array,
        joints: JointSystem | None,
        extra: ContactBlocks | None,
        **weights: float,
    ) -> TouchedPart:
        """The unknowns that answer to forces on block rows that are touched (n,), with filters, joints and contacts."""
        kept, system = self._keep(lin, weights), lin.system
        C = filter_matrix(system) if len(system.filter) else None
        if joints is None and kept.A is not None:
            if self._components is None or self._components[0] is not kept.A.indices:
                self._components = kept.A.indices, components(kept.A)
            added = None if extra is None else extra.filtered(system.filter)
            return TouchedPart.of(kept.A, self._components[1], added, touched, C)
        matrix = self._matrix(lin, kept.unfiltered, weights, kept, extra)
        if joints is not None:
            G, pull = filtered_columns(system, joints.G), filtered_columns(system, joints.pull)
            rests = ~np.isnan(joints.held)
            matrix = joint_matrix(matrix, pull, G, rests, RedundantRows.of(joints.G, G, rests, joints.open))
        return TouchedPart(np.ones(len(touched), dtype=bool), sparse.csr_array(matrix), C)

    def _matrix(
        self,
        lin: Linearization,
        A: BlockSparse | None,
        weights: dict[str, float],
        kept: _Kept | None,
        extra: ContactBlocks | None,
    ) -> Matrix:
        """The filtered matrix as a whole, with what contacts add."""
        system = lin.system
        if kept is not None and kept.whole is not None:
            matrix = kept.whole
        elif A is not None:
            if kept is None:
                assert system.assembly is not None
                system.assembly.project(system, _diagonal_scale(A))
            else:
                A = kept.A
                assert A is not None
            matrix = dense_blocks(A) if system.is_small else sparse.csr_array(A.to_scipy())
        else:
            matrix = filtered_matrix(system, lin.small_matrix(**weights) if system.is_small else lin.matrix(**weights))
        if kept is not None and extra is not None:
            kept.whole = matrix
            added = filtered_matrix(system, extra.matrix(), 0.0)
            matrix = matrix + (added.toarray() if system.is_small else added)
        return matrix


def _worth(tolerance: float, own: float) -> float:
    """A tolerance that is looser than the solver's own, where it is so much looser that it saves iterations."""
    return tolerance if own > 0.0 and tolerance > MUCH * own else own


def _residual(A: BlockSparse, outer: OuterTerm | None, b: Array, x: Array) -> Array:
    """b - (A + outer) x."""
    y = np.empty(b.size)
    multiply(A.kernel_arrays, outer, A.is_parallel, x, y)
    return b - y


def _product(A: BlockSparse | None, lin: Linearization, d: Array, weights: dict[str, float]) -> Array:
    if A is None:
        return lin.product(d, **weights)
    out = np.empty_like(d)
    A.product(d, out)
    return out


def _diagonal_scale(A: BlockSparse) -> float:
    scale = float(np.abs(np.einsum("kii->k", A.data[A.diagonal])).mean()) / 3
    return scale if scale > 0 and np.isfinite(scale) else 1.0


def filter_matrix(system: System) -> sparse.csr_array:
    """The filters' C as a matrix."""
    blocks = np.broadcast_to(np.eye(3), (system.v_size // 3, 3, 3)).copy()
    blocks[system.filter.blocks] = system.filter.projectors
    n = len(blocks)
    return sparse.csr_array(sparse.bsr_array((blocks, np.arange(n), np.arange(n + 1)), shape=(3 * n, 3 * n)))


def filtered_columns(system: System, G: Matrix) -> Matrix:
    """G C."""
    f = system.filter
    if not len(f):
        return G
    if not isinstance(G, np.ndarray):
        return G @ filter_matrix(system)
    out = G.reshape(len(G), -1, 3).copy()
    out[:, f.blocks] = np.einsum("mki,kij->mkj", out[:, f.blocks], f.projectors)
    return out.reshape(G.shape)


def filtered_matrix(system: System, A: Matrix, scale: float | None = None) -> Matrix:
    """C A C + scale (I - C)."""
    if not len(system.filter):
        return A
    if scale is None:
        scale = float(np.abs(A.diagonal()).mean()) or 1.0
    if isinstance(A, np.ndarray):
        f = system.filter
        rows = filtered_columns(system, A).reshape(-1, 3, A.shape[1])
        rows[f.blocks] = np.einsum("kij,kjm->kim", f.projectors, rows[f.blocks])
        rows.reshape(-1, 3, len(rows), 3)[f.blocks, :, f.blocks] += scale * (np.eye(3) - f.projectors)
        return rows.reshape(A.shape)
    C = filter_matrix(system)
    return sparse.csr_array(C @ A @ C + scale * (sparse.eye_array(system.v_size) - C))
