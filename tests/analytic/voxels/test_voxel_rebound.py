"""A damped voxel that bounces on the floor, or off another one, leaves as a damped oscillator that cannot pull does."""

from __future__ import annotations

import numpy as np
import pytest

from supple.bodies.protocols import LocalState
from supple.bodies.voxel.touching.collision import Collision
from supple.interaction.obstacles import Plane
from supple.validation.voxel.blocks import block
from supple.validation.voxel.contact import SIZE, meeting, two_blocks

YOUNG = 1e6


def restitution(zeta: float) -> float:
    """Speed after over speed before of p" + 2 zeta w p' + w² p = 0, from p = 0 until the force w² p + 2 zeta w p' is 0.

    p = V / w_d exp(-zeta w t) sin(w_d t), w_d = s w; the force ends at tan(w_d t) = -2 zeta s / (1 - 2 zeta²).
    """
    s = np.sqrt(1 - zeta**2)
    turn = np.pi - np.arctan2(2 * zeta * s, 1 - 2 * zeta**2)
    return float(-np.exp(-zeta / s * turn) * (np.cos(turn) - zeta / s * np.sin(turn)))


@pytest.mark.parametrize("zeta", [0.1, 0.4, 0.8])
def test_a_damped_voxel_leaves_the_floor_with_the_speed_of_the_oscillator(zeta: float) -> None:
    """k = 2 E l, c = 2 zeta sqrt(m E l): a ratio of zeta / sqrt(2). The scheme's error, of first order, is taken out by
    half the step; 1e-5 is left by the second order. A damper that is 1 % stronger makes 1e-3."""
    body = block((1, 1, 1), size=SIZE, contact_damping=zeta)
    omega = np.sqrt(2 * YOUNG * SIZE / body.model.mass[0])
    speeds = []
    for dt in (1e-3 / omega, 5e-4 / omega):
        x, v = body.model.rest_frames.copy(), np.zeros((1, 6))
        v[0, 2] = -1.0
        end = body.advance(LocalState(0.0, x, v), dt, round(4 / (omega * dt)), planes=[Plane()])
        speeds.append(end.v[0, 2])
        assert end.x[0, 2] > SIZE / 2  # it has left
    assert 2 * speeds[1] - speeds[0] == pytest.approx(restitution(zeta / np.sqrt(2)), rel=1e-5)


@pytest.mark.parametrize("of_materials", [True, False], ids=["of the materials", "of all contacts"])
@pytest.mark.parametrize("zeta", [0.2, 0.6])
def test_two_damped_voxels_rebound_as_the_oscillator(zeta: float, of_materials: bool) -> None:
    """k = E l, c = zeta sqrt(m k), reduced mass m / 2: a ratio of zeta / sqrt(2)."""
    body, first = two_blocks(edge=1, contact_damping=zeta if of_materials else 0.9)
    collision = Collision() if of_materials else Collision(damping=zeta)
    omega, speed = np.sqrt(2 * YOUNG * SIZE / body.model.mass[0]), 2.0
    rates = []
    for dt in (1e-3 / omega, 5e-4 / omega):
        state = meeting(body, first, speed=speed)
        state.x[first, 0] += 2.9999 * SIZE
        end = body.advance(state, dt, round(5 / (omega * dt)), collision=collision)
        rates.append((end.v[~first, 0] - end.v[first, 0])[0] / speed)
        assert (end.x[~first, 0] - end.x[first, 0])[0] > SIZE
    assert 2 * rates[1] - rates[0] == pytest.approx(restitution(zeta / np.sqrt(2)), rel=5e-4)
