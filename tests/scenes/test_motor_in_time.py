"""A motor whose speed changes in time turns its hinge by what it asks for at the end of each step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp

H, STEPS = 5e-3, 40
SOLVERS: dict[str, Any] = {
    "linearised euler": lambda: sp.ImplicitEuler(H),
    "full euler": lambda: sp.ImplicitEuler(H, newton=True),
    "midpoint": lambda: sp.Midpoint(H),
    "generalised alpha": lambda: sp.GeneralizedAlpha(H),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_the_angle_is_the_sum_of_what_each_step_was_asked_for(name: str) -> None:
    """theta_n = sum_i h w(i h) exactly, for a motor that is strong enough: 1e-6 is what Newton's method leaves open."""
    scene = sp.Scene()
    wheel = scene.add(sp.RigidBody(1.0, (0.01, 0.01, 0.02)), name="wheel")
    scene.add(sp.HingeJoint(wheel, axis=(0, 0, 1), motor_speed=lambda t: 20.0 * t - 30.0 * t * t))
    system = scene.compile()
    state, solver = system.initial_state(), SOLVERS[name]()
    expected = 0.0
    for k in range(1, STEPS + 1):
        assert solver.step(system, state).is_solved
        expected += H * (20.0 * k * H - 30.0 * (k * H) ** 2)
        assert 2 * np.arctan2(state.x[6], state.x[3]) == pytest.approx(expected, abs=1e-6)
    assert expected > 0.2
