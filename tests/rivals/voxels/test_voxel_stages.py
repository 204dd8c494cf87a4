"""Damping in stages: the sweep against plain numpy, the stable step against dense eigenvalues, and what is kept."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.stability.stable_step import find_step
from supple.bodies.voxel.stability.stages import ONE_STAGE, STAGES, THREE_STAGES, TWO_STAGES, Stages
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.bodies.voxel.touching.collision import Collision
from supple.errors import InputError
from supple.interaction.obstacles import Plane
from supple.validation.voxel.blocks import block

Array = np.ndarray
GRAVITY = np.array([0.3, -0.2, -9.81])


def shaken(model: VoxelModel, seed: int = 0, part: float = 1.0) -> tuple[Array, Array]:
    """A deformed, moving state."""
    rng = np.random.default_rng(seed)
    n, l = model.voxel_count, float(model.size[0])
    x, v = model.rest_frames.copy(), part * rng.normal(size=(n, 6)) * np.repeat([20 * l, 20.0], 3)
    x[:, :3] += 0.05 * part * l * rng.normal(size=(n, 3))
    x[:, 3:] = rotations.exp(0.1 * part * rng.normal(size=(n, 3)))
    return x, v


def link_rotations(q: Array) -> Array:
    """Rotation matrices of quaternions (n, 4)."""
    return np.stack([rotations.rotate(q, np.tile(e, (len(q), 1))) for e in np.eye(3)], axis=2)


def spread(model: VoxelModel, F: Array, A: Array, B: Array) -> Array:
    """Loads (n, 6) of links with F1 = F, m1 = A + B, m2 = A - B."""
    loads = np.zeros((model.voxel_count, 6))
    one, two = model.link_voxels.T
    np.add.at(loads, one, np.hstack([F, A + B]))
    np.add.at(loads, two, np.hstack([-F, A - B]))
    return loads


def damping_loads(model: VoxelModel, x: Array, v: Array) -> Array:
    """(14.10) to (14.12) of the damping, v with angular velocities in world axes."""
    one, two = model.link_voxels.T
    d, e = x[two, :3] - x[one, :3], v[two, 3:] - v[one, 3:]
    s = v[two, :3] - v[one, :3] - np.cross(0.5 * (v[one, 3:] + v[two, 3:]), d)
    F = model.link_damping[:, :1] * s
    return spread(model, F, 0.5 * np.cross(d, F), model.link_damping[:, 1:] * e)


def elastic_loads(model: VoxelModel, x: Array) -> Array:
    """(14.6) to (14.12) without damping, by rotation matrices of the mean frame."""
    one, two = model.link_voxels.T
    q1, q2 = x[one, 3:], x[two, 3:]
    q2 = q2 * np.sign(np.sum(q1 * q2, axis=1))[:, None]
    R = link_rotations(rotations.normalise(q1 + q2))
    p = rotations.multiply(q1 * [1, -1, -1, -1], q2)
    tau = p[:, 1:] / (1 + p[:, :1])
    d = np.einsum("kji,kj->ki", R, x[two, :3] - x[one, :3])
    axis = model.link_axis
    along, rows = np.eye(3)[axis], np.arange(len(axis))
    axial, lateral, twist, bend = model.link_stiffness.T
    K_u, K_t = np.repeat(lateral[:, None], 3, axis=1), np.repeat(bend[:, None], 3, axis=1)
    K_u[rows, axis], K_t[rows, axis] = axial, twist
    f, g = K_u * (d - model.link_rest[:, None] * along), 4 * K_t * tau
    G = np.cross(d, f)
    B = (1 + np.sum(tau**2, axis=1))[:, None] * g - 0.5 * np.cross(tau, G)
    return spread(model, *(np.einsum("kij,kj->ki", R, u) for u in (f, 0.5 * G, B)))


def numpy_steps(
    model: VoxelModel, x: Array, v: Array, dt: float, steps: int, shares: tuple[float, ...]
) -> tuple[Array, Array]:
    """The rival; v with angular velocities in world axes."""
    x, v = x.copy(), v.copy()
    per = 1 / np.repeat(np.stack([model.mass, model.inertia], axis=1), 3, axis=1)
    drag = per * np.repeat(model.ground_damping, 3, axis=1)
    for _ in range(steps):
        start = v
        for share in shares[:-1]:
            v = v + share * dt * per * damping_loads(model, x, v)
        v = v + dt * (per * (elastic_loads(model, x) + shares[-1] * damping_loads(model, x, v)) - drag * start)
        v[:, :3] += dt * GRAVITY
        x[:, :3] += dt * v[:, :3]
        x[:, 3:] = rotations.multiply(rotations.exp(dt * v[:, 3:]), x[:, 3:])
    return x, v


@pytest.mark.parametrize("stages", STAGES)
def test_the_sweep_equals_plain_numpy(stages: Stages) -> None:
    body = block((3, 5, 2), bond_damping=1.0, ground_damping=0.02)
    model = body.model
    x, v = shaken(model)
    dt, steps = find_step(model, choices=(stages,)).step, 30
    sweep = LatticeSweep.make(model)
    sweep.load(x, v)
    sweep.advance(dt, steps, gravity=GRAVITY, stages=stages)
    ours = np.full_like(x, np.nan), np.full_like(v, np.nan)
    sweep.save(*ours)
    world = np.hstack([v[:, :3], rotations.rotate(x[:, 3:], v[:, 3:])])
    theirs_x, theirs_v = numpy_steps(model, x, world, dt, steps, stages.shares)
    theirs_v[:, 3:] = rotations.rotate_inverse(theirs_x[:, 3:], theirs_v[:, 3:])
    np.testing.assert_allclose(ours[0][:, :3], theirs_x[:, :3], rtol=0, atol=1e-11 * model.extent)
    np.testing.assert_allclose(np.abs(np.sum(ours[0][:, 3:] * theirs_x[:, 3:], axis=1)), 1.0, rtol=0, atol=1e-11)
    np.testing.assert_allclose(ours[1], theirs_v, rtol=0, atol=1e-10 * np.abs(v).max())


def dense(body: VoxelBody) -> tuple[Array, Array]:
    """M^-1/2 K M^-1/2 and the same of C, at rest."""
    model, n = body.model, 6 * body.model.voxel_count
    rest = LocalState(0.0, model.rest_frames, np.zeros((model.voxel_count, 6)))
    tangent = body.lattice_force.linearize(rest)
    K, C = np.zeros((2, n, n))
    for k, d in enumerate(np.eye(n).reshape(n, -1, 6)):
        for out, weights in ((K, (-1.0, 0.0)), (C, (0.0, -1.0))):
            f = np.zeros_like(d)
            tangent.add_product(d, f, *weights)
            out[:, k] = f.ravel()
    root = np.sqrt(np.repeat(np.stack([model.mass, model.inertia], axis=1), 3, axis=1).ravel())
    return K / root[:, None] / root, C / root[:, None] / root


def step_matrix(K: Array, C: Array, h: float, stages: Stages) -> Array:
    """One step of (x, v)."""
    left = np.eye(len(K))
    for share in stages.shares:
        left = left - share * h * C @ left
    return np.block([[np.eye(len(K)) - h * h * K, h * left], [-h * K, left]])


@pytest.mark.parametrize(
    ("shape", "damping", "count"), [((3, 3, 3), 1.0, 3), ((2, 3, 4), 0.5, 2), ((1, 1, 6), 1.0, 2), ((2, 2, 2), 0.1, 1)]
)
def test_the_limit_is_that_of_the_dense_step(shape: tuple[int, int, int], damping: float, count: int) -> None:
    """Stages are as many as pay; below the limit nothing grows, above it something does."""
    body = block(shape, bond_damping=damping)
    found = find_step(body.model, safety=1.0)
    assert len(found.stages.shares) == count
    K, C = dense(body)
    for part in (0.2, 0.5, 0.7, 0.9, 0.995):
        grown = np.abs(np.linalg.eigvals(step_matrix(K, C, part * found.step, found.stages))).max()
        assert grown < 1 + 2e-6, part  # double roots of free motions are computed to 1e-6
    if found.stages is not TWO_STAGES:  # whose limit may be where P returns to 1, which is safe and not the last one
        assert np.abs(np.linalg.eigvals(step_matrix(K, C, 1.005 * found.step, found.stages))).max() > 1 + 1e-4


def test_three_stages_allow_four_times_the_step_and_damp_the_slowest_mode_right() -> None:
    """The slowest motion that swings, at a bond damping of 1, within a tenth; exact: eigenvalues of the lattice. The
    block is as small as it can be, and its motion fast: at the solver's step 15 steps a period."""
    body = block((3, 3, 3), bond_damping=1.0)
    found = find_step(body.model, safety=0.7)
    assert found.step > 3.9 * found.single
    K, C = dense(body)
    n = len(K)
    exact = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-K, -C]]))
    ours = np.linalg.eigvals(step_matrix(K, C, found.step, found.stages)).astype(complex)
    rates = np.log(ours[np.abs(ours) > 1e-9]) / found.step

    def slowest(values: Array) -> complex:
        elastic = values[np.abs(values) > 1e-3 * np.sqrt(np.linalg.norm(K, 2))]  # those of rigid motions are round-off
        swings = elastic[elastic.imag > 0.5 * np.abs(elastic)]
        return complex(swings[np.argmin(np.abs(swings))])

    assert slowest(rates).real == pytest.approx(slowest(exact).real, rel=0.1)
    assert slowest(rates).imag == pytest.approx(slowest(exact).imag, rel=0.1)


@pytest.mark.parametrize("stages", [TWO_STAGES, THREE_STAGES])
def test_momentum_is_kept_to_round_off(stages: Stages) -> None:
    body = block((4, 3, 5), bond_damping=1.0)
    model = body.model
    x, v = shaken(model, part=0.5)

    def momentum(x: Array, v: Array) -> Array:
        w = rotations.rotate(x[:, 3:], v[:, 3:])
        p = model.mass[:, None] * v[:, :3]
        return np.concatenate([p.sum(axis=0), (np.cross(x[:, :3], p) + model.inertia[:, None] * w).sum(axis=0)])

    size = np.repeat([np.abs(model.mass[:, None] * v[:, :3]).sum(), np.abs(model.mass[:, None] * v[:, :3]).sum()], 3)
    size[3:] *= model.extent
    sweep = LatticeSweep.make(model)
    sweep.load(x, v)
    before = momentum(x, v)
    sweep.advance(find_step(model, choices=(stages,), safety=0.7).step, 2000, stages=stages)
    sweep.save(x, v)
    assert np.abs((momentum(x, v) - before) / size).max() < 1e-12


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_thread_gives_the_bits_of_two(dtype: type) -> None:
    """With collisions and without, on slabs; and many steps at once those of one after the other."""
    body = block((12, 40, 11), bond_damping=1.0)
    x, v = shaken(body.model, part=0.2)
    dt = 0.4 / 3.2e4
    before, found = numba.get_num_threads(), []
    try:
        for count, collision in ((1, None), (2, None), (1, Collision()), (2, Collision())):
            numba.set_num_threads(count)
            sweep = LatticeSweep.make(body.model, held=[0, 1, 2], planes=[Plane()], collision=collision, dtype=dtype)
            assert len(sweep.layout.slabs.start) > 2
            sweep.load(x, v)
            for steps in (7,) if count == 2 else (3, 4):
                sweep.advance(dt, steps, gravity=GRAVITY, stages=THREE_STAGES)
            found.append(sweep.layout.fields(sweep.layout.bricks.state, 14)[sweep.layout.brick, :, sweep.layout.lane])
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], found[3])


def test_a_body_takes_the_stages_that_a_step_needs() -> None:
    """Below the limit of one stage a body takes symplectic Euler, above it three stages."""
    body = block((3, 3, 3), bond_damping=1.0)
    found = find_step(body.model, safety=1.0)
    x, v = shaken(body.model, part=0.1)
    for dt, stages in ((0.9 * found.single, ONE_STAGE), (0.9 * found.step, THREE_STAGES)):
        sweep = LatticeSweep.make(body.model)
        sweep.load(x, v)
        sweep.advance(dt, 20, stages=stages)
        end_x, end_v = np.empty_like(x), np.empty_like(v)
        sweep.save(end_x, end_v)
        np.testing.assert_array_equal(body.advance(LocalState(0.0, x, v), dt, 20).x, end_x)
    with pytest.raises(InputError, match="larger than stable"):
        body.advance(LocalState(0.0, x, v), 1.01 * found.step, 1)


def test_shares_must_add_up() -> None:
    sweep = LatticeSweep.make(block((2, 2, 2), bond_damping=1.0).model)
    with pytest.raises(InputError, match="add up to 1"):
        sweep.advance(1e-6, 1, stages=Stages((0.5, 0.4), 1.0))
