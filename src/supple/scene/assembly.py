"""Assembly: one block-sparse matrix for m M + b B + k K of a whole system, with every position found beforehand.

Forces on a body write their blocks straight into the matrix. Forces on mapped points write into a matrix of their
slot, K_s, which is brought in as J^T K_s J; J may change with the state, its pattern does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.bodies.protocols import Assembled, JacobianRows, is_assembled
from supple.bodies.traits import is_linear
from supple.scene.assembly_kernels import add_congruence, project_matrix
from supple.scene.kinematics import Kinematics
from supple.scene.slots import Slot

if TYPE_CHECKING:
    from supple.scene.linearization import Linearization
    from supple.scene.system import System

Array = np.ndarray


def expand_pairs(rows: Array, cols: Array, J: JacobianRows) -> tuple[Array, Array]:
    """System block pairs of J^T K J for slot pairs (rows, cols), in the order of `add_congruence`."""
    na, nb = np.diff(J.ptr)[rows], np.diff(J.ptr)[cols]
    total = na * nb
    e = np.repeat(np.arange(len(rows)), total)
    within = np.arange(len(e)) - np.repeat(np.cumsum(total) - total, total)
    a = J.ptr[rows][e] + within // nb[e]
    b = J.ptr[cols][e] + within % nb[e]
    return J.cols[a], J.cols[b]


@dataclass(eq=False)
class MappedPart:
    """The matrix of a mapped slot and where J^T K J lands."""

    slot: Slot
    matrix: BlockSparse
    rows: Array
    positions: Array


@dataclass(eq=False)
class Assembly:
    """The system's matrix with all positions. `assemble` fills it; the matrix is reused by the next call."""

    matrix: BlockSparse
    force_positions: list[Array]
    mass_positions: list[Array]
    joint_positions: list[Array]
    parts: dict[int, MappedPart]
    geometric_positions: dict[int, Array]
    filter_transposed: Array

    @classmethod
    def make(cls, system: System) -> Assembly | None:
        """Find the pattern; None if a force or mapping of the system cannot be assembled."""
        kin = Kinematics(system.slots, 0.0, system.x0, system.v0)
        by_slot: dict[int, list[tuple[Array, Array]]] = {}
        pairs: list[tuple[Array, Array]] = [(np.arange(system.v_size // 3),) * 2]
        patterns: list[tuple[Slot, Array, Array]] = []
        for _, slot, item in [*system.forces, *system.joined_masses]:
            if not isinstance(item, Assembled):
                return None
            rows, cols = item.block_pattern()
            patterns.append((slot, np.asarray(rows), np.asarray(cols)))
        for _, slot, _ in system.joints:
            n = slot.coordinates.count
            patterns.append((slot, np.repeat(np.arange(n), n), np.tile(np.arange(n), n)))
        for slot in system.slots:
            tangent = kin.tangents.get(slot.index)
            if tangent is None or is_linear(slot.mapping):
                continue
            if not is_assembled(tangent):
                return None
            parent, (rows, cols) = slot.parents[0], tangent.geometric_pattern()
            if parent.is_body:  # what acts on the slot fills these too, if anything does
                pairs.append((parent.block_start + rows, parent.block_start + cols))
            else:
                by_slot.setdefault(parent.index, []).append((rows, cols))
        for slot, rows, cols in patterns:
            if not slot.is_body:
                by_slot.setdefault(slot.index, []).append((rows, cols))

        parts: dict[int, MappedPart] = {}
        expanded: dict[int, tuple[Array, Array]] = {}
        for index, given in by_slot.items():
            slot = system.slots[index]
            rows = np.concatenate([r for r, _ in given])
            cols = np.concatenate([c for _, c in given])
            matrix = BlockSparse.from_pairs(slot.coordinates.count, np.r_[rows, cols], np.r_[cols, rows])
            entry_rows = np.repeat(np.arange(slot.coordinates.count), np.diff(matrix.indptr))
            expanded[index] = expand_pairs(entry_rows, np.asarray(matrix.indices), kin.rows(slot))
            parts[index] = MappedPart(slot, matrix, entry_rows, np.zeros(0, dtype=np.int32))
            pairs.append(expanded[index])
        for slot, rows, cols in patterns:
            if slot.is_body:
                pairs += [(slot.block_start + rows, slot.block_start + cols)]
        all_rows = np.concatenate([p[0] for p in pairs])
        all_cols = np.concatenate([p[1] for p in pairs])
        matrix = BlockSparse.from_pairs(system.v_size // 3, all_rows, all_cols)
        for index, (rows, cols) in expanded.items():
            parts[index].positions = matrix.locate(rows, cols)

        def locate(slot: Slot, rows: Array, cols: Array) -> Array:
            if slot.is_body:
                return matrix.locate(slot.block_start + rows, slot.block_start + cols)
            return parts[slot.index].matrix.locate(rows, cols)

        positions = [locate(*pattern) for pattern in patterns]
        nf, nm = len(system.forces), len(system.joined_masses)
        geometric = {}
        for slot in system.slots:
            tangent = kin.tangents.get(slot.index)
            if is_assembled(tangent):
                geometric[slot.index] = locate(slot.parents[0], *tangent.geometric_pattern())
        return cls(
            matrix,
            positions[:nf],
            positions[nf : nf + nm],
            positions[nf + nm :],
            parts,
            geometric,
            _transposed(matrix, system.filter.blocks),
        )

    def assemble(self, lin: Linearization, mass: float, damping: float, stiffness: float) -> BlockSparse:
        """mass M + damping B + stiffness K of a linearization, in the reused matrix."""
        system, kin, data = lin.system, lin.kin, self.matrix.data
        self.matrix.clear()
        for part in self.parts.values():
            part.matrix.clear()

        def target(slot: Slot) -> Array:
            return data if slot.is_body else self.parts[slot.index].matrix.data

        if stiffness or damping:
            tangents = zip(system.forces, lin.tangents, lin.factors, self.force_positions)
            for (_, slot, _), tangent, factor, positions in tangents:
                tangent.add_blocks(target(slot), positions, factor * stiffness, factor * damping)
        if mass:
            for (slot, item), positions in zip(lin.present_masses(), self.mass_positions):
                item.add_blocks(target(slot), positions, mass)
        if stiffness:
            for (_, slot, _), second, positions in zip(system.joints, lin.joint_seconds, self.joint_positions):
                np.add.at(target(slot), positions, stiffness * second.reshape(-1, 3, 3))
            for index, blocks in lin.geometric.items():
                if index in self.geometric_positions:
                    parent = system.slots[index].parents[0]
                    np.add.at(target(parent), self.geometric_positions[index], stiffness * blocks)
        for part in self.parts.values():
            J = kin.rows(part.slot)
            left = np.ascontiguousarray(J.blocks)
            cols, values = part.matrix.indices, part.matrix.data
            add_congruence(part.rows, cols, values, J.ptr, left, left, part.positions, data)
            if stiffness and lin.turns_velocities and part.slot.constant_rows is None:
                self._add_turning(lin, part, stiffness, J.ptr, left)
        return self.matrix

    def _add_turning(self, lin: Linearization, part: MappedPart, stiffness: float, ptr: Array, left: Array) -> None:
        """J^T B_c d(J v)/dx of one mapped slot."""
        part.matrix.clear()
        for (_, slot, _), tangent, positions in zip(lin.system.forces, lin.tangents, self.force_positions):
            if slot is part.slot:
                tangent.add_blocks(part.matrix.data, positions, 0.0, stiffness)
        if part.matrix.data.any():
            right = np.ascontiguousarray(lin.kin.velocity_rows(part.slot).blocks)
            cols, values = part.matrix.indices, part.matrix.data
            add_congruence(part.rows, cols, values, ptr, left, right, part.positions, self.matrix.data)

    def project(self, system: System, scale: float) -> None:
        """Apply the filters to the assembled matrix: C A C + scale (I - C)."""
        f = system.filter
        if len(f):
            A: Any = self.matrix
            project_matrix(f.blocks, f.projectors, A.indptr, self.filter_transposed, A.diagonal, scale, A.data)


def _transposed(matrix: BlockSparse, blocks: Array) -> Array:
    """Positions of the transposes of all blocks in the given block rows, row by row."""
    if not len(blocks):
        return np.zeros(0, dtype=np.int32)
    starts, stops = matrix.indptr[blocks], matrix.indptr[blocks + 1]
    rows = np.repeat(blocks, stops - starts)
    entries = np.concatenate([np.arange(a, b) for a, b in zip(starts, stops)])
    return matrix.locate(matrix.indices[entries], rows)
