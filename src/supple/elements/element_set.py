"""A set of finite elements made ready for the sweeps: rest gradients, lanes, chunks and colours.

Elements are ordered along a Morton curve of their centroids, put into groups of LANES and chunks of CHUNK groups;
chunks that share a node get different colours (first fit), so that one colour can be swept by many threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np

from supple.algebra.lanes.lane_type import LANES
from supple.elements import damped_kernels, kernels, viscous_kernels
from supple.elements.kernels import CHUNK, ElementArrays
from supple.elements.shapes import rest_gradients
from supple.errors import InputError
from supple.material import Law

Array = np.ndarray


def morton_order(points: Array) -> Array:
    """Order of points (n, 3) along a Morton (Z) curve of 2^10 cells a side."""
    low, span = points.min(axis=0), np.ptp(points, axis=0).max() or 1.0
    cells = np.minimum((points - low) / span * 1024, 1023).astype(np.uint64)
    code = np.zeros(len(points), dtype=np.uint64)
    for bit in range(10):
        for axis in range(3):
            code |= ((cells[:, axis] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(3 * bit + axis)
    return np.argsort(code, kind="stable")


def colour_chunks(nodes: Array, node_count: int) -> tuple[Array, Array]:
    """First groups of the chunks of nodes (groups, ...), ordered by colour, and where each colour starts."""
    starts = np.arange(0, len(nodes), CHUNK)
    taken = np.zeros(node_count, dtype=np.uint64)  # bit c: a chunk of colour c touches the node
    colours = np.empty(len(starts), dtype=np.int64)
    for k, start in enumerate(starts):
        touched = np.unique(nodes[start : start + CHUNK])
        used = int(np.bitwise_or.reduce(taken[touched]))
        colour = (~used & (used + 1)).bit_length() - 1
        if colour >= 64:
            raise InputError("more than 64 groups of elements meet in one node", value=int(touched[0]))
        colours[k] = colour
        taken[touched] |= np.uint64(1 << colour)
    order = np.argsort(colours, kind="stable")
    bounds = np.searchsorted(colours[order], np.arange(colours.max() + 2))
    return starts[order].astype(np.int64), bounds.astype(np.int64)


@dataclass(frozen=True, eq=False)
class ElementSet:
    """Elements with their rest shape and elastic constants, and what can be asked of them at positions x.

    node_count: of the whole mesh. connectivity (element_count, 4 or 8). arrays: see `ElementArrays`.
    order: element in each lane, (group_count, LANES), -1 in padded lanes.
    """

    node_count: int
    connectivity: Array
    arrays: ElementArrays
    order: Array

    @classmethod
    def make(cls, X: Array, connectivity: Array, lam: Array | float, mu: Array | float) -> ElementSet:
        """From rest positions X (node_count, 3) [m] and Lamé's constants (element_count,) [Pa]."""
        connectivity = np.asarray(connectivity)
        gradients, weights = rest_gradients(X, connectivity)
        bad = np.flatnonzero(~(weights > 0).all(axis=1))
        if bad.size:
            raise InputError("the element is inverted or has no volume", where=f"element {bad[0]}")
        order = morton_order(X[connectivity].mean(axis=1))
        group_count = -(-len(order) // LANES)
        lanes = np.full(group_count * LANES, -1)
        lanes[: len(order)] = order
        real = (lanes >= 0).reshape(group_count, LANES)
        take = np.where(lanes >= 0, lanes, order[-1]).reshape(group_count, LANES)
        nodes = np.ascontiguousarray(np.moveaxis(connectivity[take], 1, -1), dtype=np.int32)
        chunk_start, colour_start = colour_chunks(nodes, len(X))
        arrays = ElementArrays(
            nodes=nodes,
            gradients=np.ascontiguousarray(np.moveaxis(gradients[take], 1, -1)),
            weights=np.ascontiguousarray(np.moveaxis(weights[take] * real[..., None], 1, -1)),
            lam=np.ascontiguousarray(np.broadcast_to(lam, len(connectivity))[take]),
            mu=np.ascontiguousarray(np.broadcast_to(mu, len(connectivity))[take]),
            chunk_start=chunk_start,
            colour_start=colour_start,
        )
        return cls(len(X), connectivity, arrays, lanes.reshape(group_count, LANES))

    @cached_property
    def is_parallel_worthwhile(self) -> bool:
        """Whether the sweeps outweigh the start of threads."""
        return len(self.arrays.chunk_start) >= 8

    def _threaded(self) -> bool:
        return self.is_parallel_worthwhile and numba.get_num_threads() > 1

    def block_pattern(self) -> tuple[Array, Array]:
        """Node pairs (rows, cols) that the tangent fills, in the order of `positions` (flattened)."""
        nodes = self.arrays.nodes
        groups, n, _ = nodes.shape
        shape = (groups, n, n, LANES)
        rows = np.broadcast_to(nodes[:, :, None, :], shape)
        cols = np.broadcast_to(nodes[:, None, :, :], shape)
        return rows.reshape(-1), cols.reshape(-1)

    def energy(self, law: Law, x: Array) -> float:
        """Elastic energy [J] at positions x (node_count, 3) [m]."""
        return float(kernels.compute_energy(self.arrays, int(law), x))

    def add_force(self, law: Law, x: Array, f_out: Array) -> None:
        """f_out (node_count, 3) += elastic forces [N]."""
        kernel = kernels.add_force_parallel if self._threaded() else kernels.add_force
        kernel(self.arrays, int(law), x, f_out)

    def add_blocks(
        self, law: Law, x: Array, factor: float, positions: Array, data_out: Array, *, definite: bool = False
    ) -> None:
        """data_out[positions] += factor K(x), positions in the order of `block_pattern`."""
        kernel = kernels.add_blocks_parallel if self._threaded() else kernels.add_blocks
        kernel(self.arrays, int(law), definite, x, factor, self._shaped(positions), data_out)

    def add_viscous_force(self, law: Law, x: Array, v: Array, beta: float, f_out: Array) -> None:
        """f_out += damping forces [N] at velocities v (node_count, 3) [m/s]; beta: viscosities over moduli [s]."""
        viscous_kernels.add_viscous_force(self.arrays, law == Law.LINEAR, beta, x, v, f_out)

    def add_damped_blocks(
        self,
        law: Law,
        x: Array,
        v: Array | None,
        beta: float,
        positions: Array,
        K_out: Array,
        B_out: Array,
        *,
        definite: bool = False,
    ) -> None:
        """K_out[positions] += df/dx, B_out[positions] += df/dv of elastic and damping forces at velocities v
        (node_count, 3) [m/s]; None: K without its part from damping."""
        threaded = damped_kernels.add_damped_blocks_parallel
        kernel = threaded if self._threaded() else damped_kernels.add_damped_blocks
        moves, speed = v is not None, x if v is None else v
        kernel(self.arrays, int(law), definite, moves, x, speed, beta, self._shaped(positions), K_out, B_out)

    def _shaped(self, positions: Array) -> Array:
        return positions.reshape(len(self.arrays.nodes), *(self.arrays.nodes.shape[1],) * 2, LANES)
