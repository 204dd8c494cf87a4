"""Collisions of voxels with voxels: momentum, rebound, depth, friction, and who never meets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import Actuation, VoxelBody
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.bodies.voxel.touching.collision import Collision
from supple.errors import InputError
from supple.geometry import VoxelGrid
from supple.interaction.obstacles import Plane
from supple.material.voxel import VoxelMaterial
from supple.validation.voxel import contact as voxel_contact
from supple.validation.voxel.contact import SIZE, meeting, momenta, two_blocks
from supple.validation.voxel.friction import KINETIC, STATIC, holding, lying, pulled, sliding

Array = np.ndarray


def test_the_validation_rows_hold() -> None:
    for row in voxel_contact.run():
        assert row.ok, row


@pytest.mark.parametrize("friction", [True, False])
def test_an_oblique_collision_of_spinning_blocks_keeps_momentum(friction: bool) -> None:
    collision = Collision(friction=friction)
    body, first = two_blocks()
    state = meeting(body, first, speed=6.0, aside=1.2 * SIZE)
    for part, rate in ((first, (20.0, -10.0, 30.0)), (~first, (-30.0, 20.0, 10.0))):
        arm = state.x[part, :3] - state.x[part, :3].mean(axis=0)
        state.v[part, :3] += np.cross(rate, arm)
        state.v[part, 3:] = rate
    end = body.advance(state, body.stable_step(collision=collision), 400, collision=collision)
    assert end.v[first, 0].mean() < 1.0  # they met
    change = np.abs(momenta(body, end) - momenta(body, state))
    p = float(np.sum(body.model.mass * np.abs(state.v[:, 0])))
    assert change[:3].max() < 1e-12 * p
    assert change[3:].max() < 1e-12 * p * SIZE


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_a_head_on_collision_rebounds_and_stays_shallow(damping: float) -> None:
    """Blocks of three layers at speed V press their faces together by at most V sqrt(3 m / (2 E l)) by energy."""
    collision = Collision(damping=damping)
    body, first = two_blocks(bond_damping=0.0)
    speed = 2.0
    state = meeting(body, first, speed=speed)
    dt = body.stable_step(collision=collision, safety=0.5)
    depth, kinetic = 0.0, []
    for _ in range(300):
        state = body.advance(state, dt, 5, collision=collision)
        near, far = state.x[first, 0].max(), state.x[~first, 0].min()
        depth = max(depth, SIZE - (far - near))
        kinetic.append(0.5 * float(np.sum(body.model.mass[:, None] * state.v[:, :3] ** 2)))
    after = state.v[~first, 0].mean() - state.v[first, 0].mean()
    # reduced mass of a pair of columns 3 m / 2, stiffness of a contact E l
    limit = speed * np.sqrt(1.5 * body.model.mass[0] / (1e6 * SIZE))
    assert 0.2 * limit < depth < limit
    assert limit < 0.1 * SIZE
    assert 0.3 * speed < after <= speed
    assert kinetic[-1] <= kinetic[0] * (1 + 1e-9)


def test_two_voxels_rebound_as_an_oscillator_does() -> None:
    """Without damping a pair of single voxels is a half swing of sqrt(2 E l / m): depth V / omega, speed restored."""
    body, first = two_blocks(edge=1)
    collision = Collision(damping=0.0)
    state = meeting(body, first, speed=2.0)
    omega = np.sqrt(2 * 1e6 * SIZE / body.model.mass[0])
    dt = 1e-3 / omega
    sweep = LatticeSweep.make(body.model, collision=collision)
    state.x[first, 0] += 2.99 * SIZE
    sweep.load(state.x, state.v)
    depth = 0.0
    for _ in range(500):
        sweep.advance(dt, 10)
        depth = max(depth, SIZE - (sweep.component(0)[1] - sweep.component(0)[0]))
    x, v = np.empty_like(state.x), np.empty_like(state.v)
    sweep.save(x, v)
    assert depth == pytest.approx(2.0 / omega, rel=2e-3)
    assert v[1, 0] - v[0, 0] == pytest.approx(2.0, rel=2e-3)


def test_friction_slows_a_sliding_block_at_coulombs_rate() -> None:
    """A block that slides on top of a held plate under gravity: deceleration mu g, none without friction.

    The way is a twentieth of a voxel, since a surface of spheres is level at their tops only.
    """
    numbers = np.zeros((6, 4, 4), dtype=int)
    numbers[:, :, 0] = 1
    numbers[1:5, :, 2:] = 2
    mu, g, speed, time = 0.3, 9.81, 0.05, 0.01
    palette = [
        VoxelMaterial(young=1e6, density=1000, bond_damping=0.3, static_friction=mu, kinetic_friction=mu)
        for _ in range(2)
    ]
    body = VoxelBody(VoxelGrid(numbers, SIZE), palette)
    held = np.flatnonzero(body.grid.voxels[:, 2] == 0)
    block = body.grid.voxels[:, 2] > 0
    lost = []
    for friction in (True, False):
        collision = Collision(friction=friction)
        x, v = body.model.rest_frames.copy(), np.zeros((body.model.voxel_count, 6))
        x[block, 2] -= SIZE + 2e-6
        v[block, 0] = speed
        dt = body.stable_step(held=held, collision=collision)
        steps = int(time / dt)
        end = body.advance(LocalState(0.0, x, v), dt, steps, gravity=(0, 0, -g), held=held, collision=collision)
        lost.append((speed - end.v[block, 0].mean()) / (steps * dt))
    assert lost[0] == pytest.approx(mu * g, rel=0.15)  # the slope after a twentieth of a voxel helps the block on
    assert abs(lost[1]) < 0.15 * mu * g


def test_friction_of_a_flat_pair_is_coulombs() -> None:
    """Two voxels pressed together by loads: once the spring that held them is stretched, the slip falls by
    mu N (1/m + 1/m + a²/I + a²/I)."""
    mu, press = 0.3, 0.05
    body, _ = two_blocks(edge=1, gap=1, static_friction=mu, kinetic_friction=mu)
    m, inertia = body.model.mass[0], body.model.inertia[0]
    x, v = body.model.rest_frames.copy(), np.zeros((2, 6))
    depth = press / (1e6 * SIZE)
    x[1, 0] = x[0, 0] + SIZE - depth
    v[:, 1] = [0.5, -0.5]
    loads = np.zeros((2, 6))
    loads[:, 0] = [press, -press]
    a = 0.5 * (SIZE - depth)
    dt, slip = 1e-7, []
    for steps in (200, 300):
        end = body.advance(LocalState(0.0, x, v), dt, steps, loads=loads, collision=Collision(damping=0.0))
        w = rotations.rotate(end.x[:, 3:], end.v[:, 3:])[:, 2]
        slip.append(end.v[0, 1] - end.v[1, 1] + a * (w[0] + w[1]))
    expected = 100 * dt * mu * press * (2 / m + 2 * a * a / inertia)
    assert slip[0] - slip[1] == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 2, 1)])
def test_voxels_of_unlike_size_roll_on_each_other_like_gears(shape: tuple[int, int, int]) -> None:
    """Rims of radii 7 and 3 that move alike feel no friction, so that spins last; where one voxel spins alone, friction
    turns the two by moments in the ratio of their radii. Rows of them, apart, are pairs that do not meet each other."""
    plain = VoxelMaterial(young=1e6, density=1000)
    numbers = np.zeros((3, 2 * shape[1] - 1, 1), dtype=int)
    numbers[0, ::2], numbers[2, ::2] = 1, 2
    materials = [replace(plain, expansion=0.4), replace(plain, expansion=-0.4)]
    body = VoxelBody(VoxelGrid(numbers, SIZE), materials, actuation=Actuation(1.0, 0.0, phase=0.25))
    large, small = (body.grid.voxels[:, 0] == i for i in (0, 2))
    collision, x = Collision(), body.model.rest_frames.copy()
    x[small, 0] = x[large, 0] + 0.98 * SIZE
    dt = body.stable_step(collision=collision)
    for rates, lasting in (((30.0, -70.0), True), ((30.0, 0.0), False)):
        v = np.zeros((body.model.voxel_count, 6))
        v[:, 5] = np.where(large, *rates)
        end = body.advance(LocalState(0.0, x, v), dt, 40, collision=collision)
        assert (end.v[small, 0] > 0).all()  # they push each other away
        gained = body.model.inertia * (end.v[:, 5] - v[:, 5])
        if lasting:
            assert np.abs(end.v[:, 5] - v[:, 5]).max() < 1e-9 * 70
        else:
            assert (np.abs(gained) > 1e-3 * body.model.inertia * 30).all()
            np.testing.assert_allclose(gained[large] / gained[small], 7 / 3, rtol=1e-9)


def test_joined_neighbours_never_interact() -> None:
    """A block that swells by 60 % moves to the bit as if there were no collisions."""
    material = VoxelMaterial(young=1e6, density=1000, bond_damping=0.3, expansion=0.02)
    body = VoxelBody(VoxelGrid(np.ones((4, 3, 3), dtype=int), SIZE), material, actuation=Actuation(30.0, 20.0))
    rng = np.random.default_rng(3)
    n = body.model.voxel_count
    state = LocalState(0.0, body.model.rest_frames, rng.normal(size=(n, 6)) * np.repeat([0.2, 20.0], 3))
    dt = body.stable_step(collision=Collision(), safety=0.5)
    ends = [body.advance(state, dt, 500, collision=c) for c in (None, Collision())]
    np.testing.assert_array_equal(ends[0].x, ends[1].x)


def test_a_block_rests_on_a_block_on_a_floor() -> None:
    numbers = np.zeros((3, 3, 7), dtype=int)
    numbers[:, :, :3] = numbers[:, :, 4:] = 1
    material = VoxelMaterial(young=1e6, density=1000, bond_damping=0.3, contact_damping=0.5)
    body = VoxelBody(VoxelGrid(numbers, SIZE), material)
    dt = body.stable_step(contact=True, collision=Collision())
    state = LocalState(0.0, body.model.rest_frames, np.zeros((body.model.voxel_count, 6)))
    state = body.advance(state, dt, 30_000, gravity=(0, 0, -9.81), planes=[Plane()], collision=Collision())
    upper = body.grid.voxels[:, 2] > 3
    gap = state.x[upper, 2].min() - state.x[~upper, 2].max()
    assert SIZE - 3 * 2 * body.model.mass[0] * 9.81 / (1e6 * SIZE) < gap < SIZE
    assert np.abs(state.v[:, :3]).max() < 1e-3


def test_float32_collides_alike() -> None:
    body, first = two_blocks()
    state = meeting(body, first, speed=4.0, aside=0.3 * SIZE)
    dt = body.stable_step(collision=Collision(), safety=0.8)
    ends = [body.advance(state, dt, 300, collision=Collision(), dtype=d) for d in (np.float64, np.float32)]
    np.testing.assert_allclose(ends[1].x[:, :3], ends[0].x[:, :3], atol=0.01 * SIZE)


def test_the_stable_step_heeds_contacts() -> None:
    """Loose voxels have no links: contacts alone bound the step, and a crushed cloud stays finite at it."""
    numbers = np.zeros((9, 9, 9), dtype=int)
    numbers[::2, ::2, ::2] = 1
    body = VoxelBody(VoxelGrid(numbers, SIZE), VoxelMaterial(young=1e6, density=1000, contact_damping=0.3))
    dt = body.stable_step(collision=Collision(), safety=1.0)
    assert np.isinf(body.stable_step())
    rate = np.sqrt(1e6 * SIZE / body.model.mass[0])
    assert 0.2 < dt * rate < 1.0
    with pytest.raises(InputError, match="larger than stable"):
        body.advance(LocalState(0.0, body.model.rest_frames, np.zeros((125, 6))), 1.01 * dt, 1, collision=Collision())
    x = body.model.rest_frames.copy()
    x[:, :3] *= 0.5  # just touching
    v = np.zeros((125, 6))
    v[:, :3] = -20.0 * (x[:, :3] - x[:, :3].mean(axis=0))
    v[:, :3] += 0.1 * np.random.default_rng(0).normal(size=(125, 3))
    state = LocalState(0.0, x, v)
    before = float(np.sum(v**2))
    end = body.advance(state, dt, 3000, collision=Collision())
    energy = float(np.sum(end.v[:, :3] ** 2)) + SIZE**2 / 6 * float(np.sum(end.v[:, 3:] ** 2))
    assert energy < before


def test_bad_choices_are_refused() -> None:
    with pytest.raises(InputError, match="horizon is too short"):
        Collision(horizon=1.0)
    with pytest.raises(InputError, match="damping ratio is negative"):
        Collision(damping=-0.1)
    with pytest.raises(InputError, match="unknown scheme"):
        Collision(scheme="magic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown rebuild"):
        Collision(rebuild="never")  # type: ignore[arg-type]
    material = VoxelMaterial(young=1e6, density=1000, expansion=0.02)
    body = VoxelBody(VoxelGrid(np.ones((2, 1, 1), dtype=int), SIZE), material, actuation=Actuation(30.0, 1.0))
    with pytest.raises(InputError, match="grow to the horizon"):
        LatticeSweep.make(body.model, swing=body.swing, collision=Collision(horizon=1.5)).advance(1e-3, 250)


def test_what_holds_voxels_on_voxels_is_remembered_between_strides() -> None:
    """A run in two strides, with the pairs carried over, is one run to the bit; without them it is not."""
    sweep, upper, dt = lying()
    x, v = np.empty((len(upper), 7)), np.empty((len(upper), 6))
    pulled(sweep, upper, 0.3, dt, 301)  # odd: the other of the two tables is the last
    sweep.save(x, v)
    pairs = sweep.pairs
    assert len(pairs) > 0
    assert np.abs(pairs[:, 2]).min() > 1e-7
    ends = []
    for kept in (pairs, None):
        sweep.load(x, v)
        sweep.pairs = sweep.pairs if kept is None else kept
        pulled(sweep, upper, 0.3, dt, 50)
        ends.append(sweep.component(0)[upper])
    sweep.load(x, v)
    sweep.pairs = pairs
    for _ in range(2):
        pulled(sweep, upper, 0.3, dt, 25)
    np.testing.assert_array_equal(sweep.component(0)[upper], ends[0])
    assert np.abs(ends[0] - ends[1]).max() > 1e-8


def test_a_block_of_voxels_on_voxels_does_not_creep() -> None:
    creep, slope = holding()
    assert abs(creep) < 1e-7
    assert slope == pytest.approx(STATIC, rel=0.01)
    assert sliding() == pytest.approx(KINETIC, rel=0.01)
