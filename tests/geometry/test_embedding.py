"""Embedding: affine fields are reproduced, the grid agrees with all pairs, the tree with all triangles."""

import numpy as np
import pytest

from supple.errors import InputError
from supple.geometry import HexMesh, box_hexes, box_tets, embed, sphere_hexes, sphere_tets
from supple.geometry.grids.spatial_hash import make_cell_grid
from supple.geometry.surfaces.triangle_tree import compute_nearest, make_triangle_tree

MESHES = {
    "tets": lambda: sphere_tets(0.5, 3),
    "hexes": lambda: sphere_hexes(0.5, 3),
    "long tets": lambda: box_tets((3.0, 0.1, 0.2), (9, 2, 2)),
    "warped hexes": lambda: _warped(box_hexes((1.0, 1.0, 1.0), (3, 3, 3))),
}


def _warped(mesh):
    x, y, z = mesh.nodes.T
    return HexMesh(mesh.nodes + 0.1 * np.stack([np.sin(3 * y), np.sin(4 * z), np.sin(3 * x)], axis=1), mesh.hexes)


def _points(mesh, count, stretch, seed=0):
    lower, upper = mesh.bounds
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    return middle + stretch * half * np.random.default_rng(seed).uniform(-1, 1, (count, 3))


@pytest.mark.parametrize("make", MESHES.values(), ids=MESHES)
def test_affine_fields_are_reproduced_everywhere(make):
    mesh = make()
    points = _points(mesh, 800, 1.5)
    embedding = embed(points, mesh)
    A, b = np.random.default_rng(2).normal(size=(3, 3)), np.array([1.0, -2.0, 3.0])
    # extrapolated weights of flattened rim hexes reach tens, hence 1e-12 and not 1e-15
    np.testing.assert_allclose(embedding.apply(mesh.nodes @ A.T + b), points @ A.T + b, atol=1e-12)
    np.testing.assert_allclose(embedding.matrix() @ mesh.nodes, points, atol=1e-12)
    np.testing.assert_allclose(embedding.weights.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(embedding.nodes, mesh.elements[embedding.elements])
    inside = np.setdiff1d(np.arange(len(points)), embedding.outside)
    assert inside.size > 20
    assert embedding.outside_count > 20
    if mesh.kind == "tet":
        assert embedding.weights[inside].min() >= -1e-9
        assert (embedding.weights[embedding.outside].min(axis=1) < 0).all()


@pytest.mark.parametrize("make", [MESHES["tets"], MESHES["long tets"]], ids=["tets", "long tets"])
def test_grid_agrees_with_all_pairs(make):
    mesh = make()
    points = _points(mesh, 500, 1.2)
    embedding = embed(points, mesh)
    corners = mesh.nodes[mesh.tets]
    edges = np.moveaxis(corners[:, 1:] - corners[:, :1], 1, 2)
    inner = np.linalg.solve(edges[None], (points[:, None] - corners[None, :, 0])[..., None])[..., 0]
    weights = np.concatenate([1 - inner.sum(axis=2, keepdims=True), inner], axis=2)
    worst = weights.min(axis=2)  # (points, tets)
    inside = worst.max(axis=1) >= 0
    np.testing.assert_array_equal(np.flatnonzero(~inside), embedding.outside)
    chosen = worst[np.arange(len(points)), embedding.elements]
    assert (chosen[inside] >= -1e-9).all()


def test_outside_points_take_the_nearest_element_and_say_how_far():
    mesh = box_tets((1.0, 1.0, 1.0), (3, 3, 3))
    points = np.array([[0.5, 0.0, 0.9], [-0.3, 0.0, 0.0], [2.0, 1.5, 0.0], [0.5, 0.1, 0.1]])
    embedding = embed(points, mesh)
    np.testing.assert_array_equal(embedding.outside, [0, 1, 2])
    np.testing.assert_allclose(embedding.distances, [0.4, 0.3, np.sqrt(2.0)])
    assert embedding.largest_distance == pytest.approx(np.sqrt(2.0))
    clamped = np.clip(points, mesh.bounds[0], mesh.bounds[1])
    reached = np.linalg.norm(mesh.nodes[embedding.nodes] - clamped[:, None], axis=2).min(axis=1)
    assert (reached < 0.5).all()  # the element touches the nearest boundary point: its diagonal is 0.58
    within = embed([[0.5, 0.1, 0.1]], mesh)
    assert within.outside_count == 0
    assert within.largest_distance == 0.0


def test_nodes_and_shared_faces_count_as_inside():
    for mesh in (sphere_tets(0.5, 3), sphere_hexes(0.5, 3)):
        embedding = embed(mesh.nodes, mesh)
        assert embedding.outside_count == 0
        np.testing.assert_allclose(embedding.apply(mesh.nodes), mesh.nodes, atol=1e-13)


@pytest.mark.parametrize("count", [1, 4, 5, 333])
def test_tree_agrees_with_all_triangles(count):
    rng = np.random.default_rng(count)
    nodes, triangles = rng.normal(size=(3 * count, 3)), np.arange(3 * count).reshape(-1, 3)
    points = rng.normal(size=(200, 3)) * 1.5
    triangle, nearest = np.full(200, -7), np.full((200, 3), np.nan)
    distance = np.full(200, np.nan)
    compute_nearest(points, make_triangle_tree(nodes, triangles), triangle, nearest, distance)
    # rival: the constrained least squares of each pair by dense sampling of the faces of the weights' simplex
    best = np.min([_distance(points, nodes[t]) for t in triangles], axis=0)
    np.testing.assert_allclose(distance, best, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(points - nearest, axis=1), distance, rtol=1e-12)


def _distance(points, corners):
    """Distance to one triangle: its plane where the foot lies inside, else the nearest of its three sides."""
    a, b, c = corners
    foot, *_ = np.linalg.lstsq(np.stack([b - a, c - a], axis=1), (points - a).T, rcond=None)
    inside = (foot >= 0).all(axis=0) & (foot.sum(axis=0) <= 1)
    plane = np.linalg.norm(points - a - foot.T @ np.stack([b - a, c - a]), axis=1)
    sides = []
    for p, q in ((a, b), (b, c), (c, a)):
        t = np.clip((points - p) @ (q - p) / np.dot(q - p, q - p), 0, 1)
        sides.append(np.linalg.norm(points - p - t[:, None] * (q - p), axis=1))
    return np.where(inside, plane, np.min(sides, axis=0))


def test_cells_list_every_box_that_touches_them():
    rng = np.random.default_rng(3)
    lower = rng.uniform(0, 1, (60, 3))
    upper = lower + rng.uniform(0, 0.3, (60, 3))
    grid = make_cell_grid(lower, upper)
    size = 1 / grid.inverse_size
    for cell in np.ndindex(*grid.shape):
        flat = np.ravel_multi_index(cell, grid.shape)
        listed = grid.items[grid.start[flat] : grid.start[flat + 1]]
        first, last = ((x - grid.origin) // size for x in (lower, upper))
        first, last = (np.clip(x, 0, grid.shape - 1) for x in (first, last))
        np.testing.assert_array_equal(listed, np.flatnonzero(((first <= cell) & (last >= cell)).all(axis=1)))


def test_bad_points_are_refused():
    mesh = box_tets((1, 1, 1), (1, 1, 1))
    with pytest.raises(InputError, match="node 1 is not finite"):
        embed([[0, 0, 0], [np.inf, 0, 0]], mesh)
    with pytest.raises(InputError, match="one value a node"):
        embed([[0.5, 0, 0]], mesh).apply(np.zeros(3))
