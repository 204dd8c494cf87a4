"""Signed distances against the closed form of a box; surfaces without an inside are refused."""

from __future__ import annotations

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


def test_signed_distances_need_a_closed_surface_that_agrees_on_its_outside() -> None:
    ball = boundary(sphere_tets(1.0, 3))
    with pytest.raises(InputError, match="open"):
        SignedDistance(SurfaceMesh(ball.nodes, ball.triangles[2:]))
    turned = ball.triangles.copy()
    turned[0] = turned[0, ::-1]
    with pytest.raises(InputError, match="disagree"):
        SignedDistance(SurfaceMesh(ball.nodes, turned))
