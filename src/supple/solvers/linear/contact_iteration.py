"""Newton's method for the contacts of a step, as one compiled call: as `ContactStep.solve` has it, by iterations.

For one law of contact with friction between bodies of one matrix, where nothing else yields. What the compiled loop
does not settle, or cannot solve to its tolerance, it leaves to the general one.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.sparse.bicgstab_kernels import multiply, run_bicgstab
from supple.algebra.sparse.block_diagonal_kernels import compute_inverse_blocks
from supple.algebra.sparse.block_rows_kernels import add_transposed, compute_rows
from supple.interaction.contact_kernels import ROUNDING, compute_contacts
from supple.scene.assembly_kernels import add_congruence
from supple.solvers.coupling.turning import hold_turning

Array = np.ndarray


class Law(NamedTuple):
    """Of k contacts, see `ContactSet`."""

    gap: Array
    normal: Array
    slip: Array
    stiffness: Array
    tangential_stiffness: Array
    dashpot: Array
    tangential_dashpot: Array
    friction: Array
    drift: Array


class Rows(NamedTuple):
    """J (3 k, n) in blocks, and its blocks behind the filters; each (k,): numbers of the contacts."""

    ptr: Array
    cols: Array
    blocks: Array
    filtered: Array
    each: Array


class Wide(NamedTuple):
    """A matrix with places for J^T K J: data (b, 3, 3), of which `blocks` is the kernels' view; diagonal (n / 3,).
    touched, base: places that contacts touch, and what A has there; at_touched: where each product of theirs lands."""

    blocks: tuple[Array, ...]
    data: Array
    diagonal: Array
    touched: Array
    base: Array
    at_touched: Array


class NewtonLimits(NamedTuple):
    """h [s]: the step. loose: tolerance of the first linear solution; closer: of later ones, over what contacts left
    open; tighter: part of it where nothing moved. left: of the contacts' impulse, at which it ends; whole: from how
    many iterations on it is left to the general loop."""

    h: float
    loose: float
    closer: float
    tighter: float
    left: float
    whole: int


class LinearLimits(NamedTuple):
    """own: tolerance of a final linear solution; worth: of a looser one at least; iterations: of one; is_parallel:
    whether products are shared by threads."""

    own: float
    worth: float
    iterations: int
    is_parallel: bool


class Found(NamedTuple):
    """d (n,), lost (n,): the solution, from which it begins, and its residual. u, reached, pushes (k, 3): where the law
    is linearised, relative velocities at the end, and forces that the solution took. force, tangent, slip, mode: of the
    law at the end; K (k, 3, 3): as it was linearised last."""

    d: Array
    lost: Array
    u: Array
    reached: Array
    pushes: Array
    force: Array
    tangent: Array
    slip: Array
    mode: Array
    K: Array

    @classmethod
    def begin(cls, d: Array, u: Array) -> Found:
        """From d (n,), linearised at relative velocities u (3 k,)."""
        k, (first, second) = len(u) // 3, np.empty((2, len(u) // 3, 3, 3))
        reached, pushes, force, slip = np.empty((4, k, 3))
        mode = np.empty(k, dtype=np.int8)
        return cls(
            d.copy(), np.empty_like(d), u.reshape(-1, 3).copy(), reached, pushes, force, first, slip, mode, second
        )


@compiled
def _apply_law(h, law, u, found):
    """Forces and tangents at relative velocities u (k, 3)."""
    compute_contacts(
        h,
        law.gap,
        law.normal,
        law.slip,
        law.stiffness,
        law.tangential_stiffness,
        law.dashpot,
        law.tangential_dashpot,
        law.friction,
        u - law.drift,
        False,
        found.force,
        found.tangent,
        found.slip,
        found.mode,
    )


@compiled
def _linearize(h, given, found, wanted_out):
    """K = h T, and the forces (3 k,) that the law would have at u = given, along its tangent."""
    for m in range(len(found.u)):
        for i in range(3):
            along = 0.0
            for j in range(3):
                found.K[m, i, j] = h * found.tangent[m, i, j]
                along += found.K[m, i, j] * (found.u[m, j] - given[3 * m + j])
            wanted_out[3 * m + i] = found.force[m, i] + along / h


@compiled
def _reach(h, rows, given, wanted, found, moved):
    """Relative velocities at the end, and the forces that a solution took for those of the law."""
    compute_rows(rows.ptr, rows.cols, rows.blocks, found.d, moved)
    for m in range(len(found.u)):
        for i in range(3):
            along = 0.0
            for j in range(3):
                along += found.K[m, i, j] * moved[3 * m + j]
            found.pushes[m, i] = wanted[3 * m + i] - along / h
            found.reached[m, i] = given[3 * m + i] + moved[3 * m + i]


@compiled
def _left_open(h, law, found):
    """How far the pushes are from the law, relative, less what rounding may make of it."""
    open2, scale2 = 0.0, 0.0
    for m in range(len(found.u)):
        u = found.reached[m]
        way = abs(u[0]) + abs(u[1]) + abs(u[2])
        rounding = ROUNDING * law.stiffness[m] * (abs(law.gap[m]) + h * way)
        for i in range(3):
            f, p = found.force[m, i], found.pushes[m, i]
            size, off = max(abs(f), abs(p)), max(0.0, abs(f - p) - rounding)
            scale2, open2 = scale2 + size * size, open2 + off * off
    return np.sqrt(open2 / scale2) if scale2 > 0.0 else np.sqrt(open2)


@compiled
def iterate_contacts(law, rows, wide, b, given, limits, linear, found):
    """Solve A d = b + h J^T f(J d + given) from found.d, linearised at found.u first; b (n,) is filtered. Returns the
    Newton iterations, 0 where they do not settle, those of all linear solutions, and what the last one and the contacts
    leave open, relative."""
    n, k, h, parallel = len(b), len(law.gap), limits.h, linear.is_parallel
    wanted, moved, right = np.empty(3 * k), np.empty(3 * k), np.empty(n)
    free, inverse = np.ones((n // 3, 3)), np.empty((n // 3, 3, 3))
    left, closer, all_iterations = np.inf, limits.closer, 0
    _apply_law(h, law, found.u, found)
    for iteration in range(1, limits.whole):
        _linearize(h, given, found, wanted)
        for t in range(len(wide.touched)):
            for i in range(9):
                wide.data[wide.touched[t], i // 3, i % 3] = wide.base[t, i // 3, i % 3]
        add_congruence(
            rows.each, rows.each, found.K, rows.ptr, rows.filtered, rows.filtered, wide.at_touched, wide.data
        )
        compute_inverse_blocks(wide.data, wide.diagonal, free, inverse)
        right[:] = 0.0
        add_transposed(rows.ptr, rows.cols, rows.filtered, wanted, right)
        for i in range(n):
            right[i] = b[i] + h * right[i]
        tolerance = min(limits.loose, closer * left)
        tolerance = tolerance if tolerance > linear.worth else linear.own
        iterations, residual = run_bicgstab(
            wide.blocks, None, right, inverse, tolerance, linear.iterations, parallel, found.d
        )
        if not residual <= tolerance:
            return 0, 0, residual, left
        is_final = tolerance == linear.own or residual <= linear.own
        closer *= 1.0 if iterations > 0 or is_final else limits.tighter
        all_iterations += iterations
        _reach(h, rows, given, wanted, found, moved)
        _apply_law(h, law, found.reached, found)
        left = _left_open(h, law, found)
        if is_final and left <= max(limits.left, 0.1 * residual):
            multiply(wide.blocks, None, parallel, found.d, found.lost)
            for i in range(n):
                found.lost[i] = right[i] - found.lost[i]
            return iteration, all_iterations, residual, left
        before, found.u[:] = found.u.copy(), found.reached
        c = law
        if hold_turning(h, c.normal, c.slip, c.tangential_stiffness, c.tangential_dashpot, before, found.u) > 0:
            _apply_law(h, law, found.u, found)
    return 0, 0, np.inf, left
