"""A step of a tree in stages, so that something may come between them: ties between domains, answers to forces.

The functions are those of `step_kernels`, which runs all stages in one call.
"""

# mypy: ignore-errors
from __future__ import annotations

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.compiling.thread_team import STARTED, assemble, dismiss
from supple.bodies.tree.step.root_kernels import middle_root, push_root
from supple.bodies.tree.step.step_kernels import begin, correct, middle_time, move_root, predict
from supple.bodies.tree.step.sweep_kernels import (
    ELIMINATE,
    FORCES,
    FRAMES,
    INWARDS,
    OUTWARDS,
    SUBSTITUTE,
    TOGETHER,
    Work,
    assist,
    sweep,
)
from supple.bodies.tree.surface.point_kernels import chain

PREDICT, MIDDLE, RENEW, REDUCE, FINISH, END = 0, 1, 2, 3, 4, 5
"""Stages: start of a step; frames of its middle; f and K; elimination; substitution; frames of its end."""


@compiled(borrows=True)
def return_to_middle(workspace, root, numbers):
    """The middle of a step, by its present accelerations."""
    k = numbers.theta * numbers.h
    for n in range(len(workspace.q)):
        workspace.q[n] = workspace.q_p[n] + k * k * workspace.a[n]  # (T1)
        workspace.v[n] = workspace.v_p[n] + k * workspace.a[n]  # (T1)
    middle_root(workspace, root, numbers)


@compiled
def run_stage(tree, workspace, root, numbers, gravity, stage, team, members):
    """One stage of a step. The leader's part where there is a thread team."""
    keep_whole()
    k = middle_time(numbers, False)
    work = Work(team, members, numbers.coupling, k * k, k)
    team[STARTED] = 1
    first, second = FRAMES, FRAMES  # what is done from the root to the leaves, then to the leaves
    if stage == PREDICT:
        begin(workspace, work)
        predict(workspace, root, numbers)
        return
    if stage == MIDDLE:
        return_to_middle(workspace, root, numbers)
    elif stage == END:
        correct(workspace, root, numbers)
    elif stage == RENEW:
        first, second = np.int64(0), FORCES
    elif stage == REDUCE:
        first, second = np.int64(0), ELIMINATE
    elif stage == FINISH:
        move_root(workspace, root, numbers, gravity, False)
        first, second = SUBSTITUTE, SUBSTITUTE
    if first:
        sweep(tree, workspace, work, OUTWARDS, first)
    sweep(tree, workspace, work, TOGETHER, second)
    if stage == REDUCE:
        sweep(tree, workspace, work, INWARDS, ELIMINATE)
        push_root(workspace, root)
    elif stage in (MIDDLE, END):
        chain(tree, workspace, root, gravity)


@compiled(parallel=True)
def run_stage_together(tree, workspace, root, numbers, gravity, stage, team, members):
    """The same by so many threads."""
    assemble(team)
    for member in numba.prange(members):
        if member == 0:
            run_stage(tree, workspace, root, numbers, gravity, stage, team, members)
            dismiss(team)
        else:
            k = middle_time(numbers, False)
            assist(tree, workspace, team, np.int64(member), members, numbers.coupling, k * k, k)
