"""Static friction of cubes of all kinds that stick to surfaces: a slope that grows steeper under them."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.contact.surfaces import surface_of
from supple.validation.contact_kinds import KINDS

G, STATIC, KINETIC = 9.81, 0.6, 0.4


def gravity(slope: float) -> np.ndarray:
    a = np.arctan(slope)
    return G * np.array([np.sin(a), 0.0, -np.cos(a)])


@pytest.mark.parametrize("kind", ["rigid", "floating", "tree", "particles", "layered"])
def test_a_cube_sticks_to_a_slope_and_slides_down_a_steeper_one(kind: str) -> None:
    scene = sp.Scene(gravity=gravity(0.0), solver=sp.Partitioned(0.002))
    surface = surface_of(scene.add(KINDS[kind](), name="cube"), None)
    lowest = float(surface.points.rest[:, 2].min() - np.max(surface.radius))
    scene.add(sp.Floor(lowest, friction=KINETIC, static_friction=STATIC))
    system = scene.compile()
    state, points = system.initial_state(), system.contacts[0].slots[0].index

    def speed(steps: int) -> float:
        for _ in range(steps):
            assert scene.solver.step(system, state).is_solved
        return float(system.propagate(state.t, state.x, state.v, state.memory).v[points][:, 0].mean())

    speed(60)
    for part in (0.3, 0.6, 0.8, 0.9):
        system.change(state, "gravity", value=gravity(part * STATIC))
        held = speed(30)
    assert abs(held) < 1e-3
    slope = 1.05 * STATIC
    system.change(state, "gravity", value=gravity(slope))
    before = speed(60)
    gained = (speed(40) - before) / (40 * 0.002)
    a = np.arctan(slope)
    assert gained == pytest.approx(G * (np.sin(a) - KINETIC * np.cos(a)), rel=0.01)
