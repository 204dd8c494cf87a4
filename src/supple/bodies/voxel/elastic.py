"""The forces of a lattice: its links, elastic with damping, and damping relative to the world.

    K = df/dx, B = df/dv exact, in 3x3 blocks: block 2i linear, 2i + 1 angular of voxel i

K is not symmetric where links carry moments, since rotations do not commute: its skew part is half the moment. A
definite K is, link by link, the symmetric part without its positive eigenvalues (lengths measured in voxels) and
without the change of damping forces with positions. B is symmetric and negative semi-definite as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.bodies.protocols import LocalState, Pairs
from supple.bodies.voxel.actuation import Swing
from supple.bodies.voxel.frame_kernels import compute_sized_energy
from supple.bodies.voxel.links.strain_coupling import StrainCoupling
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep import lattice_kernels as kernels
from supple.bodies.voxel.sweep.lattice_kernels import Links
from supple.errors import InputError

Array = np.ndarray
CHUNK = 4096  # links whose 9x9 tangents are held at once


class LinkLoads(NamedTuple):
    """Of links: strain (m,) [-]; bend (m,) [rad], the angle between its voxels; force (m, 3) [N] on the second voxel
    and moment (m, 3) [N m] on it, in world axes."""

    strain: Array
    bend: Array
    force: Array
    moment: Array


def links_of(model: VoxelModel) -> Links:
    """All links of a model, as the kernels take them."""
    return Links(
        np.ascontiguousarray(model.link_voxels, dtype=np.int32),
        np.ascontiguousarray(model.link_axis, dtype=np.int32),
        model.link_stiffness,
        model.link_damping,
        model.link_rest,
    )


def stiffened_by_rest(links: Links, edge: float) -> Links:
    """Links with the axial stiffness of their rest lengths. edge: the voxel size [m]."""
    stiffness = links.stiffness.copy()
    kernels.compute_axial_by_rest(links, edge, stiffness[:, 0])
    return links._replace(stiffness=stiffness)


@dataclass(frozen=True, eq=False)
class LatticeForce:
    """The links of a lattice of voxel_count voxels. unit: the voxel size [m]. swing: how the voxels change size.

    coupling: of strains across axes, or None. remembers: whether links yield or fail, or sizes are commanded, which the
    lattice's own stride advances alone; here they are as they were left. by_rest: whether axial stiffness follows rest
    lengths. needs_stride: whether cells are rigid, which the lattice's own stride alone holds
    together.
    """

    links: Links
    voxel_count: int
    unit: float
    swing: Swing | None = None
    coupling: StrainCoupling | None = None
    remembers: bool = False
    by_rest: bool = False
    needs_stride: bool = False

    @classmethod
    def of(cls, model: VoxelModel, swing: Swing | None = None) -> LatticeForce:
        """All links of a model."""
        links = links_of(model)
        coupling = StrainCoupling.of(model) if model.transverse.any() else None
        remembers = not model.laws.is_linear or not (swing is None or swing.is_free)
        by_rest = bool(model.by_rest.any())
        return cls(
            links,
            model.voxel_count,
            float(model.size.max()),
            swing,
            coupling,
            remembers,
            by_rest,
            model.group_count > 0,
        )

    @property
    def is_passive(self) -> bool:
        """Whether its voxels keep their sizes."""
        return self.swing is None

    @cached_property
    def is_damped(self) -> bool:
        """Whether any link is damped."""
        return bool(self.links.damping.any())

    def links_at(self, state: LocalState) -> Links:
        """The links with their rest lengths at the time of a state, and with what they remember."""
        links, memory = self.links, state.memory
        if self.swing is not None:
            size = self.swing.sizes(state.t, None if memory is None else memory.commanded)
            links = links._replace(rest=(size[links.voxels[:, 0]] + size[links.voxels[:, 1]]) / 2)
            if self.by_rest:
                links = stiffened_by_rest(links, self.unit)
        if self.remembers and memory is not None:
            alive = memory.alive[:, None]
            links = links._replace(
                rest=links.rest + self.unit * memory.plastic,
                stiffness=links.stiffness * alive,
                damping=links.damping * alive,
            )
        return links

    def _coupled(self, links: Links, x: Array) -> Links:
        """The links with rest lengths shifted by the coupling of strains."""
        if self.coupling is None:
            return links
        return links._replace(rest=links.rest + self.coupling.shifts(links, x))

    def energy(self, state: LocalState) -> float:
        """Elastic energy [J]."""
        if self.swing is not None and self.coupling is None and not (self.remembers or self.by_rest):
            return float(compute_sized_energy(self.links, self.swing.sizes(state.t), state.x))
        links = self.links_at(state)
        coupled = 0.0 if self.coupling is None else self.coupling.energy(links, state.x)
        return float(kernels.compute_energy(links, state.x)) + coupled

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """Forces in world axes [N], torques in body axes [N m], (n, 6)."""
        links = self._coupled(self.links_at(state), state.x)
        kernels.add_force(links, state.x, state.v, 1.0, f_out)

    def linearize(self, state: LocalState, *, definite: bool = False) -> LatticeTangent:
        """K and B at this state."""
        if self.needs_stride:
            raise InputError(
                "rigid cells are held together by the sweep of their lattice alone",
                where="voxel body",
                fix="Use LatticeSolver or Partitioned; for statics and modes a stiff material in place of rigid=True.",
            )
        if self.remembers:
            raise InputError(
                "links that yield or fail, and commands, are advanced by the lattice's own stride alone",
                where="voxel body",
                fix="Use LatticeSolver, or materials without yield stress, curve and failure, and a Drive of time.",
            )
        links = self._coupled(self.links_at(state), state.x)
        return LatticeTangent(self, links, state.x.copy(), state.v.copy(), definite)

    def measure(self, state: LocalState) -> LinkLoads:
        """What the links carry."""
        own, x = self.links_at(state), np.ascontiguousarray(state.x)
        out = np.empty((len(own.axis), 8))
        kernels.measure_links(self._coupled(own, x), x, np.ascontiguousarray(state.v), out)
        kernels.compute_elongations(own, x, out[:, 0])
        plastic = 0.0 if state.memory is None else state.memory.plastic
        return LinkLoads(out[:, 0] / self.unit + plastic, out[:, 1], out[:, 2:5], out[:, 5:8])

    def block_pattern(self) -> Pairs:
        """Blocks of voxels that share a link, each once."""
        matrix, _ = self.own_matrix
        return np.repeat(np.arange(2 * self.voxel_count), np.diff(matrix.indptr)), matrix.indices

    @cached_property
    def own_matrix(self) -> tuple[BlockSparse, Array]:
        """An empty matrix of this force alone, and where the links' blocks lie in it, (m, 4, 4)."""
        i, j = self.links.voxels.T.astype(np.int64)
        blocks = np.stack([2 * i, 2 * i + 1, 2 * j, 2 * j + 1], axis=1)
        shape = (len(i), 4, 4)
        rows = np.broadcast_to(blocks[:, :, None], shape).ravel()
        cols = np.broadcast_to(blocks[:, None, :], shape).ravel()
        if self.coupling is None:
            matrix = BlockSparse.from_pairs(2 * self.voxel_count, rows, cols)
        else:
            more = self.coupling.block_pairs(blocks)
            matrix = BlockSparse.from_pairs(2 * self.voxel_count, np.r_[rows, more[0]], np.r_[cols, more[1]])
        return matrix, matrix.locate(rows, cols).reshape(shape)


@dataclass(frozen=True, eq=False)
class LatticeTangent:
    """K and B at positions x and velocities v, assembled once, at the first use."""

    force: LatticeForce
    links: Links
    x: Array
    v: Array
    definite: bool

    @cached_property
    def stiffness(self) -> BlockSparse:
        """K."""
        v = np.zeros_like(self.v) if self.definite else self.v

        def compute(start: int, out: Array) -> Array:
            kernels.compute_stiffness(self.links, start, self.x, v, out)
            return negative_part(out, self.force.unit) if self.definite else out

        matrix = self._assembled(compute)
        if self.force.coupling is not None:
            self.force.coupling.add_stiffness(self.links, self.x, matrix)
        return matrix

    @cached_property
    def damping(self) -> BlockSparse:
        """B."""

        def compute(start: int, out: Array) -> Array:
            kernels.compute_damping(self.links, start, self.x, out)
            return out

        return self._assembled(compute)

    def _assembled(self, compute: Callable[[int, Array], Array]) -> BlockSparse:
        links = self.links
        empty, positions = self.force.own_matrix
        matrix = empty.copy()
        for start in range(0, len(links.axis), CHUNK):
            K = compute(start, np.empty((min(CHUNK, len(links.axis) - start), 9, 9)))
            kernels.scatter(links, start, K, positions[start : start + len(K)], matrix.data)
        return matrix

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df += stiffness K dv + damping B dv. Links do not feel a common velocity: without it less is rounded away."""
        moves = np.array(dv, dtype=float).reshape(-1, 6)
        moves[:, :3] -= moves[:, :3].mean(axis=0)
        d, out = moves.reshape(-1), df_out.reshape(-1)
        if stiffness:
            self.stiffness.add_product(d, out, stiffness)
        if damping and self.force.is_damped:
            self.damping.add_product(d, out, damping)

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble stiffness K + damping B; each position occurs once."""
        if stiffness:
            data_out[positions] += stiffness * self.stiffness.data
        if damping and self.force.is_damped:
            data_out[positions] += damping * self.damping.data


def negative_part(K: Array, unit: float) -> Array:
    """The symmetric part of K (count, 9, 9) without positive eigenvalues; lengths are measured in `unit`."""
    units = np.repeat([unit, 1.0, 1.0], 3)
    scaled = K * units[:, None] * units
    scaled = (scaled + np.swapaxes(scaled, 1, 2)) / 2
    values, vectors = np.linalg.eigh(scaled)
    return (vectors * np.minimum(values, 0.0)[:, None, :]) @ np.swapaxes(vectors, 1, 2) / (units[:, None] * units)


@dataclass(frozen=True, eq=False)
class GroundDamping:
    """f = -c v of each voxel, coefficients (n, 2) [N s/m, N m s]."""

    coefficients: Array
    is_passive = True
    has_energy = False

    @cached_property
    def _columns(self) -> Array:
        return np.repeat(self.coefficients, 3, axis=1)

    def energy(self, state: LocalState) -> float:
        """None is stored."""
        return 0.0

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f -= c v."""
        f_out -= self._columns * state.v

    def linearize(self, state: LocalState, *, definite: bool = False) -> GroundDamping:
        """The force is linear: it is its own tangent."""
        return self

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df -= damping c dv."""
        df_out -= damping * self._columns * dv

    def block_pattern(self) -> Pairs:
        """The diagonal."""
        k = np.arange(2 * len(self.coefficients))
        return k, k

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble -damping c."""
        data_out[positions] -= damping * self.coefficients.reshape(-1, 1, 1) * np.eye(3)
