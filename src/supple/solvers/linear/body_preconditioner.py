"""Preconditioning by bodies: what a body can solve by itself it solves; the rest has its 3x3 diagonal blocks.

A body with a frame that solves by itself, such as one with a layer, has the factor of what the frame carries and the
Schur complement on the frame, for the weights of the step. Its frame's blocks are those of the assembled
matrix, so that what acts on the core from outside counts. Forces that others add to the layer are left to the
iteration. For stiff layers and large steps, where the diagonal blocks alone need hundreds of iterations; the factor is
made at the first step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.dense import rotations
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.preconditioners import BlockJacobi
from supple.bodies.capabilities import Factor, SelfSolving
from supple.scene.linearization import Linearization
from supple.scene.slots import Slot

Array = np.ndarray


class _Part(NamedTuple):
    """A body's solver; turn (6, 6): from body to world axes of the frame; C, Y^T (6, 3 n), inverse Schur complement."""

    slot: Slot
    factor: Factor
    turn: Array
    C: Array
    Y: Array
    inverse: Array


class BodyPreconditioner:
    """z = P^-1 r for the assembled, filtered matrix A = mass M + damping B + stiffness K of a linearization."""

    def __init__(self, A: BlockSparse, lin: Linearization, mass: float, damping: float, stiffness: float) -> None:
        self._rest = BlockJacobi()
        self._rest.update(A)
        self._mass, filtered = mass, set(lin.system.filter.blocks.tolist())
        self._parts: list[_Part] = []
        for slot in lin.system.bodies:
            body, x, first = slot.body, lin.kin.x[slot.index], slot.block_start
            if not (isinstance(body, SelfSolving) and mass > 0):
                continue
            factor, C, Y = body.own_solve(x, mass, damping, stiffness)
            blocks = A.data[A.locate([first, first, first + 1, first + 1], [first, first + 1, first, first + 1])]
            turn = np.eye(6)
            turn[:3, :3] = rotations.to_matrix(x[0, 3:7])
            A_cc = turn.T @ (blocks.reshape(2, 2, 3, 3).transpose(0, 2, 1, 3).reshape(6, 6) / mass) @ turn
            if first in filtered or first + 1 in filtered:
                C, Y = np.zeros_like(C), np.zeros_like(Y)
            S = A_cc - C @ Y.T
            self._parts.append(_Part(slot, factor, turn, C, Y, np.linalg.inv((S + S.T) / 2)))

    def apply(self, r: Array, z_out: Array) -> None:
        """z_out = P^-1 r, flat."""
        self._rest.apply(r, z_out)
        for part in self._parts:
            own, z = r[part.slot.v_slice] / self._mass, np.empty(part.C.shape[1])
            part.factor.apply(own[6:], z)
            d = part.inverse @ (own[:6] @ part.turn - part.C @ z)
            z_out[part.slot.v_slice] = np.concatenate([part.turn @ d, z - d @ part.Y])
