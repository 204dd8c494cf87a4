"""The layer that drapes over a ball, and one voxel on a ball."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.errors import InputError
from supple.examples.cloth import EXAMPLE
from supple.geometry import VoxelGrid
from supple.interaction.obstacles import Sphere
from supple.material.voxel import VoxelMaterial


def test_it_drapes() -> None:
    scene = EXAMPLE.make()
    system = scene.compile()
    state = system.initial_state()
    while state.t < EXAMPLE.until:
        assert scene.solver.step(system, state).is_solved
    for check in EXAMPLE.check(SimpleNamespace(system=system, state=state)):
        assert check.ok, check


@pytest.mark.parametrize(("mu", "sticks"), [(0.6, True), (0.4, False)])
def test_a_voxel_on_a_ball_sticks_where_friction_holds_the_slope(mu: float, sticks: bool) -> None:
    """At tan(angle) = 0.5 with friction 0.6 it stays; with 0.4 it slides. Resting depth m g cos / (2 E l)."""
    material = VoxelMaterial(young=1e6, density=1000, static_friction=mu, kinetic_friction=mu, contact_damping=1.0)
    body = VoxelBody(VoxelGrid(np.ones((1, 1, 1), dtype=int), 0.01), material)
    normal = np.array([0.0, 1.0, 2.0]) / np.sqrt(5)
    ball, radius = np.array([0.3, -0.2, 0.1]), 0.1
    x, v = body.model.rest_frames.copy(), np.zeros((1, 6))
    x[0, :3] = ball + (radius + 0.005) * normal
    dt = body.stable_step(contact=True)
    planes = [Sphere(tuple(ball), radius)]
    end = body.advance(LocalState(0.0, x, v), dt, int(0.02 / dt), gravity=(0, 0, -9.81), planes=planes)
    way = np.linalg.norm(end.x[0, :3] - x[0, :3])
    if sticks:
        depth = radius + 0.005 - np.linalg.norm(end.x[0, :3] - ball)
        assert depth == pytest.approx(1e-3 * 9.81 * normal[2] / (2 * 1e6 * 0.01), rel=0.02)
        assert way < 1e-5
    else:
        expected = 0.5 * 9.81 * (normal[1] - mu * normal[2]) * 0.02**2
        assert way == pytest.approx(expected, rel=0.05)


def test_a_ball_without_radius_is_refused() -> None:
    with pytest.raises(InputError, match="radius is out of range"):
        Sphere((0.0, 0.0, 0.0), 0.0)
