"""Surfaces of fewer points."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.geometry.surfaces.clustering import cluster_vertices


@pytest.mark.parametrize("spacing", [0.05, 0.1, 0.3])
def test_a_clustered_sphere_is_a_sphere(spacing: float) -> None:
    ball = sp.sphere_tets(radius=0.5, cells=16).boundary.surface
    numbers, triangles = cluster_vertices(ball.nodes, ball.triangles, spacing)
    assert len(set(numbers.tolist())) == len(numbers) < len(ball.nodes)
    assert set(np.unique(triangles)) <= set(range(len(numbers)))
    corners = np.sort(triangles, axis=1)
    assert (np.diff(corners, axis=1) > 0).all()
    assert len(np.unique(corners, axis=0)) == len(corners)
    volume = sp.SurfaceMesh(ball.nodes[numbers], triangles).volume
    assert volume == pytest.approx(np.pi / 6, rel=0.05 + spacing**2 / 0.5**2)  # chords lie inside


def test_a_fine_grid_keeps_all() -> None:
    ball = sp.sphere_tets(radius=0.5, cells=6).boundary.surface
    numbers, triangles = cluster_vertices(ball.nodes, ball.triangles, 1e-9)
    assert sorted(numbers.tolist()) == list(range(len(ball.nodes)))
    assert np.array_equal(np.sort(numbers[triangles], axis=0), np.sort(ball.triangles, axis=0))
