"""The supernodal factor against dense solutions, in both precisions; what is not positive definite is refused."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.block_sparse import BlockSparse
from supple.algebra.supernodal import SupernodalCholesky
from supple.errors import ConvergenceError, InputError
from supple.geometry import SurfaceMesh, box_tets, sphere_tets
from supple.geometry.signed_distance import SignedDistance

Array = np.ndarray


def random_matrix(n: int = 60, pairs: int = 150, seed: int = 0) -> BlockSparse:
    """Symmetric positive definite on a random pattern, in several pieces."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, size=(2, pairs))
    apart = i != j
    i, j = i[apart], j[apart]
    A = BlockSparse.from_pairs(n, np.r_[i, j], np.r_[j, i])
    for a, b in zip(i, j):
        S = rng.normal(size=(3, 3))
        at, back = A.locate([a, b], [b, a])
        A.data[at] = S
        A.data[back] = S.T
    dense = A.to_scipy().toarray()
    A.add_diagonal(1.0 + np.abs(dense).sum(axis=1))
    return A


@pytest.mark.parametrize("seed", range(3))
def test_it_solves_as_a_dense_factorisation_does(seed: int) -> None:
    A, rng = random_matrix(seed=seed), np.random.default_rng(9)
    b = rng.normal(size=(180, 2))
    exact = np.linalg.solve(A.to_scipy().toarray(), b)
    factor = SupernodalCholesky(A)
    assert np.allclose(factor.solve(b), exact, rtol=0, atol=1e-13)
    single = SupernodalCholesky(A, dtype=np.float32)
    assert np.allclose(single.solve(b[:, 0]), exact[:, 0], rtol=0, atol=1e-5)
    A.data *= 2.0
    factor.update(A)
    assert np.allclose(factor.solve(b), exact / 2, rtol=0, atol=1e-13)


def test_a_large_supernode_is_cut_into_panels() -> None:
    n = 80
    rows, cols = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
    A = BlockSparse.from_pairs(n, rows, cols)
    B = np.random.default_rng(1).normal(size=(3 * n, 3 * n))
    dense = B @ B.T + 3 * n * np.eye(3 * n)
    A.data[A.locate(rows, cols)] = dense.reshape(n, 3, n, 3).transpose(0, 2, 1, 3).reshape(-1, 3, 3)
    b = np.ones(3 * n)
    factor = SupernodalCholesky(A)
    assert np.allclose(factor.solve(b), np.linalg.solve(dense, b), atol=1e-14)
    assert factor.entry_count < 9 * n * n  # with one square for all of it, it would be that


def test_what_it_refuses() -> None:
    A = random_matrix()
    A.data[A.diagonal[7]] *= -1.0
    with pytest.raises(ConvergenceError, match="not positive definite"):
        SupernodalCholesky(A)
    with pytest.raises(InputError, match="float64 or float32"):
        SupernodalCholesky(random_matrix(), dtype=np.int32)
    with pytest.raises(InputError, match="does not fit"):
        SupernodalCholesky(random_matrix()).solve(np.zeros(5))


def boundary(mesh: object) -> SurfaceMesh:
    return SurfaceMesh(mesh.nodes, mesh.boundary.triangles, isolated="drop")  # type: ignore[attr-defined]


def test_signed_distances_of_a_box_are_exact_at_faces_edges_and_corners() -> None:
    distance = SignedDistance(boundary(box_tets(size=(2.0, 1.0, 1.0), cells=(2, 1, 1))))
    p = np.random.default_rng(0).uniform((-1, -1.5, -1.5), (3, 1.5, 1.5), size=(500, 3))
    q = np.abs(p - (1.0, 0.0, 0.0)) - (1.0, 0.5, 0.5)
    exact = np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)
    assert np.allclose(distance(p), exact, atol=1e-12)
    assert (exact < 0).any()
    assert (exact > 0).any()


def test_signed_distances_need_a_closed_surface_that_agrees_on_its_outside() -> None:
    ball = boundary(sphere_tets(1.0, 3))
    with pytest.raises(InputError, match="open"):
        SignedDistance(SurfaceMesh(ball.nodes, ball.triangles[2:]))
    turned = ball.triangles.copy()
    turned[0] = turned[0, ::-1]
    with pytest.raises(InputError, match="disagree"):
        SignedDistance(SurfaceMesh(ball.nodes, turned))
