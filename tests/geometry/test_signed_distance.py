"""Signed distances against the closed form of a box; surfaces without an inside are refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from supple.errors import InputError
from supple.geometry import SurfaceMesh, box_tets, sphere_tets
from supple.geometry.surfaces.signed_distance import SignedDistance


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


def test_the_sign_at_a_corner_does_not_depend_on_how_a_face_is_cut_into_triangles() -> None:
    """A thin tetrahedron, one face of which is a fan of twenty triangles around its tip: outside is beyond a face."""
    tip, apex, ends = np.zeros(3), np.array([1.0, 0, -0.2]), np.array([[1.0, -0.4, 0], [1.0, 0.4, 0]])
    part = np.linspace(0.0, 1.0, 21)[:, None]
    rim = (1 - part) * ends[0] + part * ends[1]
    n = np.arange(2, 2 + len(rim))
    fans = [[[0, a, b], [1, b, a]] for a, b in pairwise(n)]
    triangles = np.concatenate([np.reshape(fans, (-1, 3)), [[0, 1, n[0]], [0, n[-1], 1]]])
    surface = SurfaceMesh(np.vstack([tip, apex, rim]), triangles)
    p = np.random.default_rng(0).uniform((-0.3, -0.3, -0.3), (0.3, 0.3, 0.3), size=(2000, 3))
    corners = surface.nodes[triangles]
    beyond = np.einsum("pti,ti->pt", p[:, None] - corners[:, 0], surface.area_vectors).max(axis=1)
    assert 0 < (beyond < 0).sum() < len(p)
    np.testing.assert_array_equal(SignedDistance(surface)(p) < 0, beyond < 0)


def test_signed_distances_need_a_closed_surface_that_agrees_on_its_outside() -> None:
    ball = boundary(sphere_tets(1.0, 3))
    with pytest.raises(InputError, match="open"):
        SignedDistance(SurfaceMesh(ball.nodes, ball.triangles[2:]))
    turned = ball.triangles.copy()
    turned[0] = turned[0, ::-1]
    with pytest.raises(InputError, match="disagree"):
        SignedDistance(SurfaceMesh(ball.nodes, turned))
