"""The beam of two materials: its difference from finite elements is of second order in the size of the voxels."""

from __future__ import annotations

import pytest

from supple.examples.bimaterial import YOUNG, beam, clamp, end_drops, extrapolated, solid_drops
from supple.scene import Scene
from supple.solvers import solve_statics


def difference(layers: int, cells: int) -> float:
    """Relative difference of the end's drop, under a hundredth of gravity: small strains."""
    gravity = (0.0, 0.0, -0.0981)
    body = beam(layers)
    scene = Scene(gravity=gravity)
    scene.add(body, fix=clamp(body), name="beam")
    x = solve_statics(scene.compile()).x.reshape(-1, 7)
    coarse, fine = (solid_drops(c, layers, gravity, load_steps=1) for c in (cells, 2 * cells))
    return float(end_drops(body, x).mean() / extrapolated(coarse, fine).mean() - 1)


def test_the_lower_half_is_100_times_stiffer() -> None:
    assert YOUNG["stiff"] == 100 * YOUNG["soft"]
    body = beam()
    assert set(body.model.values("young")[body.positions[:, 2] < 0.02]) == {YOUNG["stiff"]}


def test_the_difference_from_a_solid_is_of_second_order() -> None:
    """Halving the voxels divides it by about four."""
    coarse, fine = difference(2, 4), difference(4, 2)
    assert abs(fine) < 5e-3
    assert coarse / fine == pytest.approx(4.0, abs=1.5)
