"""Networks drive the robots of an arena by what each voxel observes."""

from __future__ import annotations

import numpy as np
import pytest

from supple.bodies.voxel import Commands
from supple.contact import Floor
from supple.design import Arena, Design, try_design
from supple.design.controllers import Network
from supple.design.driving import VoxelSenses
from supple.material.voxel import VoxelMaterial

SOFT = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01)
ARENA = Arena({1: SOFT}, 0.01, duration=0.2, settle=0.05, amplitude=15.0, frequency=4.0)
CELLS = np.ones((3, 2, 2))


def test_a_network_moves_a_robot_and_the_same_one_the_same_way() -> None:
    networks = [Network.random([14, 5, 1], seed=k, scale=3.0) for k in (0, 1)]
    designs = [Design(CELLS, {}, network.to_data()) for network in networks]
    one, two = (try_design(design, ARENA) for design in designs)
    assert one.ok, one.message
    assert one.scores["travel"] > 1e-5  # far more than round-off
    assert one.scores != two.scores
    assert try_design(designs[0], ARENA) == one


def test_a_network_that_knows_its_clock_alone_is_a_wave() -> None:
    """Nearly linear in the sine: tanh(a sin) / a, with a small."""
    weights = np.zeros((1, 14))
    weights[0, 9] = 1e-3
    phase = np.linspace(0.0, 0.9, 12).reshape(3, 2, 2)
    design = Design(CELLS, {"phase": phase}, Network([(weights, np.zeros(1))]).to_data())
    body = ARENA.body_of(design)
    driver = body.actuation
    assert isinstance(driver, Commands)
    t = 0.31
    asked = driver.ask(t, type("State", (), {"x": _frames(body.positions), "v": np.zeros((12, 6))}))
    np.testing.assert_allclose(asked, 15.0 * 1e-3 * np.sin(2 * np.pi * (4.0 * t + phase.ravel())), atol=1e-8)


def test_voxels_observe_where_they_are_and_what_they_touch() -> None:
    design = Design(CELLS)
    senses = VoxelSenses(design, ARENA.with_(obstacles=(Floor(),)), ARENA.grid(design))
    x = _frames(ARENA.body_of(design).positions)
    seen = senses.observe(0.0, x, np.arange(72.0).reshape(12, 6))
    np.testing.assert_allclose(seen[:, 1:4], (x[:, :3] - x[:, :3].mean(axis=0)) / 0.03, atol=1e-14)
    np.testing.assert_array_equal(seen[:, 4:7], np.arange(72.0).reshape(12, 6)[:, :3])
    np.testing.assert_allclose(seen[:, 7], 0.0, atol=1e-14)
    np.testing.assert_array_equal(seen[:, 8], x[:, 2] < 0.01)
    assert not seen[:, 11:].any()


@pytest.mark.parametrize("controller", [{"kind": "waves"}, Network.random([3, 1], 0).to_data()])
def test_other_controllers_are_refused(controller: dict) -> None:
    result = try_design(Design(CELLS, {}, controller), ARENA)
    assert result.outcome == "refused"
    assert "network" in result.message


def _frames(positions: np.ndarray) -> np.ndarray:
    """Frames (n, 7) of voxels that are not turned."""
    return np.hstack([positions, np.tile([1.0, 0.0, 0.0, 0.0], (len(positions), 1))])
