"""A step of a whole tree, many steps in one call: implicit to a state in its middle, and on from there to its end.

With k = theta h, a pass solves for the accelerations q" of the middle, all domains and the root together:

    q_m = q_0 + k u,   u = q'_0 + k q"                                                         [theory.md, T1]
    (M + k D + k² K) q" + ... = Q - f(q_f) - K(q_f) (q_0 + k q'_0 - q_f) - D q'_0 - ...,       D = alpha M + beta K, T2
    q_1 = q_0 + h u = q_m + (h - k) u,   q'_1 = q'_0 + h q" = u + (h - k) q"                   [T3]

theta = 1/2 is the midpoint rule, theta = 1 implicit Euler. Masses, velocity terms and loads are those of the state that
the pass before found for the middle; f and K too where they are renewed, by their change [T15], else they stay those of
the first pass. That begins with constant velocities, q_f = q_0 + k q'_0 [T4], so that a step depends on q and q' alone.
Where the last pass still moves the tree by more than `settled` of its motion (`unsettled`), one more is taken.
Steps that are iterated take f and K anew in every pass. A free root ends on the momentum that what acts leaves it,
`momentum_kernels`. How groups and threads share the work is in `sweep_kernels`.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.compiling.thread_team import STARTED, assemble, dismiss
from supple.algebra.lanes.lane_type import LANES, load, store
from supple.bodies.tree.step.momentum_kernels import end_on_targets, keep_momentum, move_targets, start_targets
from supple.bodies.tree.step.outer_kernels import sum_outer
from supple.bodies.tree.step.root_kernels import end_root, middle_root, push_root, solve_root, start_root
from supple.bodies.tree.step.sweep_kernels import (
    CHANGE,
    ELIMINATE,
    FORCES,
    FRAMES,
    INWARDS,
    MOMENTUM,
    OUTWARDS,
    START,
    SUBSTITUTE,
    TOGETHER,
    Work,
    assist,
    sweep,
)
from supple.bodies.tree.surface.point_kernels import chain

FINE, SINGULAR, NOT_CONVERGED = 0, 1, 2
REACHED = 1e-6
"""Of the coordinates, over h^2: accelerations below this are not told apart from none. 1e-8 of it, the default of
`epsilon`, is a hundred units in the last place."""


class StepNumbers(NamedTuple):
    """h [s], theta, coupling (see `elimination_kernels`), passes a step; is_free: the root flies.

    largest: iterations at most, where steps are iterated (else 0), to `epsilon` of the largest q". renews: f and K are
    those of every pass. is_loaded: wrenches act on domains. settled: how unsettled passes may be without one more.
    """

    h: float
    theta: float
    coupling: int
    passes: int
    is_free: bool
    largest: int
    epsilon: float
    renews: bool
    is_loaded: bool
    settled: float


@compiled(inline=True)
def middle_time(numbers, still):
    """k, where in a step its equations hold; 0 without a step, for the accelerations of now."""
    return 0.0 if still else numbers.theta * numbers.h


@compiled(borrows=True)
def predict(tree, workspace, root, numbers):
    """What a step starts from, and its middle by constant velocities [theory.md, T4]."""
    k = numbers.theta * numbers.h
    for at in range(0, len(workspace.q), LANES):
        v = load(workspace.v, at)
        q_m = load(workspace.q, at) + k * v  # (T4)
        store(workspace.q_p, at, q_m)
        store(workspace.v_p, at, v)
        store(workspace.q_f, at, q_m)
        store(workspace.q, at, q_m)
        store(workspace.a, at, v * 0.0)
    for g in range(len(workspace.ended)):
        if workspace.ended[g] > 0.0:
            back = k * load(workspace.ends, g * LANES)
            for at in range(tree.group_q[g], tree.group_q[g + 1], LANES):
                store(workspace.q_f, at, load(workspace.q_p, at) - back * load(workspace.v_p, at))  # (T16)
    start_root(root)
    middle_root(workspace, root, numbers)


@compiled(borrows=True)
def stand_still(workspace, root):
    """No step: the middle is the state of now."""
    for k in range(len(workspace.q)):
        workspace.q_p[k], workspace.q_f[k], workspace.v_p[k] = workspace.q[k], workspace.q[k], workspace.v[k]
    for i in range(3):
        workspace.slot_w[i] = root.spin[i]


@compiled(borrows=True)
def solve_middle(tree, workspace, root, numbers, gravity, work, still):
    """Accelerations and state in the middle of a step, in passes; returns how many, and the last change of q".

    A pass leaves its substitution to the next one, so that one visit of a group serves both.
    """
    keep_whole()
    iterates = numbers.largest > 0 and not still
    limit = 1 if still else (numbers.largest if iterates else numbers.passes)
    is_chained = len(workspace.held_place) > 0 or (numbers.is_free and numbers.is_loaded)
    passes, left, change, moved = 0, np.int64(0), 0.0, 0.0
    while True:
        # fit the frames
        sweep(tree, workspace, work, OUTWARDS, left + FRAMES)
        if is_chained:
            chain(tree, workspace, root, gravity)
        # forces; eliminate, the leaves first
        forces = FORCES if iterates else (CHANGE if numbers.renews else np.int64(0))
        if passes == 0:
            forces = FORCES + START
        sweep(tree, workspace, work, TOGETHER, left + FRAMES + forces + ELIMINATE)
        sweep(tree, workspace, work, INWARDS, ELIMINATE)
        push_root(workspace, root)
        # substitute, the root first
        move_root(workspace, root, numbers, gravity, still)
        passes, left = passes + 1, SUBSTITUTE
        if iterates or passes == limit:
            sweep(tree, workspace, work, OUTWARDS, SUBSTITUTE)
            sweep(tree, workspace, work, TOGETHER, SUBSTITUTE)
            change, left = last_change(workspace, numbers.h), np.int64(0)
            if passes == limit > 1 and not iterates:
                moved = unsettled(workspace, numbers.h)
                limit += 1 if passes == numbers.passes and moved > numbers.settled else 0
            if passes == limit or (passes > 1 and change <= numbers.epsilon):
                workspace.moved[0] = max(workspace.moved[0], moved)
                return passes, change


@compiled(borrows=True)
def move_root(workspace, root, numbers, gravity, still):
    """The root's acceleration after an elimination, and where it is in the middle of the step."""
    if not solve_root(workspace, root, gravity, numbers.is_free):
        workspace.bad[0] = 1.0
    if not still:
        middle_root(workspace, root, numbers)


@compiled(borrows=True)
def correct(workspace, root, numbers):
    """From the middle of a step to its end [theory.md, T3]."""
    rest = (1.0 - numbers.theta) * numbers.h
    for at in range(0, len(workspace.q), LANES):
        u = load(workspace.v, at)
        store(workspace.q, at, load(workspace.q, at) + rest * u)  # (T3)
        store(workspace.v, at, u + rest * load(workspace.a, at))  # (T3)
    end_root(workspace, root, numbers)


@compiled(borrows=True)
def find_momentum(tree, workspace, root, work):
    """Inertia and relative momentum of the whole tree at the state of now [theory.md, T6]."""
    keep_whole()
    sweep(tree, workspace, work, TOGETHER, MOMENTUM)
    sweep(tree, workspace, work, INWARDS, MOMENTUM)
    keep_momentum(workspace, root)


@compiled(borrows=True)
def largest_changes(workspace):
    """The largest change of q" in the last pass, and the largest q"."""
    change, size = 0.0, 0.0
    for k in range(0, len(workspace.change), 2 * LANES):
        for b in range(LANES):
            change, size = max(change, workspace.change[k + b]), max(size, workspace.change[k + LANES + b])
    return change, size


@compiled(borrows=True)
def way(workspace, h):
    """The largest q as a step of h [s] begins, and how far its rate would lead within the step."""
    q_most, v_most = 0.0, 0.0
    for k in range(len(workspace.q_p)):
        q_most, v_most = max(q_most, abs(workspace.q_p[k])), max(v_most, abs(workspace.v_p[k]))
    return q_most + h * v_most


@compiled
def last_change(workspace, h):
    """Largest change of q" in the last pass over the largest q".

    Where nothing speeds up, as in a steady spin, q" is the round-off of forces that balance: never taken as less than
    what `REACHED` of the coordinates in a step of h [s] would be.
    """
    change, size = largest_changes(workspace)
    size += REACHED * way(workspace, h) / (h * h) if h > 0.0 else 0.0
    return change / size if size > 0.0 else 0.0


@compiled
def unsettled(workspace, h):
    """How much the last pass of a step of h [s] changed the coordinates, over their size and way as it began.

    A step that jumps would hide that behind the size of where it ends.
    """
    changed, a = largest_changes(workspace)
    size = h * h * a + way(workspace, h)
    return h * h * changed / size if size > 0.0 else 0.0


@compiled(borrows=True)
def is_singular(workspace):
    """Whether a matrix was."""
    found = 0.0
    for g in range(len(workspace.bad)):
        found += workspace.bad[g]
    return found > 0.0


@compiled(borrows=True)
def begin(tree, workspace, numbers, work):
    """Steps begin: their weights for springs, which forces are at their ends; none is unsettled or singular yet."""
    workspace.span[0], workspace.moved[0] = numbers.h, 0.0
    workspace.pulled[0] = float(workspace.held_start[len(workspace.held_start) - 1])
    for g in range(len(workspace.ended)):
        workspace.ended[g] = 0.0
        for place in range(g * LANES, (g + 1) * LANES):
            is_ended = tree.thin[place] > 0.0 and work.by_v > 0.0 and 2.0 * workspace.beta[place] >= numbers.h
            workspace.ends[place] = 1.0 if is_ended else 0.0
            workspace.ended[g] += workspace.ends[place]
            workspace.shift[place] = 0.0
    workspace.held_factors[0], workspace.held_factors[1] = work.by_q, work.by_v
    for g in range(len(workspace.bad)):
        workspace.bad[g] = 0.0


@compiled
def advance(tree, workspace, root, numbers, gravity, steps, team, members, found_out):
    """`steps` steps; none: only the accelerations of now. The leader's part where there is a thread team.

    found_out (4): outcome, steps done, most passes of a step, last change of q".
    """
    keep_whole()
    still = steps == 0
    k = middle_time(numbers, still)
    work = Work(team, members, numbers.coupling, k * k, k)
    team[STARTED] = 1
    begin(tree, workspace, numbers, work)
    flies, largest, outcome, done = numbers.is_free and not still, 0, FINE, 0
    while outcome == FINE and done < max(steps, 1):
        if flies:
            if root.known[0] == 0.0:
                find_momentum(tree, workspace, root, work)
            start_targets(root)
        if still:
            stand_still(workspace, root)
        else:
            predict(tree, workspace, root, numbers)
        passes, change = solve_middle(tree, workspace, root, numbers, gravity, work, still)
        if flies:
            sum_outer(tree, workspace, root, numbers.is_loaded)
            move_targets(root, numbers, gravity)
        if not still:
            correct(workspace, root, numbers)
        if flies:
            find_momentum(tree, workspace, root, work)
            end_on_targets(workspace, root)
            end_on_targets(workspace, root)  # once more for round-off
        largest = max(largest, passes)
        if not np.isfinite(change) or is_singular(workspace):
            outcome = SINGULAR
        elif not still and numbers.largest > 0 and change > numbers.epsilon:
            outcome = NOT_CONVERGED
        else:
            done += 1
    found_out[0], found_out[1], found_out[2], found_out[3] = outcome, done, largest, change


@compiled(parallel=True)
def advance_together(tree, workspace, root, numbers, gravity, steps, team, members, found_out):
    """The same by so many threads."""
    assemble(team)
    for member in numba.prange(members):
        if member == 0:
            advance(tree, workspace, root, numbers, gravity, steps, team, members, found_out)
            dismiss(team)
        else:
            k = middle_time(numbers, steps == 0)
            assist(tree, workspace, team, np.int64(member), members, numbers.coupling, k * k, k)
