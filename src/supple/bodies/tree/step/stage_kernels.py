"""The first stages of a step of a tree, up to its elimination: what its responses to forces follow from.

The functions are those of `step_kernels`, which runs a step in one call.
"""

# mypy: ignore-errors
from __future__ import annotations

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.compiling.thread_team import STARTED, assemble, dismiss
from supple.bodies.tree.step.root_kernels import middle_root, push_root
from supple.bodies.tree.step.step_kernels import begin, middle_time, predict
from supple.bodies.tree.step.sweep_kernels import (
    ELIMINATE,
    FORCES,
    FRAMES,
    INWARDS,
    OUTWARDS,
    START,
    TOGETHER,
    Work,
    assist,
    sweep,
)
from supple.bodies.tree.surface.point_kernels import chain

PREDICT, MIDDLE, RENEW, REDUCE = 0, 1, 2, 3
"""Stages: start of a step; frames of its middle; f and K; elimination."""


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
        begin(tree, workspace, numbers, work)
        predict(tree, workspace, root, numbers)
        return
    if stage == MIDDLE:
        return_to_middle(workspace, root, numbers)
    elif stage == RENEW:
        first, second = np.int64(0), FORCES + START
    elif stage == REDUCE:
        first, second = np.int64(0), ELIMINATE
    if first:
        sweep(tree, workspace, work, OUTWARDS, first)
    sweep(tree, workspace, work, TOGETHER, second)
    if stage == REDUCE:
        sweep(tree, workspace, work, INWARDS, ELIMINATE)
        push_root(workspace, root)
    elif stage == MIDDLE:
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
