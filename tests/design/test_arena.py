"""An arena makes the scene that a design says, and a trial of it is a result, whatever happens."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from supple.bodies.rigid import RigidBody
from supple.bodies.voxel import Actuation
from supple.contact import Floor
from supple.design import Arena, Design, Object, try_design
from supple.design.study.voxcad_design import lost_in_voxcad
from supple.design.trial import make_trial
from supple.errors import InputError
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial

SOFT = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01)
HARD = VoxelMaterial(young=1e6, density=500.0)
ARENA = Arena({1: SOFT, 2: HARD}, 0.01, duration=0.1, settle=0.1, amplitude=20.0, frequency=5.0)
CELLS = np.array([[[1, 0], [2, 1]], [[1, 0], [0, 0]]])


def walker(**more: Any) -> Design:
    phase = np.linspace(0.0, 1.0, 12).reshape(3, 2, 2)
    return Design(np.ones((3, 2, 2)), {"phase": phase, **more})


def doubled(design: Design, arena: Arena, grid: VoxelGrid) -> Actuation:
    """A controller that swings with an amplitude of its own."""
    assert grid.voxel_count == design.voxel_count
    assert design.controller is not None
    return Actuation(float(design.controller["amplitude"]), arena.frequency, rise=arena.settle)


def test_a_design_becomes_the_body_it_says() -> None:
    filled = CELLS > 0
    stiffness, density = np.where(CELLS == 2, 3.0, 2.0), np.where(CELLS == 1, 0.5, 1.0)
    phase = np.arange(8.0).reshape(2, 2, 2) / 8
    body = ARENA.body_of(Design(CELLS, {"stiffness": stiffness, "density": density, "phase": phase}))
    np.testing.assert_array_equal(body.materials, CELLS[filled])
    np.testing.assert_array_equal(body.model.values("young"), np.where(CELLS == 2, 3e6, 2e5)[filled])
    assert body.total_mass == pytest.approx(4 * 500.0 * 1e-6, rel=1e-12)
    drive = body.actuation
    assert isinstance(drive, Actuation)
    assert (drive.amplitude, drive.frequency, drive.rise) == (20.0, 5.0, 0.1)
    np.testing.assert_array_equal(drive.phase, phase[filled])
    swing = body.swing
    assert swing is not None
    t = 0.137  # after the actuation has grown; the hard material does not expand
    expected = 0.01 * (1 + 0.01 * 20.0 * np.sin(2 * np.pi * (5.0 * t + phase)) * (CELLS == 1))[filled]
    np.testing.assert_allclose(swing.sizes(t), expected, rtol=1e-12)


def test_the_gain_scales_the_control_of_each_voxel() -> None:
    gain = np.array([[[0.0]], [[1.0]], [[-0.5]]])
    swing = ARENA.with_(settle=0.0).body_of(Design(np.ones((3, 1, 1)), {"gain": gain})).swing
    assert swing is not None
    np.testing.assert_allclose(swing.sizes(0.05), 0.01 * (1 + 0.2 * gain.ravel()), rtol=1e-12)


def test_filled_cells_stand_on_the_place() -> None:
    cells = np.zeros((5, 4, 6), dtype=int)
    cells[1:3, 2:3, 3:5] = 1
    centres = ARENA.with_(place=(0.3, -0.2, 0.5)).body_of(Design(cells)).positions
    np.testing.assert_allclose(centres.mean(axis=0), (0.3, -0.2, 0.5 + 0.01), atol=1e-15)
    assert centres[:, 2].min() == pytest.approx(0.505, abs=1e-15)


def test_what_else_is_there_is_in_the_scene() -> None:
    ball = Object("ball", RigidBody.sphere(0.01, density=500), at=(0.1, 0.0, 0.02))
    arena = ARENA.with_(objects=[ball], obstacles=(Floor(friction=0.3),), gravity=(0, 0, -1.62))
    scene = arena.scene(walker())
    assert [node.name for node in scene.nodes] == ["robot", "ball"]
    assert np.asarray(scene.gravity).tolist() == [0.0, 0.0, -1.62]
    assert [o.friction for o in scene.obstacles.values()] == [0.3]
    assert len(scene.contacts) == 1
    assert not ARENA.scene(walker()).contacts
    trial = make_trial(walker(), arena.with_(settle=0.0, duration=0.05, amplitude=0.0))
    falls = trial.watched["ball"][:, 2] - 0.02  # until it lands
    step = trial.run.solver.dt
    np.testing.assert_allclose(falls, -1.62 * trial.times**2 / 2, atol=1.62 * 0.05 * step)
    assert falls[-1] < -1e-3


def test_a_controller_makes_the_drivers() -> None:
    arena = ARENA.with_(controller=f"{__name__}:doubled")
    drive = arena.body_of(Design(CELLS, {}, {"amplitude": 7.0})).actuation
    assert isinstance(drive, Actuation)
    assert drive.amplitude == 7.0


def fixed(design: Design, arena: Arena, grid: VoxelGrid) -> Actuation:
    """A controller that needs no data of a design."""
    return Actuation(3.0, arena.frequency)


def test_a_controller_that_an_arena_names_drives_designs_without_data() -> None:
    arena = ARENA.with_(controller=f"{__name__}:fixed")
    assert not ARENA.has_controller(walker())
    assert arena.has_controller(walker())
    drive = arena.body_of(walker()).actuation
    assert isinstance(drive, Actuation)
    assert drive.amplitude == 3.0
    assert "the controller" in lost_in_voxcad(walker(), arena)


def test_the_same_arena_has_the_same_key() -> None:
    assert pickle.loads(pickle.dumps(ARENA)).key() == ARENA.key() == ARENA.with_().key()
    changes: list[dict[str, Any]] = [
        {"duration": 0.2}, {"gravity": (0, 0, -9.8)}, {"obstacles": ()}, {"obstacles": (Floor(friction=0.4),)},
        {"materials": {1: SOFT}}, {"self_contact": True}, {"velocity": (1, 0, 0)}, {"controller": "math:hypot"},
    ]  # fmt: skip
    assert len({ARENA.key(), *(ARENA.with_(**change).key() for change in changes)}) == 1 + len(changes)


def test_twice_the_same_gives_equal_bits() -> None:
    one, two = (try_design(walker(), ARENA, ("travel", "energy", "height")) for _ in range(2))
    assert one.ok
    assert one.scores["travel"] > 0
    assert one == two
    assert one.key != try_design(walker(), ARENA, ("travel",)).key


@pytest.mark.filterwarnings("ignore::supple.errors.BendWarning")
def test_a_design_that_diverges_is_a_result() -> None:
    """Voxels without damping that swing by 0.9 of their size at their own frequency pass through each other."""
    free = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01, bond_damping=0.0)
    wild = ARENA.with_(materials={1: free}, amplitude=90.0, frequency=160.0)
    phase = np.random.default_rng(0).uniform(size=(3, 2, 2))
    result = try_design(walker(phase=phase), wild, ("travel", "energy"))
    assert (result.outcome, result.ok) == ("diverged", False), result.message
    assert result.scores == {"travel": -1e9, "energy": 1e9}
    assert "turned inside out" in result.message or "its energy has grown" in result.message


REFUSED: dict[str, tuple[Design, str]] = {
    "material": (Design(np.full((2, 1, 1), 3)), "no material of this number (got 3; allowed: 1, 2)"),
    "field": (Design(np.ones((2, 1, 1)), {"colour": np.ones((2, 1, 1))}), "does not know this field (got 'colour'"),
    "factor": (Design(np.ones((2, 1, 1)), {"stiffness": np.zeros((2, 1, 1))}), "a factor is not positive"),
    "vanishing": (Design(np.ones((2, 1, 1)), {"gain": np.full((2, 1, 1), 9.0)}), "makes a voxel vanish"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_design_that_does_not_fit_is_a_result(what: str) -> None:
    design, said = REFUSED[what]
    result = try_design(design, ARENA)
    assert result.outcome == "refused"
    assert result.scores == {"travel": -1e9}
    assert said in result.message


BAD: dict[str, dict[str, Any]] = {
    "materials": {"materials": {}},
    "number of a material": {"materials": {0: SOFT}},
    "voxel_size": {"voxel_size": 0.0},
    "duration": {"duration": float("nan")},
    "settle": {"settle": -1.0},
    "gravity": {"gravity": (0, 0)},
    "objects": {"objects": ["ball"]},
    "obstacles": {"obstacles": [1]},
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_arena_is_refused(what: str) -> None:
    with pytest.raises(InputError, match=what):
        ARENA.with_(**BAD[what])
