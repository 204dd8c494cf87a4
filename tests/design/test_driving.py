"""Networks drive the robots of an arena by what each voxel observes."""

from __future__ import annotations

import numpy as np
import pytest

from supple.bodies.voxel import Commands
from supple.contact import Floor
from supple.design import Arena, Design, try_design
from supple.design.controllers import Network
from supple.design.driving import VoxelSenses
from supple.design.trial import make_trial
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


def test_samples_of_a_sine_drive_as_the_sine_does() -> None:
    """Held for a fiftieth of a period each, with the values of its middle: the robot is where the sine takes it.

    A step of a fiftieth of a turn is 2 pi / 50 = 0.13 of the amplitude, half of it off at most: 6 %, less for what
    moves slower than the steps.
    """
    phase = np.linspace(0.0, 0.9, 12).reshape(3, 2, 2)
    turns = np.arange(50) / 50
    data = {"kind": "samples", "values": np.sin(2 * np.pi * (turns + 0.01)), "rate": 200.0, "repeats": True}
    damped = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01, bond_damping=1.0)
    arena = ARENA.with_(materials={1: damped}, obstacles=(), gravity=(0, 0, 0))
    sampled, swung = (make_trial(Design(CELLS, {"phase": phase}, given), arena) for given in (data, None))
    start = arena.scene(Design(CELLS)).compile().initial_state().x
    moved = np.abs(swung.run.state.x - start).max()
    assert np.abs(sampled.run.state.x - swung.run.state.x).max() < 0.06 * moved


def test_samples_hold_their_last_value_and_have_no_phase_then() -> None:
    data = {"kind": "samples", "values": [0.0, 1.0], "rate": 10.0}
    driver = ARENA.body_of(Design(CELLS, {"gain": np.full((3, 2, 2), 0.5)}, data)).actuation
    assert isinstance(driver, Commands)
    np.testing.assert_allclose(driver.ask(0.05, None), 15.0 * 0.5, rtol=1e-14)
    np.testing.assert_allclose(driver.ask(3.0, None), 15.0, rtol=1e-14)
    shifted = try_design(Design(CELLS, {"phase": np.linspace(0, 0.9, 12).reshape(3, 2, 2)}, data), ARENA)
    assert (shifted.outcome, "repeats" in shifted.message) == ("refused", True), shifted.message


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


@pytest.mark.parametrize(
    "controller",
    [
        {"kind": "waves"},
        Network.random([3, 1], 0).to_data(),
        {"kind": "samples"},
        {"kind": "samples", "values": [np.nan], "rate": 1.0},
        {"kind": "samples", "values": [1.0], "rate": "fast"},
    ],
)
def test_other_controllers_are_refused(controller: dict) -> None:
    result = try_design(Design(CELLS, {}, controller), ARENA)
    assert result.outcome == "refused"
    assert "network" in result.message or "amples" in result.message


def _frames(positions: np.ndarray) -> np.ndarray:
    """Frames (n, 7) of voxels that are not turned."""
    return np.hstack([positions, np.tile([1.0, 0.0, 0.0, 0.0], (len(positions), 1))])


def test_places_are_seen_from_the_centre_of_mass() -> None:
    """Of voxels of two materials, whose densities a field of the design multiplies."""
    cells = np.ones((3, 2, 1), dtype=int)
    cells[2] = 2
    factor = np.linspace(0.5, 2.0, 6).reshape(cells.shape)
    stuff = {1: VoxelMaterial(1e5, 500.0), 2: VoxelMaterial(1e5, 1500.0)}
    arena = Arena(stuff, 0.01, duration=0.1)
    design = Design(cells, {"density": factor})
    grid = arena.grid(design)
    x = np.zeros((6, 7))
    x[:, :3], x[:, 3] = grid.voxel_centres, 1.0
    mass = factor.ravel() * np.where(cells.ravel() == 1, 500.0, 1500.0)
    centre = mass @ x[:, :3] / mass.sum()
    seen = VoxelSenses(design, arena, grid).observe(0.0, x, np.zeros((6, 6)))
    np.testing.assert_allclose(seen[:, 1:4], (x[:, :3] - centre) / 0.03, rtol=1e-12, atol=1e-12)
