"""Points that laws couple across parts, seen from what moves them: one matrix for each leaf they hang on.

    x_c(end) = x_c + departure + h u,    u = sum over leaves of M_l u_l

A leaf is a body whose velocities a part solves for, or points of a tree or of a lattice, whose own method moves them
and tells their way over the step, h u_l. For laws, M_l is taken where the velocities of the start bring the bodies: a
force that acts at the end of the step has its lever arm there. For joints it is that of the start, as in SHAKE
[RCB77]: points that met then give no moment, and a pendulum keeps its energy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from supple.bodies.mappings import FramePoints
from supple.bodies.protocols import JacobianRows
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.scene.kinematics import Kinematics
from supple.scene.slots import Slot
from supple.solvers.coupling.across import IMPLICIT, LATTICE, TREE

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class CoupledPoints:
    """x (count, 3) [m]: at the start; departure (count, 3) [m]; leaves: slot and M (3 count, width of its u) of each,
    by the slot's index."""

    slot: Slot
    x: Array
    departure: Array
    leaves: dict[int, tuple[Slot, sparse.csr_array]]

    @classmethod
    def of(cls, slot: Slot, start: Kinematics, ahead: Kinematics, part: dict[str, int], h: float) -> CoupledPoints:
        """Of a slot's points in a step of h [s]; ahead: where the velocities of its start bring all bodies."""
        leaves = _leaves(ahead, slot, part)
        x, gone = start.x[slot.index], ahead.x[slot.index] - start.x[slot.index]
        for leaf, M in leaves.values():
            own = ahead.x[leaf.index] - start.x[leaf.index] if not leaf.is_body else h * start.v[leaf.index]
            gone = gone - (M @ own.ravel()).reshape(-1, 3)
        return cls(slot, x, gone, leaves)

    @classmethod
    def at_start(cls, slot: Slot, start: Kinematics, part: dict[str, int]) -> CoupledPoints:
        """Of a slot's points with M of the start."""
        x = start.x[slot.index]
        return cls(slot, x, np.zeros_like(x), _leaves(start, slot, part))

    def rows(self, W: Any, v_size: int) -> sparse.csr_array:
        """W M in the velocities of all implicit bodies, (rows, v_size); W (rows, 3 count)."""
        out = sparse.csr_array((W.shape[0], v_size))
        for leaf, M in self.leaves.values():
            if leaf.is_body:
                width = leaf.v_slice.stop - leaf.v_slice.start
                place = sparse.csr_array(
                    (np.ones(width), (np.arange(width), np.arange(width) + leaf.v_slice.start)), shape=(width, v_size)
                )
                out = out + sparse.csr_array(W) @ M @ place
        return sparse.csr_array(out)

    def hanging_on(self, body: Slot) -> list[tuple[Slot, sparse.csr_array]]:
        """The leaves that are points of a body, with their M."""
        return [(leaf, M) for leaf, M in self.leaves.values() if not leaf.is_body and leaf.parents[0] is body]

    def touches(self, W: Any, part: dict[str, int], kind: int) -> Array:
        """Which rows of W (rows, 3 count) depend on a kind of part, (rows,)."""
        on = np.zeros(W.shape[0], dtype=bool)
        for leaf, M in self.leaves.values():
            body = leaf if leaf.is_body else leaf.parents[0]
            if part[body.name] == kind:
                on |= np.diff(sparse.csr_array(sparse.csr_array(W) @ M).indptr) > 0
        return on


def _leaves(kin: Kinematics, slot: Slot, part: dict[str, int]) -> dict[int, tuple[Slot, sparse.csr_array]]:
    if slot.fixed is not None:
        return {}
    if _is_leaf(slot, part):
        width = 3 * (slot.block_count if slot.is_body else slot.coordinates.count)
        return {slot.index: (slot, sparse.csr_array(sparse.eye_array(width)))}
    if slot.mapping is not None:
        above = _leaves(kin, slot.parents[0], part)
        own = _matrix(kin.tangents[slot.index].jacobian_rows(), slot.parents[0])
        return {index: (leaf, sparse.csr_array(own @ M)) for index, (leaf, M) in above.items()}
    out: dict[int, tuple[Slot, sparse.csr_array]] = {}
    start, count = 0, slot.coordinates.count
    for parent in slot.parents:
        for index, (leaf, M) in _leaves(kin, parent, part).items():
            placed = _placed(M, 3 * start, 3 * count)
            out[index] = leaf, sparse.csr_array(out[index][1] + placed) if index in out else placed
        start += parent.coordinates.count
    return out


def _placed(M: sparse.csr_array, start: int, count: int) -> sparse.csr_array:
    """M as the rows from `start` on of a matrix of `count` rows."""
    ptr = np.concatenate([np.zeros(start, dtype=M.indptr.dtype), M.indptr, np.full(count - start - M.shape[0], M.nnz)])
    return sparse.csr_array((M.data, M.indices, ptr), shape=(count, M.shape[1]))


def _is_leaf(slot: Slot, part: dict[str, int]) -> bool:
    if slot.is_body:
        return part[slot.name] == IMPLICIT
    if slot.mapping is None or not slot.parents[0].is_body:
        return False
    kind = {TREE: DomainPoints, LATTICE: FramePoints}.get(part[slot.parents[0].name])
    return kind is not None and isinstance(slot.mapping, kind)


def _matrix(J: JacobianRows, parent: Slot) -> sparse.csr_array:
    """A mapping's J as a scipy matrix."""
    width = parent.coordinates.count * parent.coordinates.v_width
    shape = (3 * (len(J.ptr) - 1), width)
    return sparse.csr_array(sparse.bsr_array((np.ascontiguousarray(J.blocks), J.cols, J.ptr), shape=shape))
