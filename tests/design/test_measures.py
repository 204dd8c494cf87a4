"""Measures against closed forms: a block that is thrown, one that rests, one that works."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from supple.bodies.voxel import Commands
from supple.design import MEASURES, Arena, Design, Measure, Trial, measure_of, measures_of, try_design
from supple.design.trial import make_trial
from supple.errors import InputError
from supple.geometry import VoxelGrid
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
    trial = make_trial(BLOCK, FLIGHT.with_(settle=settle), works=True)
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
    assert scores["energy"] == 0.0  # it has no muscles


def test_a_block_that_rests_goes_nowhere() -> None:
    arena = FLIGHT.with_(obstacles=Arena({1: RUBBER}, 0.01, 1.0).obstacles, velocity=(0, 0, 0), settle=0.2)
    trial = make_trial(BLOCK, arena, works=True)
    assert trial.contacts[trial.times >= 0.2].all()
    assert MEASURES["contact_time"].of(trial) == pytest.approx(0.2, rel=1e-9)
    assert MEASURES["travel"].of(trial) < 1e-9
    assert MEASURES["height"].of(trial) < 1e-6
    assert MEASURES["energy"].of(trial) == 0.0


def test_time_in_contact_is_that_of_the_frames_that_touch() -> None:
    """A frame stands for the time until the next one; frames are not evenly spaced, and measuring begins at 0.1 s."""
    trial = make_trial(BLOCK, FLIGHT.with_(duration=0.02))
    times = np.array([0.0, 0.1, 0.15, 0.3, 0.35])
    some = replace(trial, since=0.1, times=times, contacts=np.array([True, True, False, True, False]))
    assert MEASURES["contact_time"].of(some) == pytest.approx(0.05 + 0.05, rel=1e-12)


STIFF, MASS = 1e5 * 0.01, 1e-3  # of a link [N/m], of a voxel [kg]
QUICK = {"amplitude": 20.0, "frequency": 5.0, "settle": 0.2, "velocity": (0, 0, 0), "gravity": (0, 0, 0)}
PAIR = Design(np.ones((2, 1, 1)))


def work_in_a_period(bond_damping: float) -> float:
    """Of two voxels whose link's rest length swings as L = l (1 + e sin wt), what their muscle gives in a period [J].

    The distance s of the centres obeys m/2 s'' = -k (s - L) - c s' with the dashpot c = z sqrt(k m), so that
    s - L = A sin wt + B cos wt. The muscle's power is -k (s - L) L' = a (C sin(2 wt + p) + B), C = |(A, B)|; of it
    counts what is positive.
    """
    w, swing = 2 * math.pi * QUICK["frequency"], 0.01 * 0.01 * QUICK["amplitude"]
    damping = bond_damping * math.sqrt(STIFF * MASS)
    lag = swing * (STIFF / (STIFF - MASS / 2 * w**2 + 1j * damping * w) - 1)
    a, C, B = STIFF * swing * w / 2, abs(lag), -lag.imag
    first = math.asin(-B / C)
    return a * (2 * C * math.cos(first) + B * (math.pi - 2 * first)) / w


@pytest.mark.parametrize("bond_damping", [0.0, 0.02, 0.1, 0.5])
def test_two_voxels_that_swell_take_what_their_dashpot_loses(bond_damping: float) -> None:
    """Without a dashpot the muscle gives the kinetic energy twice a period; with one of 0.1 twenty times as much, which
    the dashpot turns into heat while mechanical energy hardly changes. 1e-3: of the period from step to step, 1/60."""
    rubber = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01, bond_damping=bond_damping)
    arena = FLIGHT.with_(materials={1: rubber}, **QUICK)
    found = try_design(PAIR, arena.with_(dt=1 / 1200), "energy").scores["energy"]
    assert found == pytest.approx(work_in_a_period(bond_damping), rel=1e-3)
    if bond_damping == 0.0:
        speed = 0.01 * 0.2 * math.pi * 5.0
        assert found == pytest.approx(2 * MASS * speed**2, rel=2e-3)
    opposite = Design(PAIR.cells, {"phase": [[[0.0]], [[0.5]]]})  # one grows as the other shrinks: nothing moves
    assert try_design(opposite, arena, "energy").scores["energy"] < 1e-6 * found


def test_work_does_not_depend_on_how_often_frames_are_seen() -> None:
    """Nor do the steps of the run change where work is asked for."""
    arena, names = FLIGHT.with_(**QUICK), ("energy", "forward", "height")
    cells = np.ones((3, 2, 2))
    design = Design(cells, {"phase": np.linspace(0, 0.9, 12).reshape(cells.shape)})
    often, rarely = (try_design(design, arena.with_(record_every=every), names).scores for every in (1 / 300, 0.1))
    assert often["energy"] == rarely["energy"] > 0
    assert (
        try_design(design, arena, ("forward",)).scores["forward"] == try_design(design, arena, names).scores["forward"]
    )


def grown_at_once(design: Design, arena: Arena, grid: VoxelGrid) -> Commands:
    """A controller that commands 20 from 0.25 s on."""
    return Commands(lambda t, state: [20.0 if t > 0.245 else 0.0], rate=20.0)


def test_a_command_gives_what_it_stores_at_once() -> None:
    """The rest length jumps by 0.2 l while the voxels are where they are: k (0.2 l)² / 2, however it is lost later."""
    arena = FLIGHT.with_(**QUICK, controller=f"{__name__}:grown_at_once")
    commanded = Design(PAIR.cells, {}, {"kind": "own"})
    assert try_design(commanded, arena, "energy").scores["energy"] == pytest.approx(
        STIFF * (0.2 * 0.01) ** 2 / 2, rel=1e-9
    )


def test_work_that_was_not_summed_is_not_zero() -> None:
    trial = make_trial(PAIR, FLIGHT.with_(**QUICK))
    with pytest.raises(InputError, match="not summed"):
        MEASURES["energy"].of(trial)


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


def test_the_nearest_name_of_a_measure_is_told() -> None:
    with pytest.raises(InputError, match=r"Did you mean contact_time\?"):
        measure_of("contact_tme")


def test_names_of_measures_differ() -> None:
    with pytest.raises(InputError, match="different names"):
        measures_of(["travel", "travel"])
    with pytest.raises(InputError, match="unknown choice"):
        Measure("m", "m", ball_height, "most")  # type: ignore[arg-type]
