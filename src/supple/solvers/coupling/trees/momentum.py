"""Momentum of a tree that flies freely and touches something: contacts change it, and nothing else.

A step ends on the momentum of forces on the tree's coordinates (`momentum_kernels`), which contacts are brought to at
the start of the step. Their impulses act on points that move, and are those on the other body with the other sign. All
coordinates are relative to the root, so that a rigid motion more, at the root, makes the difference good:

    P_1 = P_0 + h (m g + f + sum F),   L_1 = L_0 + h (R t + (o - c) × f + sum (r - c) × F)
    A (dV, dw) = (P_1, L_1 + c × P_1) - (P, L + c × P) as found

P, L: linear momentum, and angular momentum about the centre of mass c. F: pushes at points r. f, t: force and torque on
the root's coordinates of all else that acts, o and R: its origin and axes. Places are means of start and end of the
step. A (6, 6): inertia of the whole as a rigid body, at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.tree import TreeBody

Array = np.ndarray


class Pushes(NamedTuple):
    """Forces (p, 3) [N] on points at places (p, 3) [m]."""

    force: Array
    place: Array


def keep_momentum(
    body: TreeBody,
    before: LocalState,
    end: LocalState,
    h: float,
    gravity: Array,
    forces: Array | None,
    pushes: Pushes,
) -> None:
    """Change the root's velocity at the end of a step of h [s], in place; forces (1, v_width), pushes: of that step."""
    m, start, found = body.total_mass, body.measures(before.x, before.v), body.measures(end.x, end.v)
    c_0, c_1 = start.first_moment / m, found.first_moment / m
    P = start.momentum[:3] + h * m * gravity
    L = start.momentum[3:] - np.cross(c_0, start.momentum[:3])
    if forces is not None:
        f, arm = forces[0, :3], (before.x[0, :3] + end.x[0, :3] - c_0 - c_1) / 2
        P += h * f
        L += h * (rotations.rotate(before.x[0, 3:7], forces[0, 3:6]) + np.cross(arm, f))
    P += h * pushes.force.sum(axis=0)
    L += h * np.cross(pushes.place - (c_0 + c_1) / 2, pushes.force).sum(axis=0)
    missing = np.concatenate([P, L + np.cross(c_1, P)]) - found.momentum
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
