"""Forces of one state seen from the axes of another: torques of frames turn with their body axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse

from supple.algebra.dense import rotations
from supple.scene.kinematics import Kinematics

if TYPE_CHECKING:
    from supple.scene.system import System

Array = np.ndarray


def transport(system: System, start: Kinematics, end: Kinematics, f: Any) -> Any:
    """Flat forces f (v_size,), or rows of them (m, v_size), at `start` in the axes of `end`."""
    if start is end:
        return f
    if sparse.issparse(f):
        return sparse.csr_array(f @ _matrix(system, start, end).T)
    out = np.array(f)
    for slot in system.joined_bodies:
        if slot.coordinates.turns:
            turn = _turns(start.x.of(slot), end.x.of(slot))
            part = out[..., slot.v_slice].reshape(*out.shape[:-1], -1, slot.coordinates.v_width)
            part[..., 3:6] = np.einsum("nij,...nj->...ni", turn, part[..., 3:6])
            out[..., slot.v_slice] = part.reshape(*out.shape[:-1], -1)
    return out


def _turns(x0: Array, x1: Array) -> Array:
    """R1^T R0 of frames, (n, 3, 3)."""
    return np.swapaxes(rotations.to_matrix(x1[:, 3:7]), 1, 2) @ rotations.to_matrix(x0[:, 3:7])


def _matrix(system: System, start: Kinematics, end: Kinematics) -> sparse.csr_array:
    blocks = np.broadcast_to(np.eye(3), (system.v_size // 3, 3, 3)).copy()
    for slot in system.joined_bodies:
        if slot.coordinates.turns:
            angular = slot.block_start + slot.coordinates.v_width // 3 * np.arange(slot.coordinates.count) + 1
            blocks[angular] = _turns(start.x.of(slot), end.x.of(slot))
    n = len(blocks)
    return sparse.csr_array(sparse.bsr_array((blocks, np.arange(n), np.arange(n + 1)), shape=(3 * n, 3 * n)))
