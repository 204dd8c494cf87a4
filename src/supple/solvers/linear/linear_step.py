"""The linear system of an implicit step, with filters and joints.

    A d = b,  A = mass M + damping B + stiffness K        filtered: C A C d = C (b - A d_prescribed),  d += d_prescribed

One matrix where all forces can be assembled, ordered products where not. Rows and multipliers of joints are those of
`joint_solve`, by iterations those of `joint_iterations`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import scipy.sparse as sparse

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.aggregation.aggregation import Aggregation
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.cholesky.block_factor import BlockFactor
from supple.algebra.sparse.conjugate_gradients import solve_cg
from supple.algebra.sparse.preconditioners import Preconditioner
from supple.scene.linearization import Linearization, dense_blocks
from supple.scene.system import System
from supple.solvers.coupling.contact_blocks import ContactBlocks
from supple.solvers.coupling.touched_part import TouchedPart, components
from supple.solvers.linear.body_preconditioner import BodyPreconditioner
from supple.solvers.linear.joint_iterations import JointIterations, Operator
from supple.solvers.linear.joint_solve import (
    Directly,
    JointSolution,
    JointSystem,
    Matrix,
    RedundantRows,
    joint_matrix,
    solve_with_joints,
)
from supple.solvers.linear.solution import LinearOptions, LinearSolution
from supple.solvers.linear.step_blocks import ROUGH, BlocksMemory, PartRows, StepBlocks, filter_matrix, worth

Array = np.ndarray
MANY_PARTS = 16
"""Sets of bodies whose patterns are kept."""
MANY_PIECES = 128
"""Unconnected pieces up to which aggregates are used: the coarsest ones have a dense matrix."""


@dataclass(eq=False)
class _Kept:
    """The matrix of one linearization: its blocks, None where a force has none; as a whole, where there are joints;
    its factor; joined: how it is solved by iterations with rows of joints and contacts."""

    lin: Linearization
    weights: dict[str, float]
    blocks: StepBlocks | None
    whole: Matrix | None = None
    factor: BlockFactor | None = None
    joined: tuple[ContactBlocks | None, JointIterations] | None = None

    def operator(self, extra: ContactBlocks | None) -> Operator:
        """By the ordered calls."""

        def product(d: Array) -> Array:
            out = self.lin.product(d, **self.weights) + (0.0 if extra is None else extra.product(d))
            self.lin.system.filter.project(out)
            return out

        return Operator(product, None, self.lin.system.filter.project, extra is None or extra.is_symmetric)


@dataclass
class LinearSolve:
    """Solves the systems of one solver; keeps memory between steps."""

    options: LinearOptions
    _memory: BlocksMemory = field(default_factory=BlocksMemory, repr=False)
    _kept: _Kept | None = field(default=None, repr=False)
    _components: tuple[Array, Array] | None = field(default=None, repr=False)
    _aggregation: Aggregation | None = field(default=None, repr=False)
    _parts: dict[bytes, PartRows] = field(default_factory=dict, repr=False)

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
        size: float = 0.0,
    ) -> LinearSolution:
        """Solve for the increment d. prescribed: its given part, flat. extra: of contacts, added to A, symmetric for
        cg; A is then assembled once for a linearization, and with joints factored once. start: of the iterations of
        cg; tolerance: of these, where it is looser than the options'; size: of the right side that this is a part of
        where there are joints, by default its own. pull: forces on the shapes that yield in extra, none where it is not
        given."""
        system = lin.system
        weights = {"mass": mass, "damping": damping, "stiffness": stiffness}
        iterates = (
            pull is None and (extra is None or extra.yielding is None) and self.options.uses_cg(system, **weights)
        )
        several = joints is not None and (iterates or not system.is_small)
        kept = self._keep(lin, weights) if extra is not None or several else None
        given = prescribed if prescribed is not None and prescribed.any() else None
        if kept is not None and kept.blocks is not None and joints is None:
            with system.timings.measure("linear solve"):
                return kept.blocks.solve(b, given, extra, start, tolerance, pull)
        if extra is not None and extra.yielding is not None and pull is None:
            pull = np.zeros(len(extra.yielding.N))
        A = lin.assemble(**weights) if kept is None else None if kept.blocks is None else kept.blocks.unfiltered
        b = b.copy()
        if given is not None:
            b -= _product(A, lin, given, weights)
            if extra is not None:
                pushed = extra.stiff(extra.J.times(given))
                b -= extra.J.transposed(pushed)
                if extra.yielding is not None and pull is not None:
                    pull = pull - extra.yielding.shapes.W.pulled(pushed) / extra.yielding.h
        system.filter.project(b)
        if not np.isfinite(b).all():
            nothing = np.full(system.joint_row_count, np.nan)
            return LinearSolution(np.full_like(b, np.nan), nothing, 0, np.inf, False)
        with system.timings.measure("linear solve"):
            solution = None
            free = start if start is None or given is None else start - given
            if iterates and joints is not None and kept is not None:
                solution = self._by_joint_iterations(kept, b, given, joints, extra, free, tolerance, size)
            elif iterates:
                solution = self._by_iterations(lin, A, b, weights, extra, free, tolerance)
            if solution is None:
                solution = self._eliminated(lin, A, b, weights, given, joints, kept, extra, pull)
        if given is not None:
            solution.d += given
        return solution

    def _keep(self, lin: Linearization, weights: dict[str, float]) -> _Kept:
        """The assembled matrix of a linearization, which contacts ask for several times."""
        kept = self._kept
        if kept is None or kept.lin is not lin or kept.weights != weights:
            A, system = lin.assemble(**weights), lin.system
            if A is None:
                self._kept = _Kept(lin, weights, None)
                return self._kept
            before = A = A.copy()
            if len(system.filter):
                assert system.assembly is not None
                system.assembly.project(system, _diagonal_scale(A))
                A = system.assembly.matrix.copy()
            kept = self._kept = _Kept(lin, weights, self._blocks(lin, A, before, weights))
        return kept

    def _blocks(self, lin: Linearization, A: BlockSparse, before: BlockSparse, weights: dict[str, float]) -> StepBlocks:
        o = self.options
        special: Callable[[BlockSparse], Preconditioner | None] | None = None
        if o.preconditioner == "bodies":
            special = partial(_by_bodies, lin=lin, weights=weights)
        elif o.aggregates(lin.system, **weights):
            special = partial(self._aggregated, lin=lin, own=A)
        return StepBlocks(A, before, lin.system.filter, o, o.uses_cg(lin.system, **weights), self._memory, special)

    def aggregation(self, system: System, A: BlockSparse) -> Aggregation:
        """Aggregates of the pattern of a matrix."""
        if self._aggregation is None or not self._aggregation.fits(A):
            points, is_point = points_of_rows(system, system.x0)
            is_point[system.filter.blocks] = False
            self._aggregation = Aggregation(A, points, is_point, self._labels(A))
        return self._aggregation

    def _aggregated(self, A: BlockSparse, lin: Linearization, own: BlockSparse) -> Preconditioner | None:
        """By aggregates of a matrix; None where it is not positive definite, or falls into too many pieces. own:
        without contacts."""
        system, M = lin.system, self.aggregation(lin.system, own)
        if M.coarsest > MANY_PIECES:
            return None
        try:
            M.update(A, points_of_rows(system, lin.kin.flat_x)[0], None if A is own else own)
        except np.linalg.LinAlgError:
            return None
        return M

    def _by_iterations(
        self,
        lin: Linearization,
        A: BlockSparse | None,
        b: Array,
        weights: dict[str, float],
        extra: ContactBlocks | None,
        start: Array | None,
        tolerance: float,
    ) -> LinearSolution | None:
        """Without contacts, or by products alone; None where these are not symmetric."""
        o, system = self.options, lin.system
        if A is not None:
            assert system.assembly is not None
            system.assembly.project(system, _diagonal_scale(A))
            blocks = self._blocks(lin, A, A, weights)
            found = blocks.by_iterations(b, None, blocks.helpful(start, b), tolerance)
            return None if found is None else replace(found, again=lambda b, g: blocks.roughly(b))
        if extra is not None and not extra.is_symmetric:
            return None
        tolerance = worth(tolerance, o.tolerance)
        report = solve_cg(
            lambda d: lin.product(d, **weights) + (0.0 if extra is None else extra.product(d)),
            b,
            x0=start,
            tolerance=tolerance,
            max_iterations=o.max_iterations,
            fixed=system.filter.project,
        )
        final = tolerance == o.tolerance or report.residual <= o.tolerance
        return LinearSolution(
            report.x.copy(), np.zeros(0), report.iterations, report.residual, report.is_converged, final
        )

    def _by_joint_iterations(
        self,
        kept: _Kept,
        b: Array,
        prescribed: Array | None,
        joints: JointSystem,
        extra: ContactBlocks | None,
        start: Array | None,
        tolerance: float,
        size: float,
    ) -> LinearSolution | None:
        """None where the iterations fail, or contacts are too stiff for them."""
        o, system = self.options, kept.lin.system
        if kept.blocks is not None and not kept.blocks.resolves(extra):
            return None
        if prescribed is not None:
            joints = replace(joints, g=joints.g - joints.G @ prescribed)
        G = filtered_columns(system, joints.G)
        known = kept.joined
        if known is None or known[0] is not extra or not known[1].fits(joints):
            A = kept.operator(extra) if kept.blocks is None else kept.blocks.operator(extra)
            try:
                known = kept.joined = extra, JointIterations(A, joints, filtered_columns(system, joints.pull), G)
            except np.linalg.LinAlgError:
                return None
        solve = partial(known[1].solve, G=G, max_iterations=o.max_iterations)
        found = solve(b, joints, tolerance=worth(tolerance, o.tolerance), size=size, start=start)
        if found is None:
            return None

        def again(b: Array, g: Array) -> Array:
            held = np.where(np.isnan(joints.held), joints.held, g)
            other = solve(b, replace(joints, g=g, held=held), tolerance=ROUGH)
            return np.full_like(b, np.inf) if other is None else other.d

        final = found.residual <= o.tolerance
        return LinearSolution(
            found.d,
            found.multipliers,
            found.iterations,
            found.residual,
            found.ok,
            final,
            unmet=found.unmet,
            lost=found.lost if final else None,
            size=found.size,
            again=again,
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
        rows = None
        if joints is not None:
            if prescribed is not None:
                joints = replace(joints, g=joints.g - joints.G @ prescribed)
            rows = joints, filtered_columns(system, joints.pull), filtered_columns(system, joints.G)
        if A is not None and extra is None and weights["mass"] > 0.0 and not system.is_small:
            try:
                with one_blas_thread():
                    return _by_factor(self._factor(system, A, kept), b, rows)
            except np.linalg.LinAlgError:
                pass  # indefinite, or far from symmetric
        matrix = self._matrix(lin, A, weights, kept, extra)
        if rows is not None:
            return _joined(solve_with_joints(matrix, b, *rows))
        solve = Directly(matrix)
        d, residual = solve(b)
        return LinearSolution(d, np.zeros(0), 0, residual, True, again=lambda b, g: solve.once(b))

    def _factor(self, system: System, A: BlockSparse, kept: _Kept | None) -> BlockFactor:
        """Of the filtered matrix, kept with it."""
        if kept is None or kept.blocks is None:
            assert system.assembly is not None
            system.assembly.project(system, _diagonal_scale(A))
            return BlockFactor(A, self._memory.pattern_of(A))
        if kept.factor is None:
            kept.factor = BlockFactor(kept.blocks.A, self._memory.pattern_of(kept.blocks.A))
        return kept.factor

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
        if joints is None and kept.blocks is not None:
            return kept.blocks.part(self._labels(kept.blocks.A), touched, extra)
        C = filter_matrix(system.filter, system.v_size) if len(system.filter) else None
        matrix = self._matrix(lin, None if kept.blocks is None else kept.blocks.A, weights, kept, extra)
        if joints is not None:
            G, pull = filtered_columns(system, joints.G), filtered_columns(system, joints.pull)
            rests = ~np.isnan(joints.held)
            matrix = joint_matrix(matrix, pull, G, rests, RedundantRows.of(joints.G, G, rests, joints.open))
        return TouchedPart(np.ones(len(touched), dtype=bool), sparse.csr_array(matrix), C)

    def components(self, system: System) -> Array | None:
        """Label (n,) of what forces connect among the block rows; None where a step cannot be solved in parts."""
        if system.joints or self.options.preconditioner == "bodies" or system.assembly is None:
            return None
        return self._labels(system.assembly.matrix)

    def _labels(self, A: BlockSparse) -> Array:
        if self._components is None or self._components[0] is not A.indices:
            self._components = A.indices, components(A)
        return self._components[1]

    def within(self, lin: Linearization, keep: Array, **weights: float) -> StepBlocks:
        """The matrix of some block rows (n,) that nothing connects to others; lin: of these at least."""
        assert lin.system.assembly is not None
        pattern, key = lin.system.assembly.matrix, keep.tobytes()
        if key not in self._parts or not self._parts[key].fits(pattern):
            if len(self._parts) >= MANY_PARTS:
                self._parts.clear()
            self._parts[key] = PartRows.make(pattern, keep)
        if len(lin.system.filter):
            blocks = self._keep(lin, weights).blocks
            assert blocks is not None
            return blocks.within(self._parts[key])
        A = lin.assemble(**weights)
        assert A is not None
        return self._blocks(lin, A, A, weights).within(self._parts[key])

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
            elif kept.blocks is not None:
                A = kept.blocks.A
            matrix = dense_blocks(A) if system.is_small else sparse.csr_array(A.to_scipy())
        else:
            matrix = filtered_matrix(system, lin.small_matrix(**weights) if system.is_small else lin.matrix(**weights))
        if kept is not None and extra is not None:
            kept.whole = matrix
            added = filtered_matrix(system, extra.matrix(), 0.0)
            matrix = matrix + (added.toarray() if system.is_small else added)
        return matrix


def _by_factor(factor: BlockFactor, b: Array, rows: tuple[JointSystem, Matrix, Matrix] | None) -> LinearSolution:
    """rows: the joints, with P and G filtered."""
    if rows is not None:
        return _joined(solve_with_joints(sparse.csr_array(factor.A.to_scipy()), b, *rows, factor))
    d, residual = factor(b)
    return LinearSolution(d, np.zeros(0), 0, residual, True, again=lambda b, g: factor.once(b))


def _by_bodies(A: BlockSparse, lin: Linearization, weights: dict[str, float]) -> Preconditioner:
    return BodyPreconditioner(A, lin, **weights)


def _joined(s: JointSolution) -> LinearSolution:
    return LinearSolution(s.d, s.multipliers, 0, s.residual, True, unmet=s.unmet, again=s.again)


def points_of_rows(system: System, x: Array) -> tuple[Array, Array]:
    """Positions [m], (n, 3), of block rows that are those of points, and which ones are (n,)."""
    points, is_point = np.zeros((system.v_size // 3, 3)), np.zeros(system.v_size // 3, dtype=bool)
    for slot in system.bodies:
        if slot.coordinates.x_width == slot.coordinates.v_width == 3:
            rows = slice(slot.block_start, slot.block_start + slot.block_count)
            points[rows], is_point[rows] = slot.view_x(x), True
    return points, is_point


def _product(A: BlockSparse | None, lin: Linearization, d: Array, weights: dict[str, float]) -> Array:
    if A is None:
        return lin.product(d, **weights)
    out = np.empty_like(d)
    A.product(d, out)
    return out


def _diagonal_scale(A: BlockSparse) -> float:
    scale = float(np.abs(np.einsum("kii->k", A.data[A.diagonal])).mean()) / 3
    return scale if scale > 0 and np.isfinite(scale) else 1.0


def filtered_columns(system: System, G: Matrix) -> Matrix:
    """G C."""
    f = system.filter
    if not len(f):
        return G
    if not isinstance(G, np.ndarray):
        return G @ filter_matrix(f, system.v_size)
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
    C = filter_matrix(system.filter, system.v_size)
    return sparse.csr_array(C @ A @ C + scale * (sparse.eye_array(system.v_size) - C))
