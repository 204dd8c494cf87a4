"""Frames of a tree's domains and how they move, lanes of a group of its step at once, from the root outwards.

    R_j = R_i T_j,  o_j = o_i + R_i s x,  u_j = u_i + R_i (w_i x s x + s x'),  w_j = T_j^T (w_i + w_ij)  [BZ11, eq. 11]

x, x', T, w_ij: of the interface's fitted frame in the parent's axes, `modal.interface_kernels`. Groups, slots and
places are those of `bodies.tree.domains.layout`; memory is of its own, so that nothing here touches the workspace of a
step. What is called `moving` has the fields of `MovingFrames`, and may have others.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross, quaternion_matrix
from supple.algebra.dense.rotation_kernels import matrix_rotate as turned
from supple.algebra.dense.rotation_kernels import matrix_rotate_inverse as turned_back
from supple.algebra.lanes.lane_type import LANES, load, store
from supple.bodies.tree.domains.constants import aligned_zeros
from supple.bodies.tree.step.frame_kernels import add3, load3, load9, store3, times3
from supple.bodies.tree.step.transpose_kernels import gather_rows, scatter_rows
from supple.modal.interfaces.interface_kernels import fit_group

Array = np.ndarray
SLOT = 24
"""Numbers of a slot: rotation (9), origin, its velocity, spin in own axes (3 each), 6 unused."""
CHILD, FITTED, STRETCH, ROWS = 24, 48, 69, 72
"""Rows of scratch: the frame of a group, that of a child, a fit and its stretch, and where they end."""


class MovingFrames(NamedTuple):
    """q, v: coordinates and their rates, as in the workspace of a step; frame (7,), velocity (6,): of the root. Scratch
    and what is found: slots (SLOT each), beside (SLOT a lane), rows (ROWS)."""

    q: Array
    v: Array
    frame: Array
    velocity: Array
    slots: Array
    beside: Array
    rows: Array

    @classmethod
    def empty(cls, coordinates: int, slots: int) -> MovingFrames:
        """Room for so many coordinates of the workspace, and slots."""
        sizes = (coordinates, coordinates, 7, 6, SLOT * slots, SLOT * LANES, ROWS * LANES)
        return cls(*map(aligned_zeros, sizes))


@compiled(borrows=True)
def place_root(moving):
    """The root's frame and its motion into slot 0."""
    frame, slots = moving.frame, moving.slots
    R = quaternion_matrix((frame[3], frame[4], frame[5], frame[6]))
    for i in range(9):
        slots[i] = R[i]
    for i in range(3):
        slots[9 + i], slots[12 + i], slots[15 + i] = frame[i], moving.velocity[i], moving.velocity[3 + i]


@compiled(borrows=True)
def gather_frames(tree, moving, g):
    """Frames of group g from the slots that it hangs on, into the first rows."""
    for b in range(LANES):
        slot = SLOT * tree.parent_slot[g * LANES + b]
        for c in range(0, SLOT, LANES):
            store(moving.beside, SLOT * b + c, load(moving.slots, slot + c))
    gather_rows(moving.beside, 0, SLOT, SLOT, moving.rows, 0)


@compiled(borrows=True)
def place_children(tree, constants, moving, g, k):
    """The frame that hangs on interface k of group g, whose class is among the constants, into its slots. Leaves the
    fit in its rows, and behind it the square of |S - I|."""
    rows, kind, s = moving.rows, tree.group_class[g], load(tree.scale, g * LANES)
    number = tree.class_interface[kind] + k
    _, S, _, _ = fit_group(
        constants.fits, number, constants.interface_start[number], tree.class_r[kind], moving.q, moving.v,
        tree.group_q[g], rows, LANES * FITTED,
    )  # fmt: skip
    s00, s11, s22 = S[0] - 1.0, S[3] - 1.0, S[5] - 1.0
    off = S[1] * S[1] + S[2] * S[2] + S[4] * S[4]
    store(rows, LANES * STRETCH, s00 * s00 + s11 * s11 + s22 * s22 + 2.0 * off)
    at = LANES * FITTED
    x, v = times3(s, load3(rows, at, LANES)), times3(s, load3(rows, at + 3 * LANES, LANES))
    T, spin = load9(rows, at + 6 * LANES), load3(rows, at + 15 * LANES, LANES)
    R, w = load9(rows, 0), load3(rows, 15 * LANES, LANES)
    o, u = load3(rows, 9 * LANES, LANES), load3(rows, 12 * LANES, LANES)
    for c in range(3):
        column = turned(R, (T[c], T[3 + c], T[6 + c]))  # (12.1)
        store(rows, LANES * (CHILD + c), column[0])
        store(rows, LANES * (CHILD + 3 + c), column[1])
        store(rows, LANES * (CHILD + 6 + c), column[2])
    store3(rows, LANES * (CHILD + 9), add3(o, turned(R, x)))  # (12.1)
    store3(rows, LANES * (CHILD + 12), add3(u, turned(R, add3(cross(w, x), v))))  # (12.2)
    store3(rows, LANES * (CHILD + 15), turned_back(T, add3(w, spin)))  # (12.2)
    scatter_rows(rows, LANES * CHILD, moving.slots, SLOT * (tree.group_slot[g] + k * LANES), SLOT, SLOT)
