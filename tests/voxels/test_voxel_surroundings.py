"""What voxels meet: boxes, a height field, several obstacles, a fluid; against closed forms, planes and numpy."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.errors import InputError
from supple.geometry import VoxelGrid
from supple.interaction.fluid import Fluid
from supple.interaction.obstacles import Box, HeightField, Obstacle, Plane, Sphere
from supple.material.voxel import VoxelMaterial

Array = np.ndarray
SIZE, YOUNG, DENSITY, G = 0.01, 1e6, 1000.0, 9.81
MASS = DENSITY * SIZE**3


def block(shape: tuple[int, int, int] = (1, 1, 1), **more: float) -> VoxelBody:
    values = {"young": YOUNG, "density": DENSITY, "bond_damping": 0.5, "contact_damping": 0.5, **more}
    return VoxelBody(VoxelGrid(np.ones(shape, dtype=int), SIZE), VoxelMaterial(**values))


def at(body: VoxelBody, shift: Array | tuple[float, ...], v: tuple[float, ...] = (0, 0, 0)) -> LocalState:
    """At rest, the first voxel's centre at a place."""
    x = body.model.rest_frames.copy()
    x[:, :3] += np.asarray(shift) - x[0, :3]
    speed = np.zeros((len(x), 6))
    speed[:, :3] = v
    return LocalState(0.0, x, speed)


def push(obstacle: Obstacle, place: Array) -> Array:
    """Acceleration that a resting voxel at a place gets in one small step."""
    body, dt = block(), 1e-7
    return body.advance(at(body, place), dt, 1, planes=[obstacle]).v[0, :3] / dt


def box_reference(box: Box, x: Array) -> tuple[float, Array]:
    """Signed distance and normal of a box, by its definition: the nearest point of the surface."""
    R = rotations.to_matrix(np.asarray(box.rotation))
    p, h = R.T @ (x - np.asarray(box.centre)), np.asarray(box.edges) / 2
    nearest = np.clip(p, -h, h)
    if (np.abs(p) > h).any():
        gap = p - nearest
        return float(np.linalg.norm(gap)), R @ (gap / np.linalg.norm(gap))
    depth = h - np.abs(p)
    k = int(np.argmin(depth))
    n = np.zeros(3)
    n[k] = np.copysign(1.0, p[k])
    return -float(depth[k]), R @ n


@pytest.mark.parametrize("rotation", [None, (0.3, -0.8, 0.5)])
def test_a_box_pushes_along_the_way_out_of_it(rotation: tuple[float, ...] | None) -> None:
    box = Box((0.1, -0.2, 0.3), (0.016, 0.012, 0.02), rotation)
    rng = np.random.default_rng(0)
    touched = {"face": 0, "edge": 0, "corner": 0, "inside": 0, "off": 0}
    R = rotations.to_matrix(np.asarray(box.rotation))
    for _ in range(150):
        local = rng.uniform(-1, 1, 3) * (np.asarray(box.edges) / 2 + 0.55 * SIZE)
        x = np.asarray(box.centre) + R @ local
        distance, n = box_reference(box, x)
        outside = int((np.abs(local) > np.asarray(box.edges) / 2).sum())
        depth = SIZE / 2 - distance
        touched["off" if depth < 0 else ("inside", "face", "edge", "corner")[outside]] += 1
        expected = 2 * YOUNG * SIZE * max(depth, 0.0) / MASS * n
        np.testing.assert_allclose(push(box, x), expected, rtol=1e-6, atol=1e-3)
    assert min(touched.values()) > 0, touched


LAYOUTS = [(3, 1, 1), (1, 3, 1), (1, 1, 3)]  # which axis is swept last


@pytest.mark.parametrize("shape", LAYOUTS)
def test_resting_depth_on_everything_flat(shape: tuple[int, int, int]) -> None:
    """m g / (2 E l) below the surface, for each column of voxels its own weight."""
    body = block(shape, ground_damping=0.1)
    column = shape[2]
    flat = HeightField(np.full((3, 4), 0.02), origin=(-1.0, -1.0), spacing=(1.0, 0.7))
    for obstacle in (Plane((0, 0, 1), 0.02), Box((0, 0, 0.01), (4, 4, 0.02)), flat):
        state = at(body, (0.003, 0.004, 0.02 + SIZE / 2))
        dt = body.stable_step(contact=True)
        state = body.advance(state, dt, 6000, gravity=(0, 0, -G), planes=[obstacle])
        depth = column * MASS * G / (2 * YOUNG * SIZE)
        assert state.x[0, 2] == pytest.approx(0.02 + SIZE / 2 - depth, abs=1e-4 * depth)


@pytest.mark.parametrize("shape", LAYOUTS)
def test_flat_ground_is_a_plane_bit_by_bit_and_slopes_are_tilted_planes(shape: tuple[int, int, int]) -> None:
    body = block(shape, static_friction=0.5, kinetic_friction=0.3)
    slope_x, slope_y = 0.2, -0.35
    x, y = -1.0 + 0.5 * np.arange(5), -2.0 + 1.0 * np.arange(6)
    heights = 0.05 + slope_x * x[:, None] + slope_y * y
    ground = HeightField(heights, origin=(-1.0, -2.0), spacing=(0.5, 1.0))
    n = np.array([-slope_x, -slope_y, 1.0])
    plane = Plane(n, 0.05 * n[2] / np.linalg.norm(n))
    state = at(body, (0.11, 0.23, ground.height(0.11, 0.23) + 0.4 * SIZE), v=(0.1, -0.2, 0.0))
    dt = body.stable_step(contact=True)
    one = body.advance(state, dt, 800, gravity=(0, 0, -G), planes=[ground])
    two = body.advance(state, dt, 800, gravity=(0, 0, -G), planes=[plane])
    np.testing.assert_allclose(one.x, two.x, atol=1e-12)
    np.testing.assert_allclose(one.v[:, :3], two.v[:, :3], atol=1e-9)


def test_rows_of_the_ground_run_along_x_and_columns_along_y() -> None:
    heights = np.zeros((4, 3))
    heights[2, 1] = 0.3
    ground = HeightField(heights, origin=(10.0, 20.0), spacing=(0.5, 2.0))
    assert ground.height(11.0, 22.0) == pytest.approx(0.3)
    assert ground.height(10.75, 22.0) == pytest.approx(0.15)
    assert ground.height(11.0, 23.0) == pytest.approx(0.15)
    assert ground.height(10.75, 21.0) == pytest.approx(0.075)  # bilinear
    assert ground.height(-5.0, 99.0) == 0.0
    slope = HeightField([[0.0, 0.0], [1.0, 1.0]], spacing=1.0)
    assert slope.height(7.0, 0.5) == 1.0  # level beyond
    for shape in LAYOUTS:
        place = np.array([10.9, 22.3, ground.height(10.9, 22.3) + 0.2 * SIZE])
        e = 1e-6
        hx = (ground.height(10.9 + e, 22.3) - ground.height(10.9 - e, 22.3)) / (2 * e)
        hy = (ground.height(10.9, 22.3 + e) - ground.height(10.9, 22.3 - e)) / (2 * e)
        n = np.array([-hx, -hy, 1.0]) / np.sqrt(1 + hx * hx + hy * hy)
        body = block(shape, bond_damping=0.0)
        state = at(body, place)
        found = body.advance(state, 1e-7, 1, planes=[ground]).v[0, :3] / 1e-7
        depth = SIZE / 2 - 0.2 * SIZE * n[2]
        np.testing.assert_allclose(found, 2 * YOUNG * SIZE * depth / MASS * n, rtol=1e-6, atol=1e-3)


def test_friction_on_a_slope_holds_below_its_angle_and_slides_above() -> None:
    """On a tilted box and a sloping ground: at rest while tan(angle) < mu_s, else a = g (sin - mu_d cos)."""
    for angle, slides in ((0.3, False), (0.6, True)):
        body = block(static_friction=0.5, kinetic_friction=0.4, contact_damping=0.5)
        tilt = Box((0, 0, 0), (10, 10, 1.0), (0, angle, 0))
        n = np.array([np.sin(angle), 0.0, np.cos(angle)])
        down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
        depth = MASS * G * np.cos(angle) / (2 * YOUNG * SIZE)
        slope = HeightField([[np.tan(angle)] * 2, [-np.tan(angle)] * 2], origin=(-1.0, -1.0), spacing=2.0)
        for obstacle, place in ((tilt, n * (0.5 + SIZE / 2 - depth)), (slope, n * (SIZE / 2 - depth))):
            state = at(body, place)
            dt, steps = body.stable_step(contact=True), 2000
            end = body.advance(state, dt, steps, gravity=(0, 0, -G), planes=[obstacle])
            run = float((end.x[0, :3] - state.x[0, :3]) @ down)
            t = dt * steps
            expected = 0.5 * G * (np.sin(angle) - 0.4 * np.cos(angle)) * t**2 if slides else 0.0
            assert run == pytest.approx(expected, rel=2e-3, abs=1e-9)


def test_several_obstacles_hold_a_voxel_in_a_corner() -> None:
    """A floor, a wall of a box, a ball and the ground at once: forces balance, each as it would alone."""
    body = block(static_friction=0.0, kinetic_friction=0.0, ground_damping=0.2)
    wall = Box((-0.5, 0, 0), (1.0, 4.0, 4.0))
    ball = Sphere((SIZE / 2, -0.05, SIZE / 2), 0.05)
    ground = HeightField(np.zeros((2, 2)), origin=(-1, -1), spacing=2.0)
    state = at(body, (SIZE / 2, SIZE / 2, SIZE / 2))
    gravity = np.array([-3.0, -2.0, -G])
    dt = body.stable_step(contact=2)
    end = body.advance(state, dt, 5000, gravity=gravity, planes=[wall, ball, ground])
    sunk = np.full(3, SIZE / 2) - end.x[0, :3]
    np.testing.assert_allclose(sunk, -MASS * gravity / (2 * YOUNG * SIZE), rtol=1e-3)
    with pytest.raises(InputError, match="more than one height field"):
        body.advance(state, dt, 1, planes=[ground, ground])


def test_two_floors_in_one_place_push_twice_and_stay_stable() -> None:
    body = block()
    floors = [Plane(), Box((0, 0, -0.5), (1, 1, 1))]
    dt = body.stable_step(contact=2)
    assert dt < 0.8 * body.stable_step(contact=1)
    state = body.advance(at(body, (0, 0, SIZE / 2)), dt, 5000, gravity=(0, 0, -G), planes=floors)
    assert SIZE / 2 - state.x[0, 2] == pytest.approx(MASS * G / (4 * YOUNG * SIZE), rel=1e-6)
    with pytest.raises(InputError, match="larger than stable"):
        body.advance(state, body.stable_step(contact=1), 1, planes=floors)


def test_bad_obstacles_are_refused() -> None:
    for bad in (
        lambda: Box((0, 0, 0), (1, 0, 1)),
        lambda: Box((0, 0, np.nan), (1, 1, 1)),
        lambda: HeightField([[0.0, np.nan], [0.0, 0.0]]),
        lambda: HeightField([0.0, 1.0]),
        lambda: HeightField(np.zeros((2, 2)), spacing=0.0),
        lambda: HeightField(np.zeros((2, 2)), origin=(0.0, 0.0, 0.0)),
        lambda: Fluid(-1.0),
        lambda: Fluid(1.0, drag=np.nan),
        lambda: Fluid(1.0, level=np.inf),
        lambda: Fluid(1.0, flow=(0.0, 1.0)),
    ):
        with pytest.raises(InputError):
            bad()
    with pytest.raises(InputError, match="not a row of obstacles"):
        block().advance(at(block(), (0, 0, 0)), 1e-5, 1, planes=["floor"])


# fluid


def test_a_falling_cube_reaches_its_terminal_velocity() -> None:
    """rho C A v²/2 = (rho_s - rho) V g, and the way there is v_t tanh(t / tau) of the mass alone."""
    body, fluid = block(), Fluid(density=200.0, drag=1.2)
    end = body.advance(at(body, (0, 0, 0)), 1e-3, 3000, gravity=(0, 0, -G), fluid=fluid)
    terminal = np.sqrt((DENSITY - 200.0) * SIZE * G / (0.5 * 200.0 * 1.2))
    np.testing.assert_allclose(end.v[0, :3], [0, 0, -terminal], rtol=1e-9, atol=1e-12)
    early = body.advance(at(body, (0, 0, 0)), 1e-5, 10000, gravity=(0, 0, -G), fluid=fluid)
    tau = terminal / (G * 0.8)
    assert early.v[0, 2] == pytest.approx(-terminal * np.tanh(0.1 / tau), rel=1e-3)  # dt/tau of a first-order step


def test_buoyancy_floats_at_the_depth_of_the_displaced_weight() -> None:
    body = block(density=600.0, ground_damping=0.1)
    still = body.advance(at(body, (1, 2, 3)), 5e-4, 500, gravity=(0, 0, -G), fluid=Fluid(600.0))
    np.testing.assert_allclose(still.v, 0.0, atol=1e-15)
    water = Fluid(1000.0, level=0.5)
    end = body.advance(at(body, (0, 0, 0.5)), 5e-4, 20000, gravity=(0, 0, -G), fluid=water)
    assert end.x[0, 2] == pytest.approx(0.5 + (0.5 - 0.6) * SIZE, abs=1e-6 * SIZE)
    high = body.advance(at(body, (0, 0, 1.0)), 5e-4, 10, fluid=Fluid(1000.0, flow=(1, 0, 0), level=0.5))
    np.testing.assert_array_equal(high.v, 0.0)  # dry


def drag_reference(body: VoxelBody, x: Array, v: Array, fluid: Fluid) -> Array:
    """Force on each voxel, face by face, from the grid."""
    grid, out = body.grid, np.zeros((len(x), 3))
    filled = {tuple(cell) for cell in grid.voxels.tolist()}
    R = rotations.to_matrix(x[:, 3:])
    for i, cell in enumerate(grid.voxels.tolist()):
        for axis in range(3):
            for sign in (1, -1):
                beside = list(cell)
                beside[axis] += sign
                if tuple(beside) in filled:
                    continue
                n = sign * R[i, :, axis]
                u = float((v[i, :3] - np.asarray(fluid.flow)) @ n)
                if u > 0:
                    out[i] -= 0.5 * fluid.density * fluid.drag * SIZE**2 * u**2 * n
    return out


@pytest.mark.parametrize("shape", [(4, 2, 3), (2, 4, 3), (2, 3, 4)])
def test_drag_is_of_the_exposed_faces_that_meet_the_fluid(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(1)
    numbers = (rng.uniform(size=shape) < 0.7).astype(int)
    numbers[0, 0, 0] = 1
    body = VoxelBody(VoxelGrid(numbers, SIZE), VoxelMaterial(young=YOUNG, density=DENSITY, bond_damping=0.0))
    q = rotations.exp(np.array([0.4, -0.7, 1.1]))
    x = body.model.rest_frames.copy()
    x[:, :3] = rotations.rotate(q, x[:, :3])
    x[:, 3:] = q  # turned as a whole: no link is strained
    v = np.zeros((len(x), 6))
    v[:, :3] = (1.0, -2.0, 0.5)
    fluid, dt = Fluid(800.0, drag=1.1, flow=(0.3, 0.2, -0.9)), 1e-8
    end = body.advance(LocalState(0.0, x, v), dt, 1, fluid=fluid)
    force = (end.v[:, :3] - v[:, :3]) * MASS / dt
    np.testing.assert_allclose(force, drag_reference(body, x, v, fluid), rtol=1e-5, atol=1e-7)


def test_a_flow_carries_a_body_away_and_never_faster_than_it_flows() -> None:
    body = block((3, 2, 2))
    flow = np.array([0.5, 0.3, -0.2])
    dt = body.stable_step()
    speeds = []
    state = at(body, (0, 0, 0))
    for _ in range(4):
        state = body.advance(state, dt, 5000, fluid=Fluid(1000.0, flow=flow))
        speeds.append(float(state.v[:, :3].mean(axis=0) @ flow / (flow @ flow)))
    assert np.all(np.diff(speeds) > 0)
    assert 0.8 < speeds[-1] < 1.0


def test_one_and_two_threads_meet_the_world_with_the_same_bits() -> None:
    body = block((8, 8, 44), static_friction=0.6)
    n, before, found = body.model.voxel_count, numba.get_num_threads(), []
    v = np.random.default_rng(0).normal(size=(n, 6)) * np.repeat([0.2, 5.0], 3)
    rng = np.random.default_rng(1)
    ground = HeightField(0.004 * rng.uniform(size=(9, 9)), origin=(-0.05, -0.05), spacing=0.03)
    obstacles = [ground, Box((0.04, -0.02, 0.2), (0.03, 0.04, 0.1), (0.1, 0.2, 0.0)), Plane((1, 0, 0), 0.001)]
    dt = body.stable_step(contact=2)
    fluid = Fluid(500.0, flow=(0.1, 0.2, 0.0), level=0.2)
    try:
        for threads in (1, 2):
            numba.set_num_threads(min(threads, before))
            state = LocalState(0.0, body.model.rest_frames, v)
            state = body.advance(state, dt, 60, gravity=(0, 0, -G), planes=obstacles, fluid=fluid)
            found.append(np.hstack([state.x, state.v]))
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(*found)
