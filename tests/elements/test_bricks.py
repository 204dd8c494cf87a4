"""Bricks: which hexes are, and their strain features against Gauss points, which share no formula with them."""

from __future__ import annotations

import numpy as np
import pytest

from supple.geometry import HexMesh, Region, box_hexes
from supple.material import Material
from supple.modal import ElasticSolid
from supple.modal.forces.bricks import brick_edges, brick_gram, gradient_coefficients
from supple.modal.forces.cubic import gram_matrix
from supple.modal.solid import hex_quadrature
from supple.validation.tree.reduced import full_hex_force, parallelepipeds, random_basis

RUBBER = Material(young=1e5, poisson=0.3, density=1100.0)


def uneven():
    """Bricks of different lengths, two materials, one of them auxetic."""
    mesh = box_hexes(size=(0.6, 0.3, 0.2), cells=(3, 2, 2))
    mesh = HexMesh(mesh.nodes**3 + mesh.nodes, mesh.hexes)
    mesh = mesh.with_regions({"soft": Region(elements=np.arange(5)), "hard": Region(elements=np.arange(5, 12))})
    return ElasticSolid(mesh, {"soft": RUBBER, "hard": Material(young=3e5, poisson=-0.4, density=1.0)})


def test_bricks_are_told_from_other_hexes():
    mesh = box_hexes(size=(1.0, 2.0, 3.0), cells=(2, 2, 2))
    np.testing.assert_allclose(brick_edges(mesh.nodes, mesh.elements), np.tile([0.5, 1.0, 1.5], (8, 1)), rtol=1e-14)
    moved = mesh.nodes.copy()
    moved[3, 1] += 1e-6
    assert brick_edges(moved, mesh.elements) is None
    assert brick_edges(parallelepipeds().nodes, parallelepipeds().elements) is None
    assert brick_edges(mesh.nodes, mesh.elements[:, :4]) is None
    turned = mesh.nodes @ np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert brick_edges(turned, mesh.elements) is None  # along the axes, but their corners are numbered from another


@pytest.mark.parametrize("r", [1, 5, 8, 17])
def test_the_features_of_bricks_are_the_integral_of_gauss_points(r):
    """27 points are exact for the energy of a brick, whose 63 features are found in another way."""
    solid = uneven()
    U = random_basis(solid.node_count, r)
    assert solid.brick_edges is not None
    bricks = gram_matrix(solid, U)
    solid.__dict__["brick_edges"] = None  # as for other hexes
    points = gram_matrix(solid, U)
    width = r + r * (r + 1) // 2
    assert bricks.shape == (width, width)
    np.testing.assert_allclose(bricks, points, rtol=0, atol=1e-14 * np.abs(points).max())
    for rows, columns in (((0, r), (0, r)), ((0, r), (r, width))):  # much smaller than the rest
        part = slice(*rows), slice(*columns)
        np.testing.assert_allclose(bricks[part], points[part], rtol=0, atol=1e-13 * np.abs(points[part]).max())


def test_chunks_of_bricks_give_the_same():
    solid = uneven()
    U = random_basis(solid.node_count, 4).reshape(-1, 3, 4)
    lam, mu = (solid.element_values(name) for name in ("lam", "mu"))
    whole, parts = (
        brick_gram(solid.mesh.elements, solid.brick_edges, lam, mu, U, chunk_bytes=size) for size in (1 << 23, 1)
    )
    np.testing.assert_allclose(parts, whole, atol=1e-14 * np.abs(whole).max())


def test_the_reduced_force_of_bricks_is_that_of_the_mesh():
    mesh = box_hexes(size=(0.6, 0.3, 0.2), cells=(3, 2, 1))
    solid, U, q = ElasticSolid(mesh, RUBBER), random_basis(len(mesh.nodes), 4), np.array([0.03, -0.05, 0.02, 0.04])
    gram = gram_matrix(solid, U)
    w = np.concatenate([q, [q[i] * q[j] for i in range(4) for j in range(i, 4)]])
    slope = np.zeros((4, len(w)))
    slope[:, :4] = np.eye(4)
    pairs = [(i, j) for i in range(4) for j in range(i, 4)]
    for column, (i, j) in enumerate(pairs, start=4):
        slope[i, column] += q[j]
        slope[j, column] += q[i]
    np.testing.assert_allclose(slope @ gram @ w, U.T @ full_hex_force(mesh, U @ q, 4), rtol=1e-11)


def test_coefficients_are_the_gradients_at_a_point():
    mesh = box_hexes(size=(2.0, 2.0, 2.0), cells=(1, 1, 1))
    gradients, _ = hex_quadrature(mesh.nodes, mesh.elements, 2)
    line = np.polynomial.legendre.leggauss(2)[0]
    xi = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)
    p = np.stack([np.ones_like(xi), np.sqrt(3.0) * xi])  # degree, point, axis
    table = gradient_coefficients().reshape(3, 2, 2, 8)
    for j, (first, second) in enumerate(((1, 2), (0, 2), (0, 1))):
        values = np.einsum("bq,cq,bca->qa", p[:, :, first], p[:, :, second], table[j])
        np.testing.assert_allclose(values, gradients[0, :, :, j], atol=1e-14)


def test_points_of_equal_bricks_are_those_of_each():
    mesh = box_hexes(size=(0.6, 0.3, 0.2), cells=(3, 2, 1))
    for count in (2, 3):
        once, each = ElasticSolid(mesh, RUBBER).hex_points(count), hex_quadrature(mesh.nodes, mesh.elements, count)
        np.testing.assert_allclose(once.gradients, each.gradients, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(once.weights, each.weights, rtol=1e-12)


def test_the_stiffness_of_bricks_is_that_of_other_hexes():
    """Eight points are exact for it, so 27 change nothing."""
    solid = uneven()
    few = solid.stiffness
    again = uneven()
    again.__dict__["brick_edges"] = None
    difference = abs(few - again.stiffness).max()
    assert difference < 1e-13 * abs(few).max()
