"""A motor drives a hinge between every two kinds of bodies against its limit, and stops there with all its torque."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

import supple as sp
from supple.validation.contact_kinds import KINDS, SIDE

LIMIT, TORQUE = 0.2, 0.02


@pytest.mark.parametrize(("one", "two"), list(combinations_with_replacement(KINDS, 2)))
def test_a_motor_stops_at_the_limit(one: str, two: str) -> None:
    scene = sp.Scene()
    a = scene.add(KINDS[one](), name="a")
    b = scene.add(KINDS[two](), name="b", at=(1.2 * SIDE, 0, 0))
    hinge = sp.HingeJoint(
        a, b, at=(0.6 * SIDE, 0, 0), axis=(0, 0, 1), limits=(-LIMIT, LIMIT), motor_speed=1.0, motor_torque=TORQUE
    )
    scene.add(hinge, name="hinge")
    run = sp.run(scene, until=0.4)
    now = run.system.joint_readings(run.state)["hinge"]
    assert (now.limit, now.motor) == (1, pytest.approx(TORQUE))
    assert now.angle == pytest.approx(LIMIT, abs=1e-6)
    momentum = np.abs(run.system.momentum(run.state))
    assert momentum[:3].max() < 1e-13  # the bodies began at rest; 0.5 kg each
