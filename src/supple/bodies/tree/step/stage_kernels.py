"""A step of a tree in stages, so that something may come between them: ties between domains and trees.

Begin: predictors and frames. Then, for each pass, eliminate and substitute. The kernels are those of `step_kernels`,
which runs all stages in one call.
"""

# mypy: ignore-errors
from __future__ import annotations

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.compiling.thread_team import STARTED, assemble, dismiss
from supple.bodies.tree.step.step_kernels import coast, fill, finish_pass, move_root, stand_still, start_step
from supple.bodies.tree.step.sweep_kernels import (
    ELIMINATE,
    FORCES,
    FRAMES,
    INWARDS,
    OUTWARDS,
    SUBSTITUTE,
    TOGETHER,
    assist,
    sweep,
)
from supple.bodies.tree.surface.point_kernels import chain

BEGIN, RENEW, REDUCE, FINISH = 0, 1, 2, 3
"""Stages: predictors, frames and motion in the world; f and K; elimination; substitution, with motion if not still."""


@compiled
def run_stage(tree, workspace, root, numbers, gravity, stage, still, coasts, team, members):
    """One stage of a step. still: no step, but the accelerations of now. coasts: begin with constant velocities.

    The leader's part where there is a thread team.
    """
    keep_whole()
    by_q = 0.0 if still else numbers.beta * numbers.h * numbers.h
    by_v = 0.0 if still else numbers.gamma * numbers.h
    team[STARTED] = 1
    way, todo = OUTWARDS, FRAMES
    if stage == BEGIN:
        fill(workspace.bad, 0.0)
        workspace.held_factors[0], workspace.held_factors[1] = by_q, by_v
        if still:
            stand_still(workspace, root)
        else:
            start_step(workspace, root, numbers)
            if coasts:
                coast(workspace, root, numbers)
            move_root(workspace, root, numbers)
    elif stage == RENEW:
        way, todo = TOGETHER, FORCES
    elif stage == REDUCE:
        way, todo = TOGETHER, ELIMINATE
    else:
        finish_pass(workspace, root, numbers, gravity, still)
        todo = SUBSTITUTE
    while True:
        sweep(tree, workspace, team, members, way, todo, numbers.coupling, by_q, by_v)
        if way == OUTWARDS:
            way = TOGETHER
        elif todo == ELIMINATE and way == TOGETHER:
            way = INWARDS
        elif todo == SUBSTITUTE and not still:
            way, todo = OUTWARDS, FRAMES
        else:
            break
    if todo == FRAMES:
        chain(tree, workspace, root, gravity)


@compiled(parallel=True)
def run_stage_together(tree, workspace, root, numbers, gravity, stage, still, coasts, team, members):
    """The same by so many threads."""
    assemble(team)
    for member in numba.prange(members):
        if member == 0:
            run_stage(tree, workspace, root, numbers, gravity, stage, still, coasts, team, members)
            dismiss(team)
        else:
            by_q = 0.0 if still else numbers.beta * numbers.h * numbers.h
            by_v = 0.0 if still else numbers.gamma * numbers.h
            assist(tree, workspace, team, np.int64(member), members, numbers.coupling, by_q, by_v)
