"""Recorded numbers of algebra: rotations, polar decompositions, factors, eigenpairs, iterative solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse
from tests.recorded.making import random
from tests.recorded.recording import Recorded, Values

from supple.algebra.dense import polar, rotations
from supple.algebra.dense.function_kernels import compute_layer, compute_sines, exponential, hyperbolic_tangent
from supple.algebra.dense.ldlt import ldlt_factor, ldlt_solve, ldlt_solve_many
from supple.algebra.sparse.aggregation.aggregation import Aggregation
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.cholesky.conjugate_residuals import solve_by_residuals
from supple.algebra.sparse.cholesky.sparse_cholesky import SparseCholesky
from supple.algebra.sparse.conjugate_gradients import solve_cg
from supple.algebra.sparse.direct import DirectSolver
from supple.algebra.sparse.eigenpairs import smallest_eigenpairs
from supple.algebra.sparse.lanczos.block_lanczos import largest_eigenpairs
from supple.algebra.sparse.preconditioners import BlockJacobi, IncompleteCholesky, Jacobi

recorded = Recorded(__name__)
COUNT = 24
POINTS = np.random.default_rng(2).uniform(size=(COUNT, 3))


def springs() -> BlockSparse:
    """Points in a cloud, each tied to others by springs of its own strength, and to the ground."""
    rng = np.random.default_rng(1)
    a = np.concatenate([np.arange(COUNT - k) for k in (1, 2, 5)])
    b = np.concatenate([np.arange(k, COUNT) for k in (1, 2, 5)])
    A = BlockSparse.from_pairs(COUNT, np.r_[a, b], np.r_[b, a])
    d = POINTS[b] - POINTS[a]
    K = rng.uniform(1, 9, size=len(a))[:, None, None] * d[:, :, None] * d[:, None, :]
    for rows, cols, sign in ((a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)):
        np.add.at(A.data, A.locate(rows, cols), sign * K)
    A.add_diagonal(0.1 + 0.01 * np.arange(3.0 * COUNT))
    return A


@recorded.case
def turns() -> Values:
    v, w, q = random(6, 3), random(6, 3, seed=1), rotations.normalise(random(6, 4, seed=2))
    p = rotations.exp(v)
    return {
        "exp": p,
        "log": rotations.log(q),
        "product": rotations.multiply(p, q),
        "rotated": [rotations.rotate(q, w), rotations.rotate_inverse(q, w)],
        "matrix": rotations.to_matrix(q),
        "back": rotations.from_matrix(rotations.to_matrix(p)),
        "skew": [rotations.skew(v), rotations.axial(random(4, 3, 3)), rotations.cross(v, w)],
        "updated": rotations.rotation_update(q, 0.1 * v),
    }


@recorded.case
def polars() -> Values:
    A, B, C = np.eye(3) + 0.4 * random(5, 3, 3), random(5, 3, 3, seed=1), random(5, 3, 3, seed=2)
    R, S = polar.polar_decompose(A)
    w = polar.polar_omega(R, S, B)
    return {
        "R": R,
        "S": S,
        "gap": polar.polar_gap(A),
        "omega": w,
        "S_dot": polar.polar_S_dot(R, S, B, w),
        "omega_dot": polar.polar_omega_dot(R, S, B, C, w),
    }


@recorded.case
def small_factors() -> Values:
    G = random(7, 7)
    A = G @ G.T + 3 * np.eye(7)
    assert ldlt_factor(A) == -1
    b, B = random(7, seed=1), random(7, 3, seed=2)
    ldlt_solve(A, b)
    ldlt_solve_many(A, B)
    return {"L": np.tril(A), "one": b, "many": B}


@recorded.case
def functions() -> Values:
    x = random(20) * 3
    sines, layer = np.empty(20), np.empty((20, 2))
    compute_sines(x, sines)
    compute_layer(random(2, 3), random(2, seed=1), random(20, 3, seed=2), layer)
    return {
        "sine": sines,
        "layer": layer,
        "exp": [exponential(a) for a in x],
        "tanh": [hyperbolic_tangent(a) for a in x],
    }


@recorded.case
def products() -> Values:
    A, x = springs(), random(3 * COUNT)
    other = {}
    for name, M in (("jacobi", Jacobi()), ("blocks", BlockJacobi()), ("cholesky", IncompleteCholesky())):
        M.update(A)
        z = np.empty(3 * COUNT)
        M.apply(x, z)
        other[name] = z
    aggregated = Aggregation(A, POINTS, np.ones(COUNT, dtype=bool), np.zeros(COUNT, dtype=int))
    aggregated.update(A, POINTS)
    z = np.empty(3 * COUNT)
    aggregated.apply(x, z)
    return {"A": A.to_scipy() @ x, "aggregated": z, **other}


@recorded.case(rtol=1e-7)
def solutions() -> Values:
    A, b = springs(), random(3 * COUNT, seed=3)
    S = A.to_scipy()
    near = DirectSolver(S + 0.01 * sparse.eye_array(3 * COUNT))
    out = np.empty(3 * COUNT)

    def once(r: np.ndarray) -> np.ndarray:
        return near.solve_once(r, out).copy()

    return {
        "direct": DirectSolver(S).solve(b).x,
        "cholesky": SparseCholesky(sparse.csc_array(S)).solve(b),
        "gradients": solve_cg(A, b, tolerance=1e-13).x,
        "general": solve_cg(S, b, tolerance=1e-13).x,
        "residuals": solve_by_residuals(once, lambda x: S @ x, b)[0],
    }


@recorded.case(rtol=1e-7)
def eigenpairs() -> Values:
    S = springs().to_scipy() + sparse.diags(np.arange(3.0 * COUNT) ** 2)  # no two values are alike
    mass = 1.0 + 0.1 * np.arange(3.0 * COUNT)
    few = smallest_eigenpairs(S, mass, 4)
    D = S.toarray()
    large = largest_eigenpairs(lambda v: D @ v, lambda v: mass[:, None] * v if v.ndim == 2 else mass * v, 3 * COUNT, 3)
    found: dict[str, Any] = {"values": few.values, "vectors": np.abs(few.vectors), "largest": large.values}
    return found


test_recorded = recorded.test()
