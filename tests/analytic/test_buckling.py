"""A column beyond Euler's load: the straight one is no equilibrium that a person would find."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import supple as sp
from supple.errors import StabilityWarning
from supple.validation.voxel.blocks import block, held_system, layer

LENGTH, SIDE, YOUNG = 19e-3, 1e-3, 1e6  # between centres of voxels [m], [m], [Pa]
EULER = np.pi**2 * YOUNG * SIDE**4 / 12 / (4 * LENGTH**2)
"""Load [N] of a column held at one end."""


def column(part: float) -> sp.System:
    """20 voxels along x, the first held, the last pressed by a part of Euler's load."""
    body = block((20, 1, 1))
    load = np.zeros((body.model.voxel_count, 6))
    load[layer(body, 0, -1), 0] = -part * EULER
    return held_system(body, layer(body, 0, 0), load=load)


def first_frequency(part: float) -> float:
    system = column(part)
    state = sp.solve_statics(system) if part else None
    return float(sp.vibration_modes(system, 2, state=state).frequencies[0])


def test_a_pressed_column_swings_slower_and_slower() -> None:
    """f² falls nearly linearly with the load and is zero at Euler's: 1 % for the shape of the mode."""
    assert (first_frequency(0.9) / first_frequency(0.0)) ** 2 == pytest.approx(0.1, abs=0.01)


def test_modes_of_an_unstable_column_say_so() -> None:
    """Two of them grow, in both directions across: w² falls linearly with the load, to -0.2 of the free column's."""
    system = column(1.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state = sp.solve_statics(system)  # straight
    with pytest.warns(StabilityWarning, match="2 of the modes grow"):
        modes = sp.vibration_modes(system, 3, state=state)
    assert not modes.is_stable
    free = 2 * np.pi * first_frequency(0.0)
    np.testing.assert_allclose(modes.growth[:2] ** 2, 0.2 * free**2, atol=0.02 * free**2)  # the mode changes a little
    assert modes.growth[2] == 0.0
    assert modes.frequencies[2] > 0.0


def test_statics_of_a_buckled_column_says_that_it_is_unstable() -> None:
    """Nothing pushes it aside, so that it is straight at 1.2 times Euler's load; but that equilibrium does not last."""
    system = column(1.2)
    with pytest.warns(StabilityWarning, match="is unstable"):
        state = sp.solve_statics(system)
    np.testing.assert_allclose(state.x.reshape(-1, 7)[:, 1:3], system.x0.reshape(-1, 7)[:, 1:3], atol=1e-9)


def test_statics_without_loads_is_at_rest_at_once() -> None:
    system = column(0.0)
    np.testing.assert_allclose(sp.solve_statics(system).x, system.x0, atol=1e-12)
