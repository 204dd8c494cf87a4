"""Voxels on obstacles that move, inside their own sweep: carried, dragged, shaken, against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.bodies.voxel.touching.moving import moving_table
from supple.errors import InputError
from supple.solvers.choosing import choose

G, SIZE, YOUNG, DENSITY = 9.81, 0.01, 1e6, 1000.0
MASS = DENSITY * SIZE**3
SINKS = MASS * G / (2 * YOUNG * SIZE)  # of a layer of voxels under its own weight


def block(cells: tuple[int, int, int] = (3, 3, 1), **options: Any) -> VoxelBody:
    material = sp.VoxelMaterial(YOUNG, density=DENSITY, bond_damping=1.0, contact_damping=1.0, **options)
    return VoxelBody(sp.VoxelGrid(np.ones(cells, dtype=int), SIZE), material)


def swept(scene: sp.Scene, until: float, *, threads: int | None = None, dt: float = 0.002) -> sp.Run:
    """A run by the sweep, which the scene must get without being asked for it."""
    assert isinstance(choose(scene).solver, sp.LatticeSolver)
    return sp.run(scene, until=until, dt=dt, threads=threads)


def on_floor(motion: sp.Motion, until: float, *, solver: Any = None, **own: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean way and velocity of a plate that rests on a floor with this motion."""
    scene = sp.Scene(gravity=(0, 0, -G), solver=solver)
    scene.add(block(), at=(0, 0, -SINKS), name="body")
    scene.add(sp.Floor(motion=motion, **own))
    run = sp.run(scene, until=until) if solver is not None else swept(scene, until)
    start = run.system.positions(run.system.initial_state(), "body")
    way = run.system.positions(run.state, "body") - start
    return way.mean(axis=0), run.system.velocities(run.state, "body")[:, :3].mean(axis=0)


def speeding(a: float, until: float) -> sp.Motion:
    """a t²/2 along x, sampled more finely than small steps are: else the floor jerks from sample to sample."""
    return sp.Motion.sampled(lambda t: (0.5 * a * t * t, 0, 0), until=until, every=5e-6)


@pytest.mark.parametrize("solver", [None, sp.Partitioned(0.002)])
def test_a_belt_drags_a_plate_and_then_carries_it(solver: Any) -> None:
    way, v = on_floor(sp.Motion(velocity=(0.3, 0, 0)), 0.2, friction=0.5, solver=solver)
    assert v[0] == pytest.approx(0.3, rel=1e-9)
    assert way[0] == pytest.approx(0.3 * 0.2 - 0.3**2 / (2 * 0.5 * G), rel=1e-3)
    assert abs(way[2]) < 1e-3 * SINKS


@pytest.mark.parametrize("part", [0.9, 0.98])
def test_a_floor_that_gets_faster_carries_a_plate_up_to_the_static_friction(part: float) -> None:
    a = part * 0.6 * G
    way, v = on_floor(speeding(a, 0.1), 0.1, friction=0.4, static_friction=0.6)
    assert way[0] == pytest.approx(0.5 * a * 0.1**2, rel=1e-6)
    assert v[0] == pytest.approx(a * 0.1, rel=2e-3)  # the mean of the last step


def test_beyond_it_the_plate_slides_with_the_kinetic_friction() -> None:
    way, v = on_floor(speeding(1.02 * 0.6 * G, 0.1), 0.1, friction=0.4, static_friction=0.6)
    assert v[0] == pytest.approx(0.4 * G * 0.1, rel=1e-3)
    assert way[0] == pytest.approx(0.5 * 0.4 * G * 0.1**2, rel=5e-3)


def test_a_floor_without_friction_leaves_what_lies_on_it_behind() -> None:
    way, v = on_floor(speeding(3.0, 0.1), 0.1, friction=0.0)
    assert np.abs(way[:2]).max() == 0.0
    assert np.abs(v[:2]).max() < 1e-16  # round-off of the links' forces; the floor has 0.3 m/s


def test_one_voxel_on_a_shaking_floor_is_a_driven_oscillator() -> None:
    """m z'' = k (y - z) + c (y' - z') - m g, y = A sin w t: its steady swing, to the first order of the sweep."""
    material = {"static_friction": 0.0, "kinetic_friction": 0.0}
    k, zeta = 2 * YOUNG * SIZE, 0.4
    c, w = 2 * zeta * math.sqrt(MASS * YOUNG * SIZE), 0.8 * math.sqrt(k / MASS)
    A = 0.3 * G / w**2
    until = 12 * 2 * math.pi / w
    motion = sp.Motion.sampled(lambda t: (0, 0, A * math.sin(w * t)), until=until, every=2 * math.pi / w / 400)
    errors = []
    for safety in (0.1, 0.05):
        scene = sp.Scene(gravity=(0, 0, -G), solver=sp.LatticeSolver(2 * math.pi / w / 20, safety=safety))
        grid = sp.VoxelGrid(np.ones((1, 1, 1), dtype=int), SIZE)
        body = VoxelBody(grid, sp.VoxelMaterial(YOUNG, density=DENSITY, contact_damping=zeta, **material))
        scene.add(body, at=(0, 0, -SINKS), name="body")
        scene.add(sp.Floor(motion=motion))
        system = scene.compile()
        state, found = system.initial_state(), []
        for _ in range(240):
            scene.solver.step(system, state)
            found.append((state.t, state.x[2] - (SIZE / 2 - SINKS)))
        t, z = np.array(found[-40:]).T
        ratio = (k + 1j * w * c) / (k - MASS * w**2 + 1j * w * c)
        errors.append(float(np.abs(z - A * np.imag(ratio * np.exp(1j * w * t))).max() / (A * abs(ratio))))
    assert errors[1] < 0.03
    assert errors[1] < 0.6 * errors[0]


SHAPES: dict[str, Any] = {
    "plane": lambda **own: sp.Plane((0.1, 0, 1), 0.0, **own),
    "sphere": lambda **own: sp.Sphere((0.015, 0.02, -0.0495), 0.05, **own),
    "box": lambda **own: sp.Box((0.01, 0.015, -0.0095), (0.05, 0.06, 0.02), (0.02, 0.01, 0.3), **own),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_who_moves_along_sees_the_obstacle_at_rest(shape: str) -> None:
    """Galilei: the other way round, with the obstacle at rest, all places differ by the way of the obstacle."""
    velocity, ends = np.array([0.2, -0.1, 0.05]), []
    for moves in (True, False):
        scene = sp.Scene(gravity=(0, 0, -G))
        scene.add(block((3, 4, 2)), velocity=(0, 0, 0) if moves else -velocity, name="body")
        motion = sp.Motion(velocity=velocity) if moves else None
        scene.add(SHAPES[shape](friction=0.3, motion=motion))
        run = swept(scene, 0.05)
        ends.append(run.system.positions(run.state, "body")[:, :3] - moves * velocity * run.state.t)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9 * SIZE)
    assert np.abs(ends[0] - ends[1]).max() > 0.0  # two sums, not one


def test_a_capsule_without_length_is_a_sphere() -> None:
    ends = []
    for shape in (
        sp.Sphere((0.015, 0.02, -0.0495), 0.05),
        sp.Capsule((0.015, 0.02, -0.0495), (0.015, 0.02, -0.0495), 0.05),
    ):
        scene = sp.Scene(gravity=(0, 0, -G))
        scene.add(block((3, 4, 2)), name="body")
        scene.add(shape)
        run = swept(scene, 0.05)
        ends.append(run.system.positions(run.state, "body"))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9 * SIZE)


def test_a_turntable_carries_a_plate_round() -> None:
    """0.4 m/s² towards the middle, far less than mu g: what sticks does not creep outward."""
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(block(), at=(0.085, -0.015, -SINKS), velocity=(0.03, 0.17, 0), spin=(0, 0, 2.0), name="body")
    scene.add(sp.Floor(friction=0.5, motion=sp.Motion(angular_velocity=(0, 0, 2.0))))
    run = swept(scene, 0.5)
    middle = run.system.positions(run.state, "body").mean(axis=0)
    np.testing.assert_allclose(middle[:2], [0.1 * math.cos(1.0), 0.1 * math.sin(1.0)], atol=2e-3 * SIZE)


def test_belts_have_frictions_of_their_own() -> None:
    scene = sp.Scene(gravity=(0, 0, -G))
    for k, friction in enumerate((0.1, 0.2)):
        scene.add(block(), at=(0, k, -SINKS), name=f"body {k}")
        belt = sp.Motion(velocity=(2, 0, 0))
        scene.add(sp.Box((0, k, -0.05), (0.4, 0.4, 0.1), friction=friction, motion=belt, name=f"belt {k}"))
    run = swept(scene, 0.1)
    for k, friction in enumerate((0.1, 0.2)):
        v = run.system.velocities(run.state, f"body {k}")[:, 0].mean()
        assert v == pytest.approx(friction * G * 0.1, rel=1e-3)


def test_threads_do_not_change_the_bits() -> None:
    ends = []
    for threads in (1, 2):
        scene = sp.Scene(gravity=(0, 0, -G))
        scene.add(block((20, 20, 8)), name="body")
        shaking = sp.Motion.sampled(lambda t: (0.01 * math.sin(200 * t), 0, 0.002 * math.sin(300 * t)), until=0.02)
        scene.add(sp.Floor(friction=0.5, motion=shaking))
        scene.add(sp.Capsule((0, -0.1, 0.1), (0.2, 0.3, 0.11), 0.021, motion=sp.Motion(angular_velocity=(0, 3, 1))))
        ends.append(swept(scene, 0.01, threads=threads).state.x.tobytes())
    assert ends[0] == ends[1]


def test_a_run_that_goes_on_has_the_same_bits() -> None:
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.LatticeSolver(0.002))
    scene.add(block(), name="body")
    scene.add(sp.Floor(friction=0.5, motion=speeding(3.0, 0.05)))
    system = scene.compile()
    state, other = system.initial_state(), None
    for step in range(10):
        other = state.copy() if step == 5 else other
        scene.solver.step(system, state)
    assert other is not None
    scene.solver.advance(system, other, 5)
    assert state.x.tobytes() == other.x.tobytes()


def test_the_table_has_the_material_where_the_motion_has_it() -> None:
    """x + dt (b + A x) is where a point of the obstacle is after a small step, in the axes of the sweep."""
    motion = sp.Motion((0.1, 0.2, 0.3), (1.0, -2.0, 0.5), (0.3, 0.1, 0.2))
    axes, t, dt = [2, 0, 1], 0.7, 1e-3
    table = moving_table([sp.Box((0.1, 0.2, 0.3), (1, 2, 3), motion=motion)], axes, t, dt, 4).reshape(5, 29)
    x = np.array([0.4, 0.1, -0.2])
    for n in range(5):
        b, A = table[n, 15:18], table[n, 18:27].reshape(3, 3)
        way = motion.displacement(t + (n - 1) * dt, dt, x)[0]
        np.testing.assert_allclose(dt * (b + A @ x[axes]), way[axes], atol=1e-15)
    times = np.linspace(-0.1, 1.3, 9)
    rng = np.random.default_rng(0)
    some = [0.0, 0.5, 1.2]
    sampled = sp.Motion(times=some, positions=rng.normal(size=(3, 3)), rotations=0.3 * rng.normal(size=(3, 3)))
    for each in (motion, sampled):
        np.testing.assert_allclose(each.poses(times), [each.pose(float(t)) for t in times], atol=1e-15)


def test_a_ground_and_a_mesh_that_move_are_met_by_surfaces() -> None:
    belt = sp.Motion(velocity=(0.1, 0, 0))
    surface = sp.box_tets((0.5, 0.5, 0.05), (2, 2, 1)).boundary.surface
    for shape in (sp.HeightField(np.zeros((2, 2)), motion=belt), sp.MeshObstacle(surface, motion=belt)):
        scene = sp.Scene(gravity=(0, 0, -G))
        scene.add(block(), name="body")
        scene.add(shape)
        assert isinstance(choose(scene).solver, sp.Partitioned)
        with pytest.raises(InputError, match="does not meet this obstacle"):
            sp.LatticeSolver(0.01).prepare(scene.compile())
        with pytest.raises(InputError, match="in motion"):
            LatticeSweep.make(block().model, planes=[shape])
