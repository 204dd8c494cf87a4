"""Momentum of a tree that flies freely and is coupled: what couples it changes its momentum, and nothing else.

A step ends on the momentum of forces on the tree's coordinates (`momentum_kernels`), which forces on points are brought
to in one state. They act on points that move, and are those on the other body with the other sign. All coordinates are
relative to the root, so that a rigid motion more, at the root, makes the difference good:

    P_1 = P_0 + h (m g + f + F),   L_1 = L_0 + h (c × m g + R t + o × f + T)
    A (dV, dw) = (P_1, L_1) - (P, L) as found

P, L: linear and angular momentum, moments about the world's origin. F, T: force and moment of what couples the tree. f,
t: force and torque on the root's coordinates of all else that acts, o and R: its origin and axes, c: the centre of
mass. Places are means of start and end of the step. A (6, 6): inertia of the whole as a rigid body, at the end.
"""

from __future__ import annotations

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.tree import TreeBody

Array = np.ndarray


def keep_momentum(
    body: TreeBody, before: LocalState, end: LocalState, h: float, gravity: Array, forces: Array | None, wrench: Array
) -> None:
    """Change the root's velocity at the end of a step of h [s], in place; forces (1, v_width), wrench (6,), force [N]
    and moment about the world's origin [N m] of what couples the tree: of that step."""
    m, start = body.total_mass, body.measures(before.x, before.v)
    centre = (start.first_moment + body.measures(end.x, end.v).first_moment) / 2
    change = wrench + np.concatenate([m * np.asarray(gravity), np.cross(centre, gravity)])
    if forces is not None:
        f, o = forces[0, :3], (before.x[0, :3] + end.x[0, :3]) / 2
        change[:3] += f
        change[3:] += rotations.rotate(before.x[0, 3:7], forces[0, 3:6]) + np.cross(o, f)
    end_on(body, end, start.momentum + h * change)


def end_on(body: TreeBody, end: LocalState, momentum: Array) -> None:
    """Change the root's velocity, in place, so that the momentum (6,), linear and about the world's origin, is this."""
    missing = momentum - body.measures(end.x, end.v).momentum
    end.v[0, :6] += np.linalg.solve(rigid_inertia(body, end.x), missing)


def rigid_inertia(body: TreeBody, x: Array) -> Array:
    """Momentum of the tree at coordinates x (linear, angular about the origin) by velocities of its root (linear in
    world axes, angular in its own), (6, 6)."""
    S, m, A = body.measures(x).first_moment, body.total_mass, np.zeros((6, 6))
    A[:3, :3], A[3:, :3] = m * np.eye(3), rotations.skew(S)
    for axis in range(3):
        v = np.zeros((1, body.coordinates.v_width))
        v[0, 3 + axis] = 1.0
        A[:, 3 + axis] = body.measures(x, v).momentum
    return A
