"""The coupling of strains across axes as an energy of the lattice, with force and tangent. See `transverse`.

E = e^T C e / 2,   e: strains of the links,   C e = a1 l² (gain e + beta_1 + beta_2)
force: the links carry C e / l more, as if their rest lengths shifted by -C e / (a1 l)
K = K of the links with shifted rest lengths - W^T (C / l²) W,   W: loads on the voxels of links under unit tension
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.bodies.voxel.links.transverse import coupling_constants
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep import lattice_kernels as kernels
from supple.bodies.voxel.sweep.lattice_kernels import Links

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class StrainCoupling:
    """C (m, m) [J], symmetric, and the voxel size [m]."""

    matrix: sparse.csr_array
    size: float

    @classmethod
    def of(cls, model: VoxelModel) -> StrainCoupling:
        """C of a model whose voxels have one size."""
        gains, k, softness = coupling_constants(model, np.ones(model.link_count, dtype=bool))
        l, m = float(model.size[0]), model.link_count
        axial, axis = model.link_stiffness[:, 0], model.link_axis
        ends = sparse.csr_array(
            (np.ones(2 * m), (model.link_voxels.T.ravel(), np.tile(np.arange(m), 2))), shape=(model.voxel_count, m)
        )
        rows, cols, values = [np.arange(m)], [np.arange(m)], [axial * l**2 * gains]
        for a in range(3):
            for b in {0, 1, 2} - {a}:
                third = 3 - a - b
                weight = sparse.diags_array(k[:, third] * softness)  # (14.24)
                one, two = np.flatnonzero(axis == a), np.flatnonzero(axis == b)
                pairs = (ends[:, one].T @ weight @ ends[:, two]).tocoo()
                rows.append(one[pairs.row])
                cols.append(two[pairs.col])
                values.append(pairs.data * axial[one[pairs.row]] * axial[two[pairs.col]] * l**2)
        entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(cols))
        return cls(sparse.csr_array(entries, shape=(m, m)), l)

    def strains(self, links: Links, x: Array) -> Array:
        """Strains of the links, (m,)."""
        out = np.empty(len(links.axis))
        kernels.compute_elongations(links, x, out)
        return np.where(links.stiffness[:, 0] > 0, out / self.size, 0.0)  # failed links carry nothing

    def energy(self, links: Links, x: Array) -> float:
        """Energy of the coupling [J]."""
        e = self.strains(links, x)
        return 0.5 * float(e @ (self.matrix @ e))

    def shifts(self, links: Links, x: Array) -> Array:
        """Changes of the rest lengths [m], (m,)."""
        axial = links.stiffness[:, 0] * self.size
        return -np.divide(self.matrix @ self.strains(links, x), axial, out=np.zeros_like(axial), where=axial > 0)

    def block_pairs(self, blocks: Array) -> tuple[Array, Array]:
        """Pairs of blocks that coupled links fill; blocks (m, 4): those of each link's voxels."""
        c = self.matrix.tocoo()
        shape = (c.nnz, 4, 4)
        rows = np.broadcast_to(blocks[c.row][:, :, None], shape).reshape(-1)
        cols = np.broadcast_to(blocks[c.col][:, None, :], shape).reshape(-1)
        return rows, cols

    def add_stiffness(self, links: Links, x: Array, matrix: BlockSparse) -> None:
        """matrix -= W^T (C / l²) W."""
        m, n = len(links.axis), matrix.block_row_count
        loads = np.empty((m, 12))
        kernels.compute_tension_loads(links, x, loads)
        i, j = links.voxels.astype(np.int64).T
        cols = np.concatenate([6 * i[:, None] + np.arange(6), 6 * j[:, None] + np.arange(6)], axis=1)
        W = sparse.csr_array((loads.ravel(), (np.repeat(np.arange(m), 12), cols.ravel())), shape=(m, 3 * n))
        K = (W.T @ (self.matrix @ W)).tobsr(blocksize=(3, 3))
        rows = np.repeat(np.arange(n), np.diff(K.indptr))
        matrix.data[matrix.locate(rows, K.indices)] -= K.data / self.size**2
