"""The root's frame in a step of a tree: its equation, its motion to the middle and to the end of the step.

    I A = -p,   p -= R^T (t, f)            A = (alpha, a) in own axes, gravity left out; I, p: of the eliminated tree
    w_m = w_0 + k alpha,   v_m = v_0 + k (g + R a),   x_m = x_0 + k v_m                            [theory.md, T1, T3]
    Q_1 = Q_0 (1, h/2 w_m) / |.|,   Q_m = ((1 - theta) Q_0 + theta Q_1) / |.|                      Cayley's map, T5

Spins w and their rates are in the root's axes, x, v and the outer force f and torque t in the world's. Cayley's map and
not the exponential: J (w_1 - w_0) = h J w_m x w_m is the same as R_1 J w_1 = R_0 J w_0, so a rigid root keeps its
angular momentum exactly.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.algebra.compiling.by_address import ByAddress
from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.ldlt import ldlt_factor, ldlt_solve
from supple.algebra.dense.rotation_kernels import matrix_rotate as turned
from supple.algebra.dense.rotation_kernels import matrix_rotate_inverse as turned_back
from supple.algebra.dense.rotation_kernels import quaternion_matrix, quaternion_multiply, quaternion_normalise
from supple.bodies.tree.step.elimination_kernels import BIAS
from supple.bodies.tree.step.spatial_kernels import entry

Array = np.ndarray


class Root(NamedTuple):
    """The root's frame. x, velocity, acceleration (3) in world axes; rotation (4); spin, alpha (3) in its own axes.

    Those with _0 are of the start of a step. push (6): force at its origin and torque, in world axes, from outside.
    inertia (6, 6), right (6): scratch for its equation. whole (27): inertia and relative momentum of the whole tree,
    `momentum_kernels`; known (1): 1 where they are those of the state. target (9): momentum, angular momentum about the
    centre of mass, centre of mass. outer (6): force, and torque about the root's origin, of all that acts.
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
    push: Array
    inertia: Array
    right: Array
    whole: Array
    known: Array
    target: Array
    outer: Array

    @classmethod
    def empty(cls) -> Root:
        """A root at the origin, at rest."""
        sizes: dict[str, Any] = {"rotation": 4, "rotation_0": 4, "inertia": (6, 6), "right": 6, "push": 6}
        sizes |= {"whole": 27, "known": 1, "target": 9, "outer": 6}
        root = cls(*(np.zeros(sizes.get(name, 3)) for name in cls._fields))
        root.rotation[0] = root.rotation_0[0] = 1.0
        return root

    def by_address(self) -> ByAddress:
        """As the kernels take it."""
        return ByAddress(self)


@compiled(inline=True)
def root_matrix(root):
    """R of the root's frame, nine values."""
    return quaternion_matrix((root.rotation[0], root.rotation[1], root.rotation[2], root.rotation[3]))


@compiled(inline=True)
def vector(a, at):
    """Three numbers."""
    return a[at], a[at + 1], a[at + 2]


@compiled(borrows=True)
def push_root(workspace, root):
    """What pushes the root, in world axes, to what the eliminated tree shows."""
    R = root_matrix(root)
    f, t = turned_back(R, vector(root.push, 0)), turned_back(R, vector(root.push, 3))
    for i in range(3):
        workspace.out[BIAS + i] -= t[i]
        workspace.out[BIAS + 3 + i] -= f[i]


@compiled(borrows=True)
def solve_root(workspace, root, gravity, is_free):
    """The root's acceleration, less gravity, into slot 0. False where its inertia is singular."""
    R = root_matrix(root)
    A, p, inertia = workspace.slot_A, root.right, root.inertia
    if is_free:
        for i in range(6):
            p[i] = -workspace.out[BIAS + i]
            for j in range(6):
                inertia[i, j] = workspace.out[entry(i, j)]
        if ldlt_factor(inertia) >= 0:
            return False
        ldlt_solve(inertia, p)  # (12.8)
        a = turned(R, vector(p, 3))
        for i in range(3):
            root.alpha[i] = p[i]
            root.acceleration[i] = gravity[i] + a[i]
    else:
        g = turned_back(R, vector(gravity, 0))
        for i in range(3):
            p[i] = 0.0
            p[3 + i] = -g[i]
    for i in range(6):
        A[i] = p[i]
    return True


@compiled(borrows=True)
def turn_root(root, h, theta):
    """Quaternion of the root after the part theta of a step h, with its present spin, from that at the start."""
    w, start = vector(root.spin, 0), root.rotation_0
    n = 1.0 / np.sqrt(1.0 + 0.25 * h * h * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]))
    s = 0.5 * h * theta * n
    turn = (1.0 - theta + theta * n, s * w[0], s * w[1], s * w[2])  # [theory.md, T5]
    q = quaternion_normalise(quaternion_multiply((start[0], start[1], start[2], start[3]), turn))
    for i in range(4):
        root.rotation[i] = q[i]


@compiled(borrows=True)
def start_root(root):
    """The root at the start of a step, with no accelerations yet."""
    root.known[0] = 0.0
    for i in range(3):
        root.x_0[i], root.velocity_0[i], root.spin_0[i] = root.x[i], root.velocity[i], root.spin[i]
        root.acceleration[i], root.alpha[i] = 0.0, 0.0
    for i in range(4):
        root.rotation_0[i] = root.rotation[i]


@compiled(borrows=True)
def middle_root(workspace, root, numbers):
    """The root in the middle of a step, by its present accelerations; its spin into slot 0."""
    k = numbers.theta * numbers.h
    if numbers.is_free:
        for i in range(3):
            root.velocity[i] = root.velocity_0[i] + k * root.acceleration[i]  # (T1)
            root.x[i] = root.x_0[i] + k * root.velocity[i]  # (T1)
            root.spin[i] = root.spin_0[i] + k * root.alpha[i]  # (T1)
        turn_root(root, numbers.h, numbers.theta)
    for i in range(3):
        workspace.slot_w[i] = root.spin[i]


@compiled(borrows=True)
def end_root(workspace, root, numbers):
    """The root at the end of a step, from its middle; its spin into slot 0."""
    rest = (1.0 - numbers.theta) * numbers.h
    if numbers.is_free:
        turn_root(root, numbers.h, 1.0)
        for i in range(3):
            root.x[i] += rest * root.velocity[i]  # (T3)
            root.velocity[i] += rest * root.acceleration[i]
            root.spin[i] += rest * root.alpha[i]
    for i in range(3):
        workspace.slot_w[i] = root.spin[i]
