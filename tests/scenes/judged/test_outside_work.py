"""What may come into a scene between two frames, source by source, is what its formula says."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.record.frame import Frame
from supple.record.work import PARTS, OutsideWork
from supple.scene.events import events_of
from supple.scene.state import State
from supple.validation.tree.reference import mixed_domain_tree


def between(scene: sp.Scene, *, dt: float = 0.1, moved: float = 0.0, kinetic: float = 0.0) -> float:
    """Work within dt while everything moves by `moved` [m] along x."""
    system = scene.compile()
    before = system.initial_state()
    now = State(dt, before.x.copy(), before.v.copy())
    for slot in system.bodies:
        slot.view_x(now.x)[:, 0] += moved
    return OutsideWork(system, 2.0, 0.01).between(before, now, kinetic)


def ball(**placed) -> sp.Scene:
    scene = sp.Scene()
    scene.add(sp.Particles([(0, 0, 0)], 2.0, radius=0.1), name="ball", **placed)
    return scene


def test_nothing_gives_nothing() -> None:
    assert between(ball(velocity=(3.0, 0, 0)), moved=1.0) == 0.0


def test_a_load_gives_its_largest_force_times_the_way() -> None:
    scene = ball()
    scene.add(sp.Load(scene.node("ball").points(), lambda t: (0.0, 100 * t, 3.0)))
    assert between(scene, moved=0.7) == pytest.approx(0.7 * np.hypot(10.0, 3.0))
    scene = ball(velocity=(0, 9.0, 0))
    scene.add(sp.Load(scene.node("ball").points(), lambda t: (0.0, 0.0, 3.0)))
    assert between(scene, moved=0.7) == pytest.approx(3.0 * 0.9)


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("together", [False, True])
def test_a_wind_gives_its_largest_drag_times_the_way(together: bool, two_sided: bool) -> None:
    """On triangles with common corners, and on patches of a tree, which have none: against the drag itself, asked for
    at each of the times."""
    scene, rng = sp.Scene(), np.random.default_rng(1)
    body: object = sp.FemBody(sp.box_tets((0.4, 0.1, 0.3), (4, 1, 3)), sp.Material(1e6, 0.3, 500))
    if not together:
        body = sp.TreeBody(mixed_domain_tree(free=True, chain=False), stiffness_damping=0.01)
    node = scene.add(body, name="leaf")
    scene.add(sp.Wind(node, (4.0, 2.0, -1.0), intensity=0.5, modes=9, two_sided=two_sided))
    system = scene.compile()
    before, now = system.initial_state(), system.initial_state()
    before.t, now.t = 0.3, 0.4
    slot, force = next((f.slot, f.force) for f in system.forces if isinstance(f.force, sp.Wind))
    for state in (before, now):
        state.x[7:] += 0.01 * rng.normal(size=len(state.x) - 7)
        state.v[:] = 0.5 * rng.normal(size=len(state.v))
    a, b = (system.propagate(s.t, s.x, s.v).local(slot) for s in (before, now))
    expected = 0.0
    for t in 0.3 + 0.1 * PARTS:
        f, g = np.zeros_like(a.v), np.zeros_like(b.v)
        force.add_force(a._replace(t=t), f)
        force.add_force(b._replace(t=t), g)
        ways = (b.x - a.x, 0.1 * a.v, 0.1 * b.v)
        expected = max(expected, *(np.maximum((f * way).sum(axis=1), 0.0).sum() for way in ways), 0.1 * (g * b.v).sum())
    assert expected > 0.0
    assert OutsideWork(system, 2.0, 0.01).between(before, now, 0.0) == pytest.approx(expected, rel=1e-12)


def hinged(**motor) -> sp.Scene:
    scene = sp.Scene()
    rod = scene.add(sp.RigidBody.box((1.0, 0.1, 0.1), density=200), at=(0.5, 0, 0), name="rod")
    scene.add(sp.HingeJoint(rod, at=(0, 0, 0), axis=(0, 0, 1), **motor))
    return scene


def test_a_motor_gives_its_torque_times_its_largest_speed() -> None:
    assert between(hinged(motor_speed=lambda t: 50 * t, motor_torque=20.0)) == pytest.approx(20.0 * 5.0 * 0.1)


def test_an_obstacle_gives_what_a_bounce_does() -> None:
    """2 M u (w + u), M = 2 kg, u = 4 m/s, w = 3 m/s of 9 J."""
    scene = ball()
    scene.add(sp.Floor(height=-1.0, motion=sp.Motion(velocity=(0, 0, 4.0))))
    scene.add(sp.Contact())
    assert between(scene, kinetic=9.0) == pytest.approx(2 * 2.0 * 4.0 * (3.0 + 4.0))


def test_a_point_on_a_path_gives_what_it_takes_to_press_on() -> None:
    """Beside the bounce the springs' force times the way: 2 u dt f of both ends of a spring."""
    scene = sp.Scene()
    node = scene.add(sp.Particles([(0, 0, 0), (1.5, 0, 0)], 1.0, springs=[(0, 1)], stiffness=80.0, rest_length=1.0))
    scene.add(sp.PrescribedMotion(node, [0], lambda t: (0.0, 0.0, 0.3 * t)))
    assert between(scene) == pytest.approx(2 * 2.0 * 0.3**2 + 0.3 * 0.1 * 2 * 40.0, rel=1e-6)


def test_actuation_gives_the_energy_of_sizes_that_change_at_once() -> None:
    """Two voxels, whose link is pressed by strain e while nothing moves: E l (e l)² / 2, e = 0.1 sin of a quarter."""
    grid = sp.VoxelGrid(np.ones((2, 1, 1), dtype=int), 0.01)
    material = sp.VoxelMaterial(young=1e6, density=1000, expansion=0.01)
    scene = sp.Scene()
    scene.add(sp.VoxelBody(grid, material, actuation=sp.Actuation(10.0, 2.5)), name="voxels")
    assert between(scene) == pytest.approx(0.5 * 1e6 * 0.01 * (0.1 * 0.01) ** 2, rel=1e-9)


def test_an_end_of_a_spring_that_is_moved_gives_what_the_spring_then_stores() -> None:
    """A ball at rest on a slack spring, whose end is moved aside at once: it swings and the run goes on, and so does
    one that makes the same changes as events."""
    scene = sp.Scene(solver=sp.Midpoint(0.01))
    ball, end = scene.add(sp.RigidBody.sphere(0.1, density=500), name="ball"), (0.0, 0.0, 0.0)

    def hand(frame: Frame) -> None:
        if frame.step == 0:
            spring = sp.Springs(ball.points(at=end), sp.World.points(end), 300.0, rest_length=0.0)
            frame.system.add(frame.state, spring, name="hand")
        elif frame.step == 10:
            frame.system.change(frame.state, "hand", end=[(0.4, 0.0, 0.3)])

    first = sp.run(scene, until=1.0, record_every=0.1, observers=[hand])
    scene.events = events_of(first.state, 0.01)
    again = sp.run(scene, until=1.0, record_every=0.1)
    for run in (first, again):
        assert run.energies.kinetic.max() > 0.9 * 0.5 * 300.0 * 0.25
    np.testing.assert_array_equal(again.state.x, first.state.x)


def test_a_body_that_is_led_to_turn_gives_what_its_farthest_points_do() -> None:
    """2 M u (w + u), u the turning by the diagonal of the box around the body and as much beside it."""
    scene = sp.Scene()
    node = scene.add(sp.RigidBody.box((0.2, 0.1, 0.1), density=100), name="door")
    scene.add(sp.PrescribedMotion(node, rotation=lambda t: (0.0, 0.0, 0.5 * t)))
    u = 0.5 * 2 * 0.2 * np.sqrt(3)
    assert between(scene, kinetic=9.0) == pytest.approx(2 * 2.0 * u * (3.0 + u), rel=1e-6)
