"""Access to a sweep's state without copies, and to what its links carry."""

from __future__ import annotations

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.voxel import Collision, VoxelBody
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial

RUBBER = VoxelMaterial(young=1e6, density=1000.0)


def test_views_share_memory_and_follow_the_steps() -> None:
    body = VoxelBody(VoxelGrid(np.ones((3, 5, 2), dtype=int), 0.01), RUBBER)
    sweep = LatticeSweep.make(body.model)
    views = sweep.views
    assert np.shares_memory(views.positions, sweep.layout.bricks.state)
    sweep.advance(1e-5, 50, gravity=(0.0, 0.0, -9.81))
    x, v = np.empty((30, 7)), np.empty((30, 6))
    sweep.save(x, v)
    for k, axis in enumerate(views.axes):
        np.testing.assert_array_equal(views.positions[views.brick, k, views.lane], x[:, axis])
        np.testing.assert_array_equal(views.velocities[views.brick, k, views.lane], v[:, axis])
    views.velocities[views.brick, views.axes.index(2), views.lane] = 1.0  # thrown upwards, without a copy
    sweep.save(x, v)
    np.testing.assert_array_equal(v[:, 2], 1.0)


def test_touching_pairs_are_voxels_of_the_body() -> None:
    numbers = np.ones((5, 1, 1), dtype=int)
    numbers[2] = 0
    body = VoxelBody(VoxelGrid(numbers, 0.01), RUBBER)
    sweep = LatticeSweep.make(body.model, collision=Collision())
    x = body.model.rest_frames.copy()
    x[2:, 0] -= 0.0105  # the second piece overlaps the first
    sweep.load(x, np.zeros((4, 6)))
    sweep.advance(1e-6, 1)
    np.testing.assert_array_equal(sweep.touching_pairs, [[1, 2]])


def test_links_carry_a_weight() -> None:
    """A hanging chain at rest: the link under voxel k carries the weight of what hangs below it."""
    body = VoxelBody(VoxelGrid(np.ones((1, 1, 5), dtype=int), 0.01), RUBBER)
    x = body.model.rest_frames.copy()
    weight = 9.81 * body.model.mass[0]
    tension = weight * np.arange(1, 5)  # voxel 4 is held, 0 hangs lowest
    x[3::-1, 2] -= np.cumsum(tension[::-1]) / body.model.link_stiffness[0, 0]
    links = body.links(LocalState(0.0, x, np.zeros((5, 6))))
    np.testing.assert_allclose(links.strain, tension / (1e6 * 0.01**2), rtol=1e-9)
    np.testing.assert_allclose(links.force[:, 2], -tension, rtol=1e-9)
    np.testing.assert_allclose(links.bend, 0.0, atol=1e-12)
