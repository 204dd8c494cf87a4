"""Static friction of cubes of all kinds that stick to surfaces: a slope that grows steeper under them."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.contact.sticking import frictions
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


def test_the_nearest_word_on_friction_counts() -> None:
    """A pair's own, then an obstacle's, then the contact's; a static friction that stands alone is added to the kinetic
    one of whoever speaks next, and a kinetic one that stands alone is both."""
    scene = sp.Scene()
    one, two = (scene.add(sp.RigidBody.sphere(0.1, density=500), at=(k, 0, 0), name=f"ball {k}") for k in range(2))
    obstacles = {
        "ice": sp.Floor(friction=0.05),
        "rubber": sp.Plane((1, 0, 0), friction=0.8, static_friction=0.9),
        "glue": sp.Plane((0, 1, 0), static_friction=2.0),
        "wall": sp.Plane((0, 0, 1), -1.0),
    }
    contact = sp.Contact([one, two], friction=0.3, static_friction=0.5, frictions={("ball 0", "ice"): 0.2})
    names = ["ball 0", "ball 1", *obstacles]
    kinetic, static = frictions(contact, names, obstacles)
    np.testing.assert_array_equal(kinetic[0], [0.3, 0.3, 0.2, 0.8, 0.3, 0.3])
    np.testing.assert_array_equal(static[0], [0.5, 0.5, 0.2, 0.9, 2.0, 0.5])
    np.testing.assert_array_equal(kinetic[1], [0.3, 0.3, 0.05, 0.8, 0.3, 0.3])
    np.testing.assert_array_equal(static[1], [0.5, 0.5, 0.05, 0.9, 2.0, 0.5])
    np.testing.assert_array_equal(kinetic[:2], kinetic[:, :2].T)
    np.testing.assert_array_equal(static[:2], static[:, :2].T)
