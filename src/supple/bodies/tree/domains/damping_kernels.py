"""The part of a domain's stiffness damping that keeps it from feeding motion.

    D = alpha M + beta (K(q) + s M),      s = 0 where K(q) is positive definite                     [theory.md, T18]

K(q) of a domain that is pressed, as a petal that snaps through, has negative eigenvalues. Along these beta K(q) q' is a
force with the motion and would add energy without bound. s is the least multiple of M, to a part in `2**REFINEMENTS`,
that makes K(q) + s M positive definite; q' are rates relative to the domain's frame, so that momenta are left alone.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, any_greater, load, maximum, minimum, select_ge, store, value_at
from supple.bodies.tree.step.dense_kernels import factor_lanes

FLOOR, FIRST = 1e-12, 1e-6  # shifts, of the largest K_ii / M_ii: that which counts as none, and the first to be tried
DOUBLINGS, REFINEMENTS = 40, 4


@compiled(borrows=True)
def lowest_pivot(work, constants, place, at_K, at, r, shift):
    """The least 1 / d in L D L^T of K + shift M, factored in the rows from `at`; below zero where it is indefinite."""
    for i in range(r):
        for j in range(i + 1):
            store(
                work, at + LANES * (i * r + j), load(work, at_K) + shift * value_at(constants.mass, place + i * r + j)
            )
            at_K += LANES
    if factor_lanes(work, at, r) >= 0:
        return shift * 0.0  # what is not finite is told by the step
    lowest = load(work, at)
    for i in range(1, r):
        lowest = minimum(lowest, load(work, at + LANES * (i * r + i)))
    return lowest


@compiled(borrows=True)
def damping_shift(work, constants, place, at_K, at, r, acts):
    """s of each lane. K: rows of the lower triangle from at_K; at: r² rows of scratch; acts: 0 in lanes not damped."""
    size, row = acts * 0.0, at_K
    for i in range(r):
        size = maximum(size, load(work, row + LANES * i) / value_at(constants.mass, place + i * r + i))
        row += LANES * (i + 1)
    none, floor = acts * 0.0, FLOOR * size + 1e-300  # a lane without a domain has K = 0
    lowest = lowest_pivot(work, constants, place, at_K, at, r, floor)
    if not any_greater(none, lowest * acts):
        return none
    shift = none
    for _ in range(DOUBLINGS):  # (T18)
        further = maximum(2.0 * shift, FIRST * size)
        shift = select_ge(lowest * acts, none, shift, further)
        lowest = lowest_pivot(work, constants, place, at_K, at, r, floor + shift)
        if not any_greater(none, lowest * acts):
            break
    step = 0.25 * shift
    for _ in range(REFINEMENTS):  # between half of it, which is too little, and all
        trial = maximum(shift - step, none)
        lowest = lowest_pivot(work, constants, place, at_K, at, r, floor + trial)
        shift = select_ge(lowest * acts, none, trial, shift)
        step = 0.5 * step
    return shift
