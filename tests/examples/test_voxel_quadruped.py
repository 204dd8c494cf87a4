"""The walking robot, driven by its own stride."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from supple.bodies.protocols import LocalState
from supple.examples.quadruped import EXAMPLE, robot
from supple.interaction.obstacles import Plane
from supple.solvers import LatticeSolver


def test_it_walks() -> None:
    scene = EXAMPLE.make()
    system = scene.compile()
    state = system.initial_state()
    solver = LatticeSolver()
    solver.prepare(system)
    while state.t < EXAMPLE.until:
        assert solver.step(system, state).is_solved
    for check in EXAMPLE.check(SimpleNamespace(system=system, state=state)):
        assert check.ok, check


@pytest.mark.parametrize("axis", [0, 1])
def test_a_mirrored_robot_walks_a_mirrored_way(axis: int) -> None:
    # reflect the phases: the motion must be the reflected one, until round-off has grown
    body = robot()
    mirror = np.ravel_multi_index(body.grid.voxels.T, body.grid.shape)
    cells = body.grid.voxels.copy()
    cells[:, axis] = body.grid.shape[axis] - 1 - cells[:, axis]
    order = np.searchsorted(mirror, np.ravel_multi_index(cells.T, body.grid.shape))
    assert body.actuation is not None
    other = type(body)(
        body.grid,
        body.palette,
        actuation=type(body.actuation)(
            body.actuation.amplitude, body.actuation.frequency, np.asarray(body.actuation.phase)[order]
        ),
    )
    dt = body.stable_step(contact=True, safety=0.7)
    ends = []
    for walker in (body, other):
        start = LocalState(0.0, walker.model.rest_frames.copy(), np.zeros((walker.model.voxel_count, 6)))
        ends.append(walker.advance(start, dt, 3000, gravity=(0, 0, -9.81), planes=[Plane()]).x[:, :3])
    middle = (body.grid.origin + body.grid.voxel_size * np.array(body.grid.shape) / 2)[axis]
    expected = ends[0][order].copy()
    expected[:, axis] = 2 * middle - expected[:, axis]
    assert np.abs(ends[0] - body.model.centres).max() > 1e-3  # it has moved
    np.testing.assert_allclose(ends[1], expected, atol=1e-8)
