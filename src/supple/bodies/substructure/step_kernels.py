"""Implicit Newmark steps of a whole tree: many steps in one call.

    q_p = q + h q' + h² (1/2 - b) q",   v_p = q' + h (1 - g) q",   q_1 = q_p + b h² q"_1,   q'_1 = v_p + g h q"_1
    (M + g h D + b h² K) q"_1 + ... = Q - f - K (q_p - q_f) - D v_p - ...,    D = alpha M + beta K

f and K are taken once a step, at the state q_f it starts from, and the tree is eliminated with these effective masses;
passes then repeat the coupling (frames, velocity terms, elimination) at the state of the end. A step that is iterated
takes f and K anew as well, until q" settles. A free root moves by the same rule, its velocity in world axes, and turns
by R_1 = R exp(h w + h² ((1/2 - b) w' + b w'_1)) in body axes.

A leaf, a group without ports, is asked for its frames by its own elimination alone. So where nothing comes between,
its substitution and its frames wait for the next elimination, and a pass visits it once, while it is in the cache.

Threads share the groups of a level; every group is computed alone and its children are summed in a fixed order, so
the result has the same bits for any number of them.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from supple.algebra.compiling import compiled
from supple.algebra.lanes import LANES, load, store
from supple.algebra.ldlt import ldlt_factor, ldlt_solve
from supple.algebra.rotation_kernels import quaternion_matrix, rotation_update
from supple.bodies.substructure.constants import Constants
from supple.bodies.substructure.effective_kernels import compute_forces
from supple.bodies.substructure.elimination_kernels import BIAS, eliminate_group, substitute_group
from supple.bodies.substructure.frame_kernels import compute_fit, compute_frames
from supple.bodies.substructure.point_kernels import chain
from supple.bodies.substructure.spatial_kernels import entry
from supple.modal.interface_kernels import FitArrays
from supple.modal.lone_force_kernels import LoneArrays

Array = np.ndarray
FINE, SINGULAR, NOT_CONVERGED = 0, 1, 2
NOTHING, FORCES, FITS, FRAMES, ELIMINATE, SUBSTITUTE = 0, 1, 2, 4, 8, 16
"""Phases. The last three go level by level, and a group may do several: substitute, then frames, then eliminate."""
ENOUGH = 8
"""Batches and single groups of forces from which threads pay, or groups for frames alone; else see `grouping`."""
ENOUGH_FITS, FITS_AT_ONCE = 64, 8
"""Ports from which threads pay, and that a thread takes at once."""
ENOUGH_SUBSTITUTED, BEARER = 128, 16
"""Groups of a level from which threads pay for a substitution alone, and as how many of them one with ports counts."""


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
    most: int
    epsilon: float
    renews: bool


@compiled(borrows=True)
def treat(tree, storage, phase, leaves, coupling, by_q, by_v, room, first, last):
    """Phases of groups first ... last - 1; for fits, of ports; for forces, of `force_groups`.

    leaves: phases of groups without ports.
    """
    shared = Constants(
        tree.fixed, tree.mass, tree.U_bar, tree.W5, tree.W7,
        FitArrays(tree.port_x, tree.port_A, tree.port_a, tree.port_modes), tree.port_start,
    )  # fmt: skip
    own = Constants(
        tree.own_fixed, tree.own_mass, tree.own_U_bar, tree.own_W5, tree.own_W7,
        FitArrays(tree.own_port_x, tree.own_port_A, tree.own_port_a, tree.own_port_modes), tree.own_port_start,
    )  # fmt: skip
    lone = LoneArrays(tree.lone_linear, tree.lone_strips, tree.lone_tiles)
    for k in range(first, last):
        if phase == FORCES:
            compute_forces(tree, storage, shared, own, lone, by_q, by_v, room, tree.force_groups[k])
            continue
        if phase == FITS:
            if tree.group_class[tree.fit_group[k]] < len(tree.lone_starts):
                compute_fit(tree, storage, shared, tree.fit_group[k], tree.fit_port[k])
            else:
                compute_fit(tree, storage, own, tree.fit_group[k], tree.fit_port[k])
            continue
        todo = phase if tree.group_ports[k] > 0 else leaves
        if todo & SUBSTITUTE:
            substitute_group(tree, storage, by_q, by_v, k)
        if todo & FRAMES:
            if tree.group_class[k] < len(tree.lone_starts):
                compute_frames(tree, storage, shared, k)
            else:
                compute_frames(tree, storage, own, k)
        if todo & ELIMINATE and eliminate_group(tree, storage, coupling, k) >= 0:
            storage.bad[k] = 1.0


@compiled(parallel=True)
def treat_parallel(tree, storage, phase, leaves, coupling, by_q, by_v, start, stop):
    """The same for pieces start ... stop - 1, for fits, or for batches and single groups of forces, by threads."""
    for piece in numba.prange(start, stop):
        first, last = np.int64(piece), np.int64(piece) + 1
        if phase == FITS:
            first, last = FITS_AT_ONCE * first, min(FITS_AT_ONCE * last, len(tree.fit_group))
        elif phase != FORCES:
            first, last = tree.piece_start[first], tree.piece_start[last]
        treat(tree, storage, phase, leaves, coupling, by_q, by_v, tree.room_start[numba.get_thread_id()], first, last)


@compiled
def sweep(tree, storage, phase, leaves, coupling, by_q, by_v, threaded):
    """Phases over all levels, those of groups without ports being `leaves`: outwards, or to the root if eliminating."""
    levels = len(tree.level_start) - 1
    for round in range(1 if phase < FRAMES else levels):
        level = levels - 1 - round if phase == ELIMINATE else round
        first, last = tree.level_start[level], tree.level_start[level + 1]
        pays, start, stop = tree.level_pays[level], tree.level_piece[level], tree.level_piece[level + 1]
        if phase == FORCES:
            first, last = 0, len(tree.force_groups)
            pays, start, stop = last >= ENOUGH, first, last
        elif phase == FITS:
            first, last = 0, len(tree.fit_group)
            pays, start, stop = last >= ENOUGH_FITS, 0, (last + FITS_AT_ONCE - 1) // FITS_AT_ONCE
        elif leaves == NOTHING:
            if tree.level_bears[level] == 0:
                continue
            pays = pays and tree.level_bears[level] >= ENOUGH
        elif phase == SUBSTITUTE:
            pays = pays and last - first + BEARER * tree.level_bears[level] >= ENOUGH_SUBSTITUTED
        if threaded and pays:
            treat_parallel(tree, storage, phase, leaves, coupling, by_q, by_v, start, stop)
        else:
            treat(tree, storage, phase, leaves, coupling, by_q, by_v, 0, first, last)


@compiled
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

    Those with _0 are of the start of a step.
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

    @classmethod
    def empty(cls) -> Root:
        """A root at the origin, at rest."""
        root = cls(*(np.zeros(4 if name.startswith("rotation") else 3) for name in cls._fields))
        root.rotation[0] = root.rotation_0[0] = 1.0
        return root


@compiled
def solve_root(storage, root, gravity, is_free):
    """The root's acceleration, less gravity, into slot 0. False where its inertia is singular."""
    R = quaternion_matrix((root.rotation[0], root.rotation[1], root.rotation[2], root.rotation[3]))
    A, p = storage.slot_A, np.zeros(6)
    g = np.empty(3)
    for i in range(3):
        g[i] = R[i] * gravity[0] + R[3 + i] * gravity[1] + R[6 + i] * gravity[2]
    if is_free:
        inertia = np.empty((6, 6))
        for i in range(6):
            p[i] = -storage.out[BIAS + i]
            for j in range(6):
                inertia[i, j] = storage.out[entry(i, j)]
        if ldlt_factor(inertia) >= 0:
            return False
        ldlt_solve(inertia, p)
        for i in range(3):
            root.alpha[i] = p[i]
        for i in range(3):
            root.acceleration[i] = gravity[i] + R[3 * i] * p[3] + R[3 * i + 1] * p[4] + R[3 * i + 2] * p[5]
    else:
        for i in range(3):
            p[3 + i] = -g[i]
    for i in range(6):
        A[i] = p[i]
    return True


@compiled
def move_root(storage, root, numbers):
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
        storage.slot_w[i] = root.spin[i]


@compiled
def start_step(storage, root, numbers):
    """Predictors, and the state they give with the accelerations of the step before."""
    h, beta, gamma = numbers.h, numbers.beta, numbers.gamma
    by_a, end = h * h * (0.5 - beta), beta * h * h
    for k in range(0, len(storage.q), LANES):
        q, v, a = load(storage.q, k), load(storage.v, k), load(storage.a, k)
        q_p, v_p = q + h * v + by_a * a, v + h * (1.0 - gamma) * a
        store(storage.q_f, k, q)
        store(storage.q_p, k, q_p)
        store(storage.v_p, k, v_p)
        store(storage.q, k, q_p + end * a)
        store(storage.v, k, v_p + gamma * h * a)
    root.x_0[:], root.rotation_0[:], root.velocity_0[:] = root.x, root.rotation, root.velocity
    root.spin_0[:], root.acceleration_0[:], root.alpha_0[:] = root.spin, root.acceleration, root.alpha


@compiled
def coast(storage, root, numbers):
    """Begin the passes of a step with constant velocities, q = q_0 + h q'_0.

    The accelerations of the step before, with which they begin else, ring where springs are stiff.
    a = -(1/2 - b) / b a_0 gives that q and, for b = 1/4 and g = 1/2, q' = q'_0.
    """
    h, beta, gamma = numbers.h, numbers.beta, numbers.gamma
    factor = -(0.5 - beta) / beta
    for k in range(len(storage.q)):
        a = factor * storage.a[k]
        storage.a[k] = a
        storage.q[k] = storage.q_p[k] + beta * h * h * a
        storage.v[k] = storage.v_p[k] + gamma * h * a
    for i in range(3):
        root.acceleration[i] *= factor
        root.alpha[i] *= factor


@compiled
def settled(storage):
    """Largest change of q" over the largest q"."""
    change, size = 0.0, 0.0
    for g in range(len(storage.change) // 2):
        change, size = max(change, storage.change[2 * g]), max(size, storage.change[2 * g + 1])
    return change / size if size > 0.0 else 0.0


@compiled
def finish_pass(storage, root, numbers, gravity, is_last):
    """The root's acceleration after an elimination and, unless a pass is the last, its new frame."""
    if not solve_root(storage, root, gravity, numbers.is_free):
        storage.bad[0] = 1.0
    if not is_last:
        move_root(storage, root, numbers)


@compiled
def is_singular(storage):
    """Whether a matrix was."""
    found = 0.0
    for g in range(len(storage.bad)):
        found += storage.bad[g]
    return found > 0.0


@compiled
def advance(tree, storage, root, numbers, gravity, steps, threaded):
    """`steps` steps; none: only the accelerations of now.

    Returns (outcome, steps done, most passes of a step, last change of q").
    A pass finds the frames of now, unless they are there, eliminates, and finds the new state. All phases go through
    one place, since each call of a kernel is compiled into its caller.
    """
    still = steps == 0
    by_q = 0.0 if still else numbers.beta * numbers.h * numbers.h
    by_v = 0.0 if still else numbers.gamma * numbers.h
    most, change = 0, 0.0
    iterates = numbers.most > 0 and not still
    defers = not (iterates or numbers.renews) and len(storage.held_place) == 0
    limit = 1 if still else (numbers.most if iterates else numbers.passes)
    storage.bad[:] = 0.0
    storage.held_factors[0], storage.held_factors[1] = by_q, by_v
    for step in range(1 if still else steps):
        if still:
            storage.q_p[:], storage.q_f[:], storage.v_p[:] = storage.q, storage.q, storage.v
            storage.slot_w[:3] = root.spin
        else:
            start_step(storage, root, numbers)
            if len(storage.held_place) > 0:
                coast(storage, root, numbers)
            move_root(storage, root, numbers)
        passes, phase = 0, FITS  # of every pass: FITS, FRAMES, FORCES where they are new, ELIMINATE, SUBSTITUTE
        while True:
            is_last = not iterates and passes == limit - 1
            if phase == ELIMINATE and len(storage.held_place) > 0:
                chain(tree, storage, root, gravity)
            if phase == SUBSTITUTE:
                finish_pass(storage, root, numbers, gravity, is_last)
            leaves = phase
            if defers and phase == ELIMINATE:
                leaves = FRAMES + ELIMINATE + (SUBSTITUTE if passes > 0 else NOTHING)
            elif defers and (phase == FRAMES or not is_last):
                leaves = NOTHING
            sweep(tree, storage, phase, leaves, numbers.coupling, by_q, by_v, threaded)
            if phase == FITS:
                phase = FRAMES
            elif phase == FRAMES:
                phase = FORCES if passes == 0 or iterates or numbers.renews else ELIMINATE
            elif phase == FORCES:
                phase = ELIMINATE
            elif phase == ELIMINATE:
                phase = SUBSTITUTE
            else:
                passes += 1
                change = settled(storage)
                if passes == limit or (iterates and passes > 1 and change <= numbers.epsilon):
                    break
                if iterates or numbers.renews:
                    storage.q_f[:] = storage.q
                phase = FITS
        if not still:
            move_root(storage, root, numbers)
        most = max(most, passes)
        if not np.isfinite(change) or is_singular(storage):
            return SINGULAR, step, most, change
        if iterates and change > numbers.epsilon:
            return NOT_CONVERGED, step, most, change
    return FINE, steps, most, change
