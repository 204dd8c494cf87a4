"""Measures against closed forms: a block that is thrown, one that rests, one that works."""

from __future__ import annotations

import math

import numpy as np
import pytest

from supple.design import MEASURES, Arena, Design, Measure, Trial, measure_of, measures_of, try_design
from supple.design.trial import make_trial
from supple.errors import InputError
from supple.material.voxel import VoxelMaterial

BLOCK = Design(np.ones((2, 2, 1)))
RUBBER = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01)
FLIGHT = Arena({1: RUBBER}, 0.01, duration=0.2, obstacles=(), velocity=(0.3, -0.4, 1.0), record_every=0.02)
NAMES = tuple(name for name in MEASURES if name != "score")  # which is of tasks alone


def nothing(trial: Trial) -> float:
    """A measure that is not a number."""
    return math.nan


def broken(trial: Trial) -> float:
    """A measure with a mistake in it."""
    raise KeyError("leg")


def ball_height(trial: Trial) -> float:
    """A measure of a person's own."""
    return float(trial.centres[-1, 2])


@pytest.mark.parametrize("settle", [0.0, 0.1])
def test_a_thrown_block_goes_as_far_as_it_must(settle: float) -> None:
    trial = make_trial(BLOCK, FLIGHT.with_(settle=settle))
    end = float(trial.times[-1])
    assert end == pytest.approx(settle + 0.2, abs=1e-9)
    scores = {name: MEASURES[name].of(trial) for name in NAMES}
    assert scores["travel"] == pytest.approx(0.5 * 0.2, rel=1e-9)
    assert scores["forward"] == pytest.approx(0.3 * 0.2, rel=1e-9)
    assert scores["speed"] == pytest.approx(0.5, rel=1e-9)
    assert scores["contact_time"] == 0.0
    g, dt = 9.81, trial.run.solver.dt  # it is highest at v/g = 0.102 s, within half a frame
    flown = trial.times[trial.times >= settle - 1e-9]
    path = flown - g * flown**2 / 2
    assert scores["height"] == pytest.approx(max(path.max() - path[0], 0.0), abs=g * end * dt)
    moving = 0.004 * 1.25 / 2  # [J] of 4 voxels of 1 g
    assert scores["energy"] < 0.01 * moving


def test_a_block_that_rests_goes_nowhere() -> None:
    arena = FLIGHT.with_(obstacles=Arena({1: RUBBER}, 0.01, 1.0).obstacles, velocity=(0, 0, 0), settle=0.2)
    trial = make_trial(BLOCK, arena)
    assert trial.contacts[trial.times >= 0.2].all()
    assert MEASURES["contact_time"].of(trial) == pytest.approx(0.2, rel=1e-9)
    assert MEASURES["travel"].of(trial) < 1e-9
    assert MEASURES["height"].of(trial) < 1e-6
    assert MEASURES["energy"].of(trial) < 1e-9


def test_two_voxels_that_swell_take_their_kinetic_energy_twice_a_period() -> None:
    """Links far stiffer than the motion: the centres are l (1 + e sin wt) apart, each moves with u = l e w / 2 at most.

    The dashpot c = z sqrt(k m) of the link then pulls with 2 c u, and its spring holds (2 c u)² / 2k = 2 z² m u².
    """
    quick = {"amplitude": 20.0, "frequency": 5.0, "settle": 0.1, "dt": 0.0025, "record_every": 0.025}
    arena = FLIGHT.with_(velocity=(0, 0, 0), gravity=(0, 0, 0), **quick)
    pair = Design(np.ones((2, 1, 1)))
    kinetic = 1e-3 * (0.01 * 0.2 * 2 * np.pi * 5.0 / 2) ** 2  # [J] of two voxels of 1 g
    largest = kinetic * (1 + 2 * RUBBER.bond_damping**2)
    assert try_design(pair, arena, "energy").scores["energy"] == pytest.approx(2 * largest, rel=1e-3)
    opposite = Design(pair.cells, {"phase": [[[0.0]], [[0.5]]]})  # one grows as the other shrinks: nothing moves
    assert try_design(opposite, arena, "energy").scores["energy"] < 1e-6 * largest


def test_measures_that_fail_say_so() -> None:
    short = FLIGHT.with_(duration=0.02)
    result = try_design(BLOCK, short, ("travel", nothing))
    assert result.outcome == "refused"
    assert result.scores == {"travel": -1e9, "nothing": -1e9}
    assert "measure 'nothing': the measure did not give a finite number (got nan)" in result.message
    result = try_design(BLOCK, short, (broken,))
    assert (result.outcome, result.message) == ("crashed", "KeyError: 'leg'")


def test_measures_are_found_by_name_and_by_function() -> None:
    assert measure_of("travel") is MEASURES["travel"]
    assert measure_of(f"{__name__}:ball_height").function is ball_height
    assert measure_of(ball_height).name == "ball_height"
    assert [one.name for one in measures_of(["speed", ball_height])] == ["speed", "ball_height"]
    assert {name: one.worst for name, one in MEASURES.items() if one.better == "less"} == {"energy": 1e9}


@pytest.mark.parametrize("given", ["jump", "supple.nowhere:f", "math:nothing", 3, lambda trial: 0.0])
def test_unknown_measures_are_refused(given: object) -> None:
    with pytest.raises(InputError, match="measure"):
        try_design(BLOCK, FLIGHT, (given,))


def test_names_of_measures_differ() -> None:
    with pytest.raises(InputError, match="different names"):
        measures_of(["travel", "travel"])
    with pytest.raises(InputError, match="unknown choice"):
        Measure("m", "m", ball_height, "most")  # type: ignore[arg-type]
