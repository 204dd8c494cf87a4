"""What is soft, or meets what is soft, is stopped at speed, or the run says that it is not."""

from __future__ import annotations

import pytest

from supple.validation.contact_bullets import SPEED, shoot


@pytest.mark.parametrize("bullet", ["rigid", "fem", "ball", "point"])
@pytest.mark.parametrize("dt", [1e-3, pytest.param(1e-4, marks=pytest.mark.slow)])
def test_a_plate_of_finite_elements_stops_it(bullet: str, dt: float) -> None:
    """At the stiffness of rest it went on with half to nearly all of its speed."""
    assert shoot("fem", bullet, dt)[0] < 0.2 * SPEED


@pytest.mark.parametrize("dt", [1e-2, 1e-3, 1e-4])
def test_a_rigid_plate_stops_a_soft_body(dt: float) -> None:
    assert shoot("rigid", "fem", dt)[0] < 0.2 * SPEED


def test_voxels_say_that_it_passes() -> None:
    into, warned = shoot("voxel", "rigid", 1e-4)
    assert into < 0.2 * SPEED or warned
