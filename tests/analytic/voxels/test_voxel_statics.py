"""Equilibria of slender and of unequal lattices: the elastica, a beam rolled into a circle, stiff on soft."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.errors import StabilityWarning
from supple.scene import System
from supple.validation.voxel.blocks import block

YOUNG, SIZE, G = 1e6, 0.01, 9.81
BENDING = YOUNG * SIZE**4 / 12


def cantilever(count: int, *, force: float = 0.0, torque: float = 0.0) -> System:
    """A line of voxels, held at one end; force [N] and torque [N m] on the other, in P L²/EI and M L/EI."""
    length = (count - 1) * SIZE
    scene = sp.Scene()
    beam = scene.add(block((count, 1, 1), size=SIZE, young=YOUNG), fix=lambda X: X[:, 0] < SIZE, name="beam")
    push, turn = (0, 0, -force * BENDING / length**2), (0, torque * BENDING / length, 0)
    scene.add(sp.Wrench(beam, lambda X: X[:, 0] > (count - 1) * SIZE, force=push, torque=turn))
    return scene.compile()


@pytest.mark.parametrize(("force", "tip"), [(0.01, 0.0033333), (1.0, 0.30172), (5.0, 0.71379)])
def test_a_slender_beam_bends_as_the_elastica_in_one_load_step(force: float, tip: float) -> None:
    """Deflections over the length, of a cantilever under P L²/EI [BD45]."""
    system = cantilever(80, force=force)
    x = sp.solve_statics(system).x.reshape(-1, 7)
    assert (x[0, 2] - x[-1, 2]) / (79 * SIZE) == pytest.approx(tip, rel=2e-4)


@pytest.mark.parametrize(("count", "load_steps"), [(20, 1), (80, 10)])
def test_a_beam_rolls_into_a_circle(count: int, load_steps: int) -> None:
    """Under 2 pi E I/L its ends meet, but for the angle of a link, 4 tan(a/4): a²/48 of the turn. A torque about an
    axis that stays lets a beam that has turned by more than half a turn go aside."""
    system = cantilever(count, torque=2 * np.pi)
    with pytest.warns(StabilityWarning):
        x = sp.solve_statics(system, load_steps=load_steps).x.reshape(-1, 7)
    gap = np.linalg.norm(x[-1, :3] - x[0, :3]) / ((count - 1) * SIZE)
    assert gap < 2 * (2 * np.pi / (count - 1)) ** 2 / 24
    middle = x[:-1, :3].mean(axis=0)
    radius = np.linalg.norm(x[:-1, :3] - middle, axis=1)
    np.testing.assert_allclose(radius, (count - 1) * SIZE / (2 * np.pi), rtol=0.025)


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
