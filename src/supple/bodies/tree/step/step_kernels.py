"""Implicit Newmark steps of a whole tree: many steps in one call.

    q_p = q + h q' + h² (1/2 - b) q",   v_p = q' + h (1 - g) q",   q_1 = q_p + b h² q"_1,   q'_1 = v_p + g h q"_1
    (M + g h D + b h² K) q"_1 + ... = Q - f - K (q_p - q_f) - D v_p - ...,    D = alpha M + beta K

f and K are taken once a step, at the state q_f it starts from, and the tree is eliminated with these effective masses;
passes then repeat the coupling (frames, velocity terms, elimination) at the state of the end. A step that is iterated
takes f and K anew as well, until q" settles. A free root moves by the same rule, its velocity in world axes, and turns
by R_1 = R exp(h w + h² ((1/2 - b) w' + b w'_1)) in body axes.
How groups and threads share this is in `sweep_kernels`.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.compiling.thread_team import STARTED, assemble, dismiss
from supple.algebra.dense.ldlt import ldlt_factor, ldlt_solve
from supple.algebra.dense.rotation_kernels import quaternion_matrix, rotation_update
from supple.algebra.lanes.lane_type import LANES, load, store
from supple.bodies.tree.step.elimination_kernels import BIAS
from supple.bodies.tree.step.spatial_kernels import entry
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

Array = np.ndarray
FINE, SINGULAR, NOT_CONVERGED = 0, 1, 2


class StepNumbers(NamedTuple):
    """h [s], Newmark's beta and gamma, coupling (see `elimination_kernels`), passes a step; is_free: the root flies.

    most: iterations at most, where steps are iterated (else 0), to `epsilon` of the largest q". renews: f and K are
    taken anew in every pass.
    """

    h: float
    beta: float
    gamma: float
    coupling: int
    passes: int
    is_free: bool
    largest: int
    epsilon: float
    renews: bool


@compiled(borrows=True)
def turn_root(root, h, beta, start, rotation_out):
    """Quaternion of the root at the end of a step, from that at its start (4) and w, w' in `root`; see `advance`."""
    x = h * root.spin_0[0] + h * h * ((0.5 - beta) * root.alpha_0[0] + beta * root.alpha[0])
    y = h * root.spin_0[1] + h * h * ((0.5 - beta) * root.alpha_0[1] + beta * root.alpha[1])
    z = h * root.spin_0[2] + h * h * ((0.5 - beta) * root.alpha_0[2] + beta * root.alpha[2])
    q = rotation_update((start[0], start[1], start[2], start[3]), (x, y, z))
    for i in range(4):
        rotation_out[i] = q[i]


class Root(NamedTuple):
    """The root's frame. x, velocity, acceleration (3) in world axes; rotation (4); spin, alpha (3) in its own axes.

    Those with _0 are of the start of a step. inertia (6, 6), push (6): scratch for its equation.
    """

    x: Array
    rotation: Array
    velocity: Array
    spin: Array
    acceleration: Array
    alpha: Array
    x_0: Array
    rotation_0: Array
    velocity_0: Array
    spin_0: Array
    acceleration_0: Array
    alpha_0: Array
    inertia: Array
    push: Array

    @classmethod
    def empty(cls) -> Root:
        """A root at the origin, at rest."""
        sizes: dict[str, Any] = {"rotation": 4, "rotation_0": 4, "inertia": (6, 6), "push": 6}
        root = cls(*(np.zeros(sizes.get(name, 3)) for name in cls._fields))
        root.rotation[0] = root.rotation_0[0] = 1.0
        return root


@compiled(borrows=True)
def solve_root(workspace, root, gravity, is_free):
    """The root's acceleration, less gravity, into slot 0. False where its inertia is singular."""
    R = quaternion_matrix((root.rotation[0], root.rotation[1], root.rotation[2], root.rotation[3]))
    A, p, inertia = workspace.slot_A, root.push, root.inertia
    if is_free:
        for i in range(6):
            p[i] = -workspace.out[BIAS + i]
            for j in range(6):
                inertia[i, j] = workspace.out[entry(i, j)]
        if ldlt_factor(inertia) >= 0:
            return False
        ldlt_solve(inertia, p)
        for i in range(3):
            root.alpha[i] = p[i]
        for i in range(3):
            root.acceleration[i] = gravity[i] + R[3 * i] * p[3] + R[3 * i + 1] * p[4] + R[3 * i + 2] * p[5]
    else:
        for i in range(3):
            p[i] = 0.0
            p[3 + i] = -(R[i] * gravity[0] + R[3 + i] * gravity[1] + R[6 + i] * gravity[2])
    for i in range(6):
        A[i] = p[i]
    return True


@compiled(borrows=True)
def move_root(workspace, root, numbers):
    """The root at the end of a step, from its present accelerations; its spin into slot 0."""
    h, beta, gamma = numbers.h, numbers.beta, numbers.gamma
    if numbers.is_free:
        for i in range(3):
            a0, a1 = root.acceleration_0[i], root.acceleration[i]
            root.velocity[i] = root.velocity_0[i] + h * ((1.0 - gamma) * a0 + gamma * a1)
            root.x[i] = root.x_0[i] + h * root.velocity_0[i] + h * h * ((0.5 - beta) * a0 + beta * a1)
            root.spin[i] = root.spin_0[i] + h * ((1.0 - gamma) * root.alpha_0[i] + gamma * root.alpha[i])
        turn_root(root, h, beta, root.rotation_0, root.rotation)
    for i in range(3):
        workspace.slot_w[i] = root.spin[i]


@compiled(borrows=True)
def start_step(workspace, root, numbers):
    """Predictors, and the state they give with the accelerations of the step before."""
    h, beta, gamma = numbers.h, numbers.beta, numbers.gamma
    by_a, end = h * h * (0.5 - beta), beta * h * h
    for k in range(0, len(workspace.q), LANES):
        q, v, a = load(workspace.q, k), load(workspace.v, k), load(workspace.a, k)
        q_p, v_p = q + h * v + by_a * a, v + h * (1.0 - gamma) * a
        store(workspace.q_f, k, q)
        store(workspace.q_p, k, q_p)
        store(workspace.v_p, k, v_p)
        store(workspace.q, k, q_p + end * a)
        store(workspace.v, k, v_p + gamma * h * a)
    for i in range(3):
        root.x_0[i], root.velocity_0[i], root.spin_0[i] = root.x[i], root.velocity[i], root.spin[i]
        root.acceleration_0[i], root.alpha_0[i] = root.acceleration[i], root.alpha[i]
    for i in range(4):
        root.rotation_0[i] = root.rotation[i]


@compiled(borrows=True)
def coast(workspace, root, numbers):
    """Begin the passes of a step with constant velocities, q = q_0 + h q'_0.

    The accelerations of the step before, with which they begin else, ring where springs are stiff.
    a = -(1/2 - b) / b a_0 gives that q and, for b = 1/4 and g = 1/2, q' = q'_0.
    """
    h, beta, gamma = numbers.h, numbers.beta, numbers.gamma
    factor = -(0.5 - beta) / beta
    for k in range(len(workspace.q)):
        a = factor * workspace.a[k]
        workspace.a[k] = a
        workspace.q[k] = workspace.q_p[k] + beta * h * h * a
        workspace.v[k] = workspace.v_p[k] + gamma * h * a
    for i in range(3):
        root.acceleration[i] *= factor
        root.alpha[i] *= factor


@compiled(borrows=True)
def settled(workspace):
    """Largest change of q" over the largest q"."""
    change, size = 0.0, 0.0
    for k in range(0, len(workspace.change), 2 * LANES):
        for b in range(LANES):
            change, size = max(change, workspace.change[k + b]), max(size, workspace.change[k + LANES + b])
    return change / size if size > 0.0 else 0.0


@compiled(borrows=True)
def finish_pass(workspace, root, numbers, gravity, is_last):
    """The root's acceleration after an elimination and, unless a pass is the last, its new frame."""
    if not solve_root(workspace, root, gravity, numbers.is_free):
        workspace.bad[0] = 1.0
    if not is_last:
        move_root(workspace, root, numbers)


@compiled(borrows=True)
def is_singular(workspace):
    """Whether a matrix was."""
    found = 0.0
    for g in range(len(workspace.bad)):
        found += workspace.bad[g]
    return found > 0.0


@compiled(borrows=True)
def stand_still(workspace, root):
    """No step: the predicted state is that of now."""
    for k in range(len(workspace.q)):
        workspace.q_p[k], workspace.q_f[k], workspace.v_p[k] = workspace.q[k], workspace.q[k], workspace.v[k]
    for i in range(3):
        workspace.slot_w[i] = root.spin[i]


@compiled(borrows=True)
def fill(a, value):
    """All numbers of an array."""
    for k in range(len(a)):
        a[k] = value


@compiled
def advance(tree, workspace, root, numbers, gravity, steps, team, members, found_out):
    """`steps` steps; none: only the accelerations of now. The leader's part where there is a thread team.

    found_out (4): outcome, steps done, most passes of a step, last change of q". A pass finishes the one before if that
    has been left, finds the frames of now and new forces, eliminates, and finds the new state. All sweeps go through
    one place, since each call of a kernel is compiled into its caller.
    """
    keep_whole()
    still = steps == 0
    by_q = 0.0 if still else numbers.beta * numbers.h * numbers.h
    by_v = 0.0 if still else numbers.gamma * numbers.h
    largest, change, outcome, done = 0, 0.0, FINE, steps
    iterates, is_held = numbers.largest > 0 and not still, len(workspace.held_place) > 0
    defers = not (iterates or numbers.renews)
    limit = 1 if still else (numbers.largest if iterates else numbers.passes)
    team[STARTED] = 1
    fill(workspace.bad, 0.0)
    workspace.held_factors[0], workspace.held_factors[1] = by_q, by_v
    for step in range(1 if still else steps):
        if still:
            stand_still(workspace, root)
        else:
            start_step(workspace, root, numbers)
            if is_held:
                coast(workspace, root, numbers)
            move_root(workspace, root, numbers)
        passes, phase, left = 0, 0, 0  # left: what the pass before has not done
        while True:
            is_last = not iterates and passes == limit - 1
            way, todo = OUTWARDS, FRAMES + left
            if phase == 1:
                if is_held:
                    chain(tree, workspace, root, gravity)
                way, todo = TOGETHER, FRAMES + ELIMINATE + left
                if passes == 0 or not defers:
                    todo += FORCES
                left = 0
            elif phase == 2:
                way, todo = INWARDS, ELIMINATE
            elif phase > 2:
                way, todo = OUTWARDS if phase == 3 else TOGETHER, SUBSTITUTE
            sweep(tree, workspace, team, members, way, todo, numbers.coupling, by_q, by_v)
            phase += 1
            if phase == 3:
                finish_pass(workspace, root, numbers, gravity, is_last)
                if defers and not is_last:
                    passes, phase, left = passes + 1, 0, SUBSTITUTE
            elif phase == 5:
                passes += 1
                change = settled(workspace)
                if passes == limit or (iterates and passes > 1 and change <= numbers.epsilon):
                    break
                phase = 0
                for k in range(len(workspace.q)):
                    workspace.q_f[k] = workspace.q[k]
        if not still:
            move_root(workspace, root, numbers)
        largest = max(largest, passes)
        if not np.isfinite(change) or is_singular(workspace):
            outcome, done = SINGULAR, step
            break
        if iterates and change > numbers.epsilon:
            outcome, done = NOT_CONVERGED, step
            break
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
            by_q = 0.0 if steps == 0 else numbers.beta * numbers.h * numbers.h
            by_v = 0.0 if steps == 0 else numbers.gamma * numbers.h
            assist(tree, workspace, team, np.int64(member), members, numbers.coupling, by_q, by_v)
