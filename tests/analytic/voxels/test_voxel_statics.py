"""Equilibria of slender and of unequal lattices: the elastica, a beam rolled into a circle, stiff on soft."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.errors import StabilityWarning
from supple.validation.voxel.bending import SIZE, cantilever, elastica, rolled

G = 9.81


def test_a_slender_beam_bends_as_the_elastica_in_one_load_step() -> None:
    """Deflections over the length, of a cantilever under P L²/EI [BD45]."""
    assert all(row.ok for row in elastica())


@pytest.mark.parametrize("count", [20, 40, 80])
def test_a_beam_rolls_into_a_circle(count: int) -> None:
    """Under 2 pi E I/L its ends meet, but for the angle of a link: a²/12 of the length, up to a second order in a²."""
    x, link = rolled(count), 2 * np.pi / (count - 1)
    gap = np.linalg.norm(x[-1] - x[0]) / ((count - 1) * SIZE)
    assert gap == pytest.approx(link**2 / 12, rel=link**2)
    radius = np.linalg.norm(x[:-1] - x[:-1].mean(axis=0), axis=1)
    np.testing.assert_allclose(radius, (count - 1) * SIZE / (2 * np.pi), rtol=0.025)


def test_a_circle_under_a_torque_about_an_axis_that_stays_is_unstable() -> None:
    """A beam that has turned by more than half a turn goes aside."""
    with pytest.warns(StabilityWarning):
        sp.solve_statics(cantilever(20, torque=2 * np.pi))


def test_a_stiff_block_on_a_soft_one_balances() -> None:
    """A million times as stiff: the sum of forces on each voxel is a round-off of the weight."""
    cells = np.ones((3, 3, 6), dtype=int)
    cells[:, :, 3:] = 2
    palette = {1: sp.VoxelMaterial(1e3, density=1000.0), 2: sp.VoxelMaterial(1e9, density=1000.0)}
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(sp.VoxelBody(sp.VoxelGrid(cells, SIZE), palette), fix=lambda X: X[:, 2] < SIZE, name="column")
    system = scene.compile()
    state = sp.solve_statics(system, tolerance=1e-10)
    f = system.force(system.propagate(0.0, state.x, state.v))
    system.filter.project(f)
    assert np.abs(f).max() < 1e-8 * 1000.0 * SIZE**3 * G * 54
