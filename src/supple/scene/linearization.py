"""Linearization: K, B, M and the mappings' geometric stiffness of a system at one state, as a value.

    product(dv) = mass M dv + damping B dv + stiffness K dv
    K = sum J^T K_c J + (dJ^T/dx) f_c + J^T B_c d(J v)/dx         with f_c the force on the mapped points

The last two terms come from the turning of frames; a definite K keeps the negative semi-definite part of the first of
them and drops the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.bodies.protocols import is_assembled
from supple.bodies.traits import is_load
from supple.scene.kinematics import Kinematics
from supple.scene.slot_values import SlotArrays, SlotValues
from supple.scene.slots import Slot

if TYPE_CHECKING:
    from supple.scene.system import System

Array = np.ndarray


class Linearization:
    """Tangents of all forces at one state. definite: stiffness made negative semi-definite where it was not. masses:
    what stands for a mass, by its place in `System.joined_masses`."""

    def __init__(
        self,
        system: System,
        kin: Kinematics,
        slot_forces: SlotArrays,
        definite: bool,
        multipliers: Array | None,
        load: float = 1.0,
        masses: Mapping[int, Any] | None = None,
    ) -> None:
        self.masses = masses or {}
        self.system, self.kin, self.slot_forces, self.definite = system, kin, slot_forces, definite
        self.factors = [load if is_load(force) else 1.0 for _, _, force in system.forces]
        self.joint_seconds: list[Array] = []
        start = 0
        for _, slot, rows in system.joints:
            n = slot.coordinates.count
            if multipliers is None or definite:
                self.joint_seconds.append(np.zeros((n, n, 3, 3)))
            else:
                self.joint_seconds.append(rows.second(multipliers[start : start + rows.count], kin.x[slot.index]))
            start += rows.count

    @cached_property
    def tangents(self) -> list[Any]:
        """Of all forces, in their order."""
        return [force.linearize(self.kin.local(slot), definite=self.definite) for _, slot, force in self.system.forces]

    @property
    def force(self) -> Array:
        """f on the bodies at this state, flat."""
        return self.system.gather(self.slot_forces)

    @property
    def turns_velocities(self) -> bool:
        """Whether velocities of mapped points change with positions, and the tangent is to know it."""
        return not self.definite and bool(self.kin.tangents) and bool(self.kin.flat_v.any())

    @cached_property
    def geometric(self) -> dict[int, Array]:
        """Geometric stiffness blocks of points on frames, by slot, in the order of their `geometric_pattern`."""
        return {
            index: tangent.geometric_blocks(self.slot_forces[index], definite=self.definite)
            for index, tangent in self.kin.tangents.items()
            if is_assembled(tangent) and self.slot_forces[index].any()
        }

    def product(self, dv: Array, *, mass: float = 0.0, damping: float = 0.0, stiffness: float = 0.0) -> Array:
        """mass M dv + damping B dv + stiffness K dv, by the ordered calls."""
        system, kin = self.system, self.kin
        pushed = kin.push(dv)
        out = kin.zeros()
        for (_, slot, _), tangent, factor in zip(system.forces, self.tangents, self.factors):
            tangent.add_product(pushed[slot.index], out[slot.index], factor * stiffness, factor * damping)
        if stiffness and self.turns_velocities:
            change = kin.push_change(pushed)
            for (_, slot, _), tangent in zip(system.forces, self.tangents):
                if not slot.is_body:
                    tangent.add_product(change[slot.index], out[slot.index], 0.0, stiffness)
        for slot, item in self.present_masses() if mass else []:
            item.add_product(pushed.of(slot), out.of(slot), mass)
        for (_, slot, _), second in zip(system.joints, self.joint_seconds):
            out[slot.index] += stiffness * np.einsum("abij,bj->ai", second, pushed[slot.index])
        kin.pull(out)
        if stiffness:
            self._add_geometric(pushed, out, stiffness)
        return system.gather(out)

    def present_masses(self) -> list[tuple[Slot, Any]]:
        """All masses with their slots, at this state, in the order of `System.joined_masses`."""
        every = enumerate(self.system.joined_masses)
        return [(slot, self.masses.get(k) or self.kin.mass_of(slot, item)) for k, (_, slot, item) in every]

    def _add_geometric(self, pushed: SlotValues, out: SlotValues, stiffness: float) -> None:
        for index, tangent in self.kin.tangents.items():
            if not self.slot_forces[index].any():
                continue
            parent = self.system.slots[index].parents[0]
            extra = out if parent.is_body else self.kin.zeros()
            if index in self.geometric:
                rows, cols = tangent.geometric_pattern()
                moves = pushed[parent.index].reshape(-1, 3)[cols]
                changes = stiffness * np.einsum("kij,kj->ki", self.geometric[index], moves)
                np.add.at(extra[parent.index].reshape(-1, 3), rows, changes)
            elif not self.definite:
                tangent.add_geometric(self.slot_forces[index], pushed[parent.index], extra[parent.index], stiffness)
            if extra is not out:
                self.kin.pull(extra)
                out.flat += extra.flat

    def assemble(self, *, mass: float = 0.0, damping: float = 0.0, stiffness: float = 0.0) -> BlockSparse | None:
        """The same as one block-sparse matrix, reused by the next call; None where a force has no blocks."""
        assembly = self.system.assembly
        if assembly is None:
            return None
        with self.system.timings.measure("assemble"):
            return assembly.assemble(self, mass, damping, stiffness)

    def matrix(self, *, mass: float = 0.0, damping: float = 0.0, stiffness: float = 0.0) -> sparse.csr_array:
        """The same as a scipy matrix of one's own; systems without blocks are probed column by column."""
        assembled = self.assemble(mass=mass, damping=damping, stiffness=stiffness)
        if assembled is not None:
            return sparse.csr_array(assembled.copy().to_scipy())
        n = self.system.v_size
        columns = [self.product(e, mass=mass, damping=damping, stiffness=stiffness) for e in np.eye(n)]
        return sparse.csr_array(np.array(columns).T)

    def small_matrix(self, *, mass: float = 0.0, damping: float = 0.0, stiffness: float = 0.0) -> Array:
        """The same as a dense matrix, for systems of a few hundred unknowns."""
        assembled = self.assemble(mass=mass, damping=damping, stiffness=stiffness)
        if assembled is None:
            return self.matrix(mass=mass, damping=damping, stiffness=stiffness).toarray()
        return dense_blocks(assembled)

    def joint_jacobian(self) -> Any:
        """G = dphi/d(move) of all joints, see `_joint_jacobian`; not to be changed."""
        return self._joint_jacobian

    @cached_property
    def _joint_jacobian(self) -> Any:
        """G = dphi/d(move) of all joints, (joint_row_count, v_size): dense for small systems, else a scipy matrix."""
        parts = [self._rows_of(slot, rows.jacobian(self.kin.x[slot.index])) for _, slot, rows in self.system.joints]
        if self.system.is_small:
            return np.concatenate(parts) if parts else np.zeros((0, self.system.v_size))
        return sparse.csr_array(sparse.vstack(parts)) if parts else sparse.csr_array((0, self.system.v_size))

    def _rows_of(self, slot: Slot, by_point: Array) -> Any:
        """Rows by_point (count, 3 * point_count) on a slot's points, carried to the bodies: by_point J."""
        system = self.system
        try:
            J = self.kin.rows(slot)
        except AttributeError:  # a mapping written by a user, which knows products only
            return np.array([self._pulled(slot, row.reshape(-1, 3)) for row in by_point])
        if not system.is_small:
            return sparse.csr_array(by_point) @ slot_jacobian(self.kin, slot, system.v_size)
        point = np.repeat(np.arange(len(J.ptr) - 1), np.diff(J.ptr))
        part = np.einsum("mei,eij->mej", by_point.reshape(len(by_point), -1, 3)[:, point], J.blocks)
        G = np.zeros((system.v_size // 3, len(by_point), 3))
        np.add.at(G, J.cols, np.swapaxes(part, 0, 1))
        return np.swapaxes(G, 0, 1).reshape(len(by_point), -1)

    def _pulled(self, slot: Slot, f: Array) -> Array:
        """J^T f of a force on one slot, flat."""
        out = self.kin.zeros()
        out[slot.index] += f
        self.kin.pull(out)
        return self.system.gather(out)


def dense_blocks(A: BlockSparse) -> Array:
    """A block-sparse matrix as a dense one."""
    n = A.block_row_count
    out = np.zeros((n, 3, n, 3))
    out[np.repeat(np.arange(n), np.diff(A.indptr)), :, A.indices, :] = A.data
    return out.reshape(3 * n, 3 * n)


def slot_jacobian(kin: Kinematics, slot: Slot, v_size: int) -> sparse.csr_array:
    """J of a slot as a scipy matrix (3 * count, v_size)."""
    J = kin.rows(slot)
    shape = (3 * (len(J.ptr) - 1), v_size)
    return sparse.csr_array(sparse.bsr_array((np.ascontiguousarray(J.blocks), J.cols, J.ptr), shape=shape))
