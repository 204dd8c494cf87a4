"""Surfaces that cut themselves, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.geometry.surfaces.self_crossing import crossing_pair

FLAT = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])


def pair(other: np.ndarray) -> tuple[int, int] | None:
    return crossing_pair(np.concatenate([FLAT, other]), np.arange(6).reshape(2, 3))


@pytest.mark.parametrize(("x", "cuts"), [(0.2, True), (0.45, True), (0.55, False), (-0.05, False)])
def test_a_needle_through_a_triangle(x: float, cuts: bool) -> None:
    """A thin triangle along z at (x, x): inside the flat one where 0 < x < 1/2."""
    needle = np.array([[x, x, -1.0], [x + 1e-3, x - 1e-3, -1.0], [x, x, 1.0]])
    assert (pair(needle) == (0, 1)) == cuts
    assert pair(needle + np.array([0, 0, 1.5])) is None


def test_closed_surfaces_apart_or_one_in_the_other_do_not_cut() -> None:
    solid = sp.sphere_tets(radius=0.1, cells=4).boundary
    ball, triangles = np.asarray(solid.nodes), np.asarray(solid.triangles)
    assert crossing_pair(ball, triangles) is None
    for factor, move, cuts in ((1.0, 0.25, False), (0.3, 0.0, False), (1.0, 0.15, True)):
        nodes = np.concatenate([ball, factor * ball + [move, 0.011, 0.007]])
        found = crossing_pair(nodes, np.concatenate([triangles, triangles + len(ball)]))
        assert (found is not None) == cuts
