"""Newton's default tolerances can be reached, whatever the stiffness."""

from __future__ import annotations

import pytest

import supple as sp


@pytest.mark.parametrize(
    "solver", [sp.Midpoint(1e-3), sp.Newmark(1e-3), sp.GeneralizedAlpha(1e-3)], ids=["mid", "newmark", "alpha"]
)
def test_a_clamped_steel_bar_is_solved_at_the_default_tolerance(solver: object) -> None:
    """A slender bar under its weight, which every method solves in two or three iterations."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=solver)
    mesh = sp.box_hexes((0.3, 0.01, 0.01), (30, 2, 2))
    scene.add(sp.FemBody(mesh, sp.Material(2e11, 0.3, 7800)), fix="x_min", name="bar")
    assert sp.run(scene, until=0.05).under_converged == 0
