"""A step of a tree in stages, so that something may come between them: ties between domains and trees.

Begin: predictors and frames. Then, for each pass, eliminate and substitute. The kernels are those of `step_kernels`,
which runs all stages in one call.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling import compiled
from supple.bodies.substructure.point_kernels import chain
from supple.bodies.substructure.step_kernels import (
    ELIMINATE,
    FITS,
    FORCES,
    FRAMES,
    SUBSTITUTE,
    coast,
    finish_pass,
    move_root,
    start_step,
    sweep,
)

BEGIN, RENEW, REDUCE, FINISH = 0, 1, 2, 3
"""Stages: predictors, frames and motion in the world; f and K; elimination; substitution, with motion if not still."""


@compiled
def run_stage(tree, storage, root, numbers, gravity, stage, still, coasts, threaded):
    """One stage of a step. still: no step, but the accelerations of now. coasts: begin with constant velocities."""
    by_q = 0.0 if still else numbers.beta * numbers.h * numbers.h
    by_v = 0.0 if still else numbers.gamma * numbers.h
    phase = FITS
    if stage == BEGIN:
        storage.bad[:] = 0.0
        storage.held_factors[0], storage.held_factors[1] = by_q, by_v
        if still:
            storage.q_p[:], storage.q_f[:], storage.v_p[:] = storage.q, storage.q, storage.v
            storage.slot_w[:3] = root.spin
        else:
            start_step(storage, root, numbers)
            if coasts:
                coast(storage, root, numbers)
            move_root(storage, root, numbers)
    elif stage == RENEW:
        phase = FORCES
    elif stage == REDUCE:
        phase = ELIMINATE
    else:
        finish_pass(storage, root, numbers, gravity, still)
        phase = SUBSTITUTE
    while True:
        sweep(tree, storage, phase, phase, numbers.coupling, by_q, by_v, threaded)
        if phase == FITS:
            phase = FRAMES
        elif phase == SUBSTITUTE and not still:
            phase = FITS
        else:
            break
    if phase == FRAMES:
        chain(tree, storage, root, gravity)
