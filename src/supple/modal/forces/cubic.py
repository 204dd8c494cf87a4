"""`CubicForce`: the exact reduced St. Venant-Kirchhoff force, a cubic polynomial in q [BJ05].

    f_l(q) = sum_i P_li q_i + sum_{i<=j} Q_l(ij) q_i q_j + sum_{i<=j<=k} C_l(ijk) q_i q_j q_k
    E(q)   = 1/2 [q; w]^T [[K0, T], [T^T, D]] [q; w],   w = q_i q_j for i <= j            (Gram form)

    symbol      code                            meaning
    P, Q, C     `linear`, `quadratic`, `cubic`  (r, r), (r, r (r+1)/2), (r, r (r+1)(r+2)/6), lexicographic
    K0, T, D                                    products of strain features (`gram_kernels`, `bricks`)

The layout is VegaFEM's. f is the gradient of E; the coefficients come from the fully symmetric tensors of E:
E = 1/2 P q q + S3 q q q + S4 q q q q, f = P q + 3 S3 q q + 4 S4 q q q, K = P + 6 S3 q + 12 S4 q q. Memory and time
of the precomputation are linear in the number of elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.errors import InputError
from supple.modal.derivatives import pair_indices
from supple.modal.forces.bricks import brick_gram
from supple.modal.forces.force_kernels import ForceArrays, compute_force
from supple.modal.forces.gram_kernels import compute_features
from supple.modal.solid import ElasticSolid

Array = np.ndarray
CHUNK_BYTES = 1 << 23
"""Strain features held at a time."""


def triple_indices(count: int) -> tuple[Array, Array, Array]:
    """i, j, k of all i <= j <= k < count in lexicographic order."""
    i, j, k = np.meshgrid(*(np.arange(count),) * 3, indexing="ij")
    chosen = (i <= j) & (j <= k)
    return i[chosen], j[chosen], k[chosen]


def repetitions(*indices: Array) -> Array:
    """How many orders the same indices have: 1 or 2 for pairs; 1, 3 or 6 for sorted triples."""
    if len(indices) == 2:
        return np.where(indices[0] == indices[1], 1.0, 2.0)
    i, j, k = indices
    equal = (i == j).astype(int) + (j == k)
    return np.array([6.0, 3.0, 1.0])[equal]


@dataclass(frozen=True, eq=False)
class CubicForce:
    """Coefficients of a reduced elastic force; see the module. For q [m]: N/m, N/m², N/m³."""

    linear: Array
    quadratic: Array
    cubic: Array

    def __post_init__(self) -> None:
        r = self.linear.shape[0]
        shapes = ((r, r), (r, r * (r + 1) // 2), (r, r * (r + 1) * (r + 2) // 6))
        found = (self.linear.shape, self.quadratic.shape, self.cubic.shape)
        if found != shapes or r == 0:
            raise InputError(
                "the coefficients have the wrong shapes", where="CubicForce", value=found, allowed=str(shapes)
            )

    @classmethod
    def of(cls, solid: ElasticSolid, U: Array) -> CubicForce:
        """The exact force of a solid in the basis U (3 node_count, r).

        >>> from supple.geometry import box_tets
        >>> from supple.material import Material
        >>> cube = ElasticSolid(box_tets(size=(1, 1, 1), cells=(1, 1, 1)), Material(1.0, 0.0, 1.0))
        >>> stretch = (cube.mesh.nodes * [1, 0, 0]).reshape(-1, 1)    # x -> (1 + q) x: E = (q + q²/2)² / 2
        >>> force = CubicForce.of(cube, stretch)
        >>> [round(float(c[0, 0]), 12) for c in (force.linear, force.quadratic, force.cubic)]
        [1.0, 1.5, 0.5]
        """
        if U.ndim != 2 or U.shape[0] != 3 * solid.node_count or not U.shape[1]:
            raise InputError("the basis does not fit the solid", value=U.shape, allowed=f"({3 * solid.node_count}, r)")
        r = U.shape[1]
        gram = gram_matrix(solid, np.ascontiguousarray(U, dtype=float))
        i, j = pair_indices(r)
        # int e_i:C:B_jk and int B_ij:C:B_kl with B = G^T G + transposed, both indices free
        half = np.where(i == j, 1.0, 0.5)
        T = np.empty((r, r, r))
        T[:, i, j] = T[:, j, i] = gram[:r, r:] * half
        pairs = gram[r:, r:] * half[:, None] * half
        D = np.empty((r, r, len(i)))
        D[i, j] = D[j, i] = pairs
        full = np.empty((r, r, r, r))
        full[:, :, i, j] = full[:, :, j, i] = D
        S3 = (T + T.transpose(1, 0, 2) + T.transpose(2, 1, 0)) / 3
        S4 = (full + full.transpose(0, 2, 1, 3) + full.transpose(0, 3, 2, 1)) / 6
        a, b, c = triple_indices(r)
        quadratic = 3.0 * S3[:, i, j] * repetitions(i, j)
        cubic = 4.0 * S4[:, a, b, c] * repetitions(a, b, c)
        return cls(np.ascontiguousarray(gram[:r, :r]), quadratic, cubic)

    @property
    def count(self) -> int:
        """r."""
        return self.linear.shape[0]

    def scaled(self, factor: float) -> CubicForce:
        """Of the solid `factor` times as large, with the same basis: coefficients s, 1, 1/s."""
        return CubicForce(factor * self.linear, self.quadratic, self.cubic / factor)

    def multiplied(self, factor: float) -> CubicForce:
        """Times a number; the square of a number c multiplies all frequencies by c."""
        return CubicForce(factor * self.linear, factor * self.quadratic, factor * self.cubic)

    @cached_property
    def arrays(self) -> ForceArrays:
        """The tangent's coefficients, for the kernels of many instances."""
        i, j = pair_indices(self.count)
        Q, C = self._tensors()
        by_q = np.ascontiguousarray(Q[i, j])
        by_pairs = np.ascontiguousarray(C[i, j][:, i, j] * repetitions(i, j))
        return ForceArrays(np.ascontiguousarray(self.linear), by_q, by_pairs)

    @cached_property
    def by_pairs(self) -> tuple[Array, Array, Array]:
        """K0 (pairs,), T (pairs, r) and G (pairs, pairs): K = K0 + T q + G p, pairs of a lower triangle row by row.

        p holds q_i q_j of all pairs i <= j, twice where i < j. G is symmetric.
        """
        j, i = np.tril_indices(self.count)
        Q, C = self._tensors()
        return self.linear[i, j], Q[i, j], C[i, j][:, i, j]

    def _tensors(self) -> tuple[Array, Array]:
        """6 S3 (r, r, r) and 12 S4 (r, r, r, r)."""
        r = self.count
        i, j = pair_indices(r)
        a, b, c = triple_indices(r)
        Q = np.empty((r, r, r))
        Q[:, i, j] = Q[:, j, i] = self.quadratic * (2.0 / repetitions(i, j))  # 6 S3
        C = np.empty((r, r, r, r))
        values = self.cubic * (3.0 / repetitions(a, b, c))  # 12 S4
        for order in ((a, b, c), (a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a)):
            C[(slice(None), *order)] = values
        return Q, C

    def evaluate(self, q: Array) -> tuple[Array, Array]:
        """f (..., r) and the tangent K (..., r, r) at q (..., r), all instances in one matrix product."""
        batch = self._as_batch(q)
        n, r = batch.shape
        f, K = np.empty((n, r)), np.empty((n, r, r))
        if n:  # a class whose only domain carries masses has no instances left
            with one_blas_thread():
                compute_force(self.arrays, batch, f, K)
        return f.reshape(q.shape), K.reshape(*q.shape, r)

    def energy(self, q: Array) -> Array:
        """E (...) at q (..., r): by homogeneity, 1/2, 1/3 and 1/4 of q times the parts of f."""
        batch = self._as_batch(q)
        i, j = pair_indices(self.count)
        a, b, c = triple_indices(self.count)
        f = batch @ self.linear.T / 2 + (batch[:, i] * batch[:, j]) @ self.quadratic.T / 3
        f += (batch[:, a] * batch[:, b] * batch[:, c]) @ self.cubic.T / 4
        return (batch * f).sum(axis=1).reshape(q.shape[:-1])

    def _as_batch(self, q: Array) -> Array:
        if q.ndim < 1 or q.shape[-1] != self.count:
            raise InputError("the coordinates do not fit the force", value=q.shape, allowed=f"(..., {self.count})")
        return np.ascontiguousarray(q, dtype=float).reshape(-1, self.count)


def gram_matrix(solid: ElasticSolid, U: Array) -> Array:
    """Products of all strain features of a basis, (r + r (r + 1) / 2, the same) [N m], in chunks."""
    if solid.brick_edges is not None:
        lam, mu = (solid.element_values(name) for name in ("lam", "mu"))
        with one_blas_thread():
            parts = U.reshape(solid.node_count, 3, -1)
            return brick_gram(solid.mesh.elements, solid.brick_edges, lam, mu, parts, chunk_bytes=CHUNK_BYTES)
    weights, lam, mu = solid.point_values
    r = U.shape[1]
    width = r + r * (r + 1) // 2
    chunk = max(1, CHUNK_BYTES // (48 * width))
    gram, operator, values = np.zeros((width, width)), solid.gradient_operator, U.reshape(solid.node_count, 3 * r)
    features = np.empty((6 * min(chunk, len(weights)), width))
    with one_blas_thread():
        for start in range(0, len(weights), chunk):
            stop = min(start + chunk, len(weights))
            G = (operator[3 * start : 3 * stop] @ values).reshape(stop - start, 3, 3, r)
            part = features[: 6 * (stop - start)]
            compute_features(G, weights[start:stop], lam[start:stop], mu[start:stop], part)
            gram += part.T @ part
    return gram
