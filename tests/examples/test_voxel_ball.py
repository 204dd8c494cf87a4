"""The bouncing ball: its fall, and how its bounces are read from a record."""

from __future__ import annotations

import numpy as np
import pytest

from supple.examples.bouncing_ball import ACROSS, DROP, GRAVITY, SIZE, WALL, apexes, ball, first_contact, make, pushed


def test_it_is_hollow_and_round() -> None:
    body = ball()
    middle = SIZE * ACROSS / 2 + np.array([0.0, 0.0, DROP])
    distance = np.linalg.norm(body.positions - middle, axis=1) / SIZE
    assert distance.min() >= ACROSS / 2 - WALL
    assert distance.max() < ACROSS / 2
    np.testing.assert_allclose(body.positions.mean(axis=0), middle, atol=1e-12)


def test_free_fall_until_the_floor() -> None:
    """Symplectic Euler falls by g t dt/2 more than g t²/2, and not at all otherwise."""
    scene = make()
    system = scene.compile()
    state, (slot,) = system.initial_state(), system.bodies
    stop = 0.9 * np.sqrt(2 * DROP / GRAVITY)
    while state.t < stop:
        scene.solver.step(system, state)
    fallen = slot.node.body.positions[:, 2] - slot.view_x(state.x)[:, 2]
    assert np.ptp(fallen) < 1e-12
    assert fallen.mean() == pytest.approx(0.5 * GRAVITY * state.t**2, rel=2e-3)
    assert first_contact(system) == pytest.approx(np.sqrt(2 * DROP / GRAVITY), abs=2.5e-4)


def test_apexes_of_a_point_that_bounces() -> None:
    """A point falls from rest at 1 m on a floor of 10 ms contacts, which give back 0.8 of its speed."""
    fall, contact = np.sqrt(2 / GRAVITY), 0.01
    t = np.arange(0, 2.4, 0.004)
    z, speed = np.empty_like(t), np.empty_like(t)
    for i, now in enumerate(t):
        left, up = now + fall, np.sqrt(2 * GRAVITY)
        while left > 2 * up / GRAVITY + contact:
            left -= 2 * up / GRAVITY + contact
            up *= 0.8
        if left <= 2 * up / GRAVITY:
            z[i], speed[i] = up * left - GRAVITY * left**2 / 2, up - GRAVITY * left
        else:
            part = (left - 2 * up / GRAVITY) / contact
            z[i], speed[i] = 0.0, -up + 1.8 * up * part
    np.testing.assert_allclose(apexes(t, z, speed)[:3], [0.64, 0.64**2, 0.64**3], rtol=1e-9)
    assert not pushed(t, speed)[t[1:] < fall].any()
