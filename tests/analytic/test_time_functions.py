"""Functions of time have the values of their formulas between their ends too."""

from __future__ import annotations

import numpy as np
import pytest

from supple.scene.acting.time_functions import RampInTime, SineInTime, TableInTime


@pytest.mark.parametrize("t", [0.0, 0.13, 0.4, 2.7])
def test_a_sine_has_its_phase_in_radians(t: float) -> None:
    given = SineInTime([1.0, -2.0, 0.5], 1.5, phase=0.7, offset=[0.1, 0.2, 0.3])
    expected = np.array([0.1, 0.2, 0.3]) + np.sin(3 * np.pi * t + 0.7) * np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(given(t), expected, rtol=1e-14)


def test_a_ramp_is_the_cubic_that_starts_and_ends_without_speed() -> None:
    """s² (3 - 2 s): a quarter of the way it has 5/32, three quarters 27/32."""
    ramp = RampInTime(2.0, 4.0)
    assert [ramp(t) for t in (-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 9.0)] == [0.0, 0.0, 5 / 16, 1.0, 27 / 16, 2.0, 2.0]


def test_a_table_goes_straight_between_its_times() -> None:
    table = TableInTime([0.0, 2.0, 3.0], [1.0, 2.0, -1.0])
    assert [table(t) for t in (-1.0, 0.5, 2.0, 2.25, 5.0)] == [1.0, 1.25, 2.0, 1.25, -1.0]
