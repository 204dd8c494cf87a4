"""Bodies of every kind stop, and are stopped, at 100 m/s by plates of 5 mm."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.contact.sweeping import swept_distance
from supple.validation.contact_bullets import BULLETS, PAIRS, SPEED, STEPS, STIFF, block, scene_of, shoot


@pytest.mark.parametrize(("plate", "bullet"), PAIRS)
@pytest.mark.parametrize("dt", [pytest.param(dt, marks=[] if dt in (1e-3, 1e-5) else pytest.mark.slow) for dt in STEPS])
def test_a_bullet_does_not_pass(plate: str, bullet: str, dt: float) -> None:
    """At the stiffness of rest it went on with half to nearly all of its speed, in steps of 1 µs without a word."""
    shot = shoot(plate, bullet, dt)
    assert shot.depth < 0.5
    assert shot.speed < 0.2 * SPEED


@pytest.mark.parametrize(("plate", "bullet"), [pair for pair in PAIRS if pair[1] == "rigid"])
def test_momentum_is_kept(plate: str, bullet: str) -> None:
    assert shoot(plate, bullet, 1e-5, is_free=True).momentum < 1e-12


@pytest.mark.parametrize("bullet", BULLETS)
def test_a_free_plate_of_voxels_stops_every_kind(bullet: str) -> None:
    """Soft ones are squeezed so that they would buckle within the step, and must not go against the push."""
    shot = shoot("voxel", bullet, 1e-4, is_free=True)
    assert shot.depth < 0.5
    assert shot.speed < 0.2 * SPEED
    assert shot.momentum < 1e-12


def test_both_methods_stop_it() -> None:
    """ImplicitEuler is tried above, Partitioned here, with bodies that both step."""
    scene = scene_of("fem", "rigid", 1e-4, is_free=False)
    scene.solver = sp.Partitioned(1e-4)
    system = scene.compile()
    state = system.initial_state()
    for _ in range(3):
        scene.solver.step(system, state)
    assert system.positions(state, "bullet")[0, 2] > -0.0025


@pytest.mark.parametrize("angle", [0.0, 0.6])
def test_how_thick_a_body_is_does_not_depend_on_how_it_is_turned(angle: float) -> None:
    """The smallest extent of a plate that lies aslant is its length."""
    scene = sp.Scene()
    plate = block((0.04, 0.04, 0.005), (4, 4, 1))
    scene.add(sp.FemBody(plate, STIFF), rotation=(0, angle, 0))
    scene.add(sp.FemBody(block((0.01, 0.01, 0.01), (1, 1, 1)), STIFF), at=(0, 0, 0.1))
    scene.add(sp.Contact())
    width = scene.compile().contacts[0].stopping.width
    assert width[1] == pytest.approx(0.01)
    assert 0.005 * (1 - 1e-12) <= width[0] < 0.015
    assert np.isfinite(width).all()


@pytest.mark.parametrize("radius", [0.0, 0.05])
def test_the_gap_of_a_fast_ball_is_its_way_to_where_it_meets(radius: float) -> None:
    """Along the normal of the meeting: 1.5 m straight down on a sphere, 2 m on level ground; half of the way at 60
    degrees on a plate."""
    x, down = np.array([[0.0, 0, 2.0]]), np.array([[0.0, 0, -1000.0]])
    gap, normal = swept_distance(sp.Sphere((0, 0, 0), 0.5), x, down, 0.01, np.array([radius]))
    assert gap == pytest.approx([1.5 - radius], abs=2e-3)
    assert normal == pytest.approx(np.array([[0.0, 0, 1]]), abs=1e-6)
    ground = sp.HeightField(np.zeros((9, 9)), origin=(-2, -2), spacing=0.5)
    gap, normal = swept_distance(ground, x, down, 0.01, np.array([radius]))
    assert gap == pytest.approx([2.0 - radius], abs=1e-12)
    assert normal == pytest.approx(np.array([[0.0, 0, 1]]), abs=1e-12)
    way = 1000 * np.array([[np.sin(np.pi / 3), 0, -np.cos(np.pi / 3)]])
    plate = sp.Box((2.0, 0, -0.05), (10, 10, 0.1))
    gap, normal = swept_distance(plate, x, way, 0.01, np.array([radius]))
    assert gap == pytest.approx([2.0 - radius], abs=2e-3)
