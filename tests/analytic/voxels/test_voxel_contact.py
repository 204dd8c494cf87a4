"""Voxels on planes: resting depth, sliding distance, slopes, bounces; and actuated voxels."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import Actuation, VoxelBody
from supple.errors import InputError
from supple.geometry import VoxelGrid
from supple.interaction.obstacles import Plane
from supple.material.voxel import VoxelMaterial
from supple.scene import check_derivatives
from supple.solvers import SymplecticEuler
from supple.validation.voxel.blocks import block, held_system

G = 9.81
Array = np.ndarray


def start(body: VoxelBody, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0), lift: float = 0.0) -> LocalState:
    x, v = body.model.rest_frames.copy(), np.zeros((body.model.voxel_count, 6))
    x[:, 2] += lift
    v[:, :3] = velocity
    return LocalState(0.0, x, v)


def settled(body: VoxelBody, planes: list[Plane], gravity: tuple[float, float, float]) -> tuple[LocalState, float]:
    dt = body.stable_step(contact=True)
    return body.advance(start(body), dt, 4000, gravity=gravity, planes=planes), dt


def test_resting_depth() -> None:
    body = block((3, 3, 1), size=0.01, bond_damping=0.5, contact_damping=1.0)
    state, _ = settled(body, [Plane()], (0, 0, -G))
    # weight of a voxel over its stiffness on the floor, 2 E l
    depth = 0.005 - state.x[:, 2]
    np.testing.assert_allclose(depth, body.model.mass[0] * G / (2 * 1e6 * 0.01), rtol=1e-6)
    assert np.abs(state.v).max() < 1e-9


@pytest.mark.parametrize("rotation", [(0.0, 0.0, 0.0), (0.3, 0.4, 0.5)])
def test_sliding_distance(rotation: tuple[float, float, float]) -> None:
    # the plane, gravity and the body turned together
    R = rotations.to_matrix(rotations.exp(rotation))
    body = block((4, 2, 1), size=0.01, bond_damping=0.5, contact_damping=1.0, static_friction=0.6, kinetic_friction=0.4)
    planes, gravity = [Plane(R[:, 2])], tuple(-G * R[:, 2])
    placed = start(body)
    x = placed.x.copy()
    x[:, :3] = x[:, :3] @ R.T
    x[:, 3:] = rotations.exp(rotation)
    dt = body.stable_step(contact=True)
    rest = body.advance(LocalState(0.0, x, placed.v), dt, 4000, gravity=gravity, planes=planes)
    speed = 0.3
    v = rest.v.copy()
    v[:, :3] += speed * R[:, 0]
    steps = int(2 * speed / (0.4 * G) / dt)
    end = body.advance(LocalState(0.0, rest.x, v), dt, steps, gravity=gravity, planes=planes)
    way = (end.x[:, :3] - rest.x[:, :3]) @ R
    assert way[:, 0].mean() == pytest.approx(speed**2 / (2 * 0.4 * G), rel=5e-3)
    assert np.abs(end.v[:, :3] @ R[:, 0]).max() < 1e-9
    later = body.advance(end, dt, 1000, gravity=gravity, planes=planes)
    assert np.abs(later.x[:, :3] - end.x[:, :3]).max() < 1e-9


@pytest.mark.parametrize(("slope", "slides"), [(0.55, False), (0.65, True)])
def test_static_friction_on_a_slope(slope: float, slides: bool) -> None:
    body = block((2, 2, 1), size=0.01, bond_damping=0.5, contact_damping=1.0, static_friction=0.6, kinetic_friction=0.3)
    state, dt = settled(body, [Plane()], (0, 0, -G))
    gravity = (slope * G, 0, -G)
    end = body.advance(state, dt, 2000, gravity=gravity, planes=[Plane()])
    t = 2000 * dt
    way = float((end.x[:, 0] - state.x[:, 0]).mean())
    if slides:
        assert way == pytest.approx((slope - 0.3) * G * t**2 / 2, rel=0.02)
    else:
        assert abs(way) < 1e-7


@pytest.mark.parametrize(("height", "kinetic", "holds"), [(2, 0.4, 0.78), (1, 0.4, 0.98), (2, 0.6, 0.98)])
def test_a_taller_block_slides_before_its_static_friction(height: int, kinetic: float, holds: float) -> None:
    """Of a block of two layers the voxels uphill bear less, slip first, and leave their load to the others where the
    kinetic friction is smaller. The slope grows so slowly that nothing swings; by 0.03 more the block slides."""
    body = block(
        (4, 4, height), size=0.01, bond_damping=1.0, contact_damping=1.0, static_friction=0.6, kinetic_friction=kinetic
    )
    state, dt = settled(body, [Plane()], (0, 0, -G))
    ways = []
    for parts in (np.linspace(0.0, holds, 60), np.linspace(holds, holds + 0.03, 5)):
        for part in parts:
            state = body.advance(state, dt, 300, gravity=(part * 0.6 * G, 0, -G), planes=[Plane()])
        x = state.x[:, 0].mean()
        state = body.advance(state, dt, 3000, gravity=(parts[-1] * 0.6 * G, 0, -G), planes=[Plane()])
        ways.append(float(state.x[:, 0].mean() - x))
    assert abs(ways[0]) < 1e-7
    assert ways[1] > 1e-3


def test_contact_never_pulls_and_an_undamped_bounce_keeps_its_energy() -> None:
    body = block((1, 1, 1), size=0.01, contact_damping=0.0)
    dt = body.stable_step(contact=True, safety=0.05)
    lift, best = 0.01, 0.0
    state = start(body, lift=lift)
    fall = np.sqrt(2 * lift / G)
    for _ in range(40):
        state = body.advance(state, dt, int(2.2 * fall / dt / 40), gravity=(0, 0, -G), planes=[Plane()])
        if state.t > 1.5 * fall:
            best = max(best, float(state.x[0, 2]) - 0.005)
    assert best == pytest.approx(lift, rel=0.01)
    damped = block((1, 1, 1), size=0.01, contact_damping=1.0)
    pressed = start(damped, lift=-1e-4)
    pressed.v[0, 2] = 5.0  # leaves faster than the damper would follow
    end = damped.advance(pressed, 1e-6, 1, planes=[Plane()])
    assert end.v[0, 2] >= 5.0


def actuated(shape: tuple[int, int, int]) -> VoxelBody:
    rng = np.random.default_rng(0)
    palette = [
        VoxelMaterial(young=1e6, density=1000, expansion=0.01, bond_damping=0.2),
        VoxelMaterial(young=5e5, density=1000, expansion=-0.005, bond_damping=0.2),
    ]
    grid = VoxelGrid(rng.integers(1, 3, shape), 0.01)
    n = int(np.prod(shape))
    return VoxelBody(grid, palette, actuation=Actuation(20.0, 40.0, rng.uniform(size=n)))


def test_the_actuated_sweep_equals_the_general_operations() -> None:
    body = actuated((6, 3, 3))
    system = held_system(body, [0, 1], gravity=(0, 0, -G))
    state = system.initial_state()
    dt = body.stable_step(held=[0, 1], safety=0.5)
    solver = SymplecticEuler(dt)
    for _ in range(100):
        solver.step(system, state)
    half = body.advance(start(body), dt, 60, gravity=(0, 0, -G), held=[0, 1])
    ours = body.advance(half, dt, 40, gravity=(0, 0, -G), held=[0, 1])
    np.testing.assert_allclose(ours.x[:, :3], state.x.reshape(-1, 7)[:, :3], atol=1e-13)
    v = state.v.reshape(-1, 6)
    np.testing.assert_allclose(ours.v, v, atol=1e-11 * np.abs(v).max())


def test_an_actuated_force_has_exact_derivatives() -> None:
    body = actuated((3, 2, 2))
    assert check_derivatives(body.lattice_force, body.model.rest_frames, t=0.0123).is_ok


def test_a_free_bar_takes_the_length_of_its_control() -> None:
    material = VoxelMaterial(young=1e6, density=1000, expansion=0.02, bond_damping=0.3, ground_damping=0.1)
    grid = VoxelGrid(np.ones((6, 1, 1), dtype=int), 0.01)
    body = VoxelBody(grid, material, actuation=Actuation(10.0, 0.0, 0.25))  # at the crest for ever: 20 % longer
    end = body.advance(start(body), body.stable_step(held=[0]), 5000, held=[0])
    assert end.x[-1, 0] - end.x[0, 0] == pytest.approx(1.2 * 0.05, rel=1e-9)


def test_errors_name_the_fix() -> None:
    grid = VoxelGrid(np.ones((2, 1, 1), dtype=int), 0.01)
    material = VoxelMaterial(young=1e6, density=1000, expansion=0.1)
    with pytest.raises(InputError, match="vanish"):
        VoxelBody(grid, material, actuation=Actuation(10.0, 1.0))
    with pytest.raises(InputError, match="phase"):
        VoxelBody(grid, material, actuation=Actuation(1.0, 1.0, np.zeros(3)))
    with pytest.raises(InputError, match="frequency is out of range"):
        Actuation(1.0, -1.0)
    with pytest.raises(InputError, match="normal is zero"):
        Plane((0, 0, 0))
