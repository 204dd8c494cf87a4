"""The fused sweep against the general operations, one thread against two, and its stable step."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody, kernels
from supple.bodies.voxel.links.link_memory import no_laws
from supple.bodies.voxel.stability.stages import ONE_STAGE, THREE_STAGES, Stages
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.errors import InputError
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.solvers import SymplecticEuler
from supple.validation.voxel.blocks import block, held_system

Array = np.ndarray
PALETTE = [
    VoxelMaterial(young=1e6, density=1000, poisson=0.3, bond_damping=0.3, ground_damping=0.02),
    VoxelMaterial(young=3e5, density=500, poisson=0.1, bond_damping=0.1),
]


def mixed_body(shape: tuple[int, int, int], *, filled: float = 1.0, seed: int = 0) -> VoxelBody:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(1, 3, shape) * (rng.uniform(size=shape) < filled)
    numbers[0, 0, 0] = 1
    return VoxelBody(VoxelGrid(numbers, 0.01, (0.1, 0.2, 0.3)), PALETTE)


def shaken(body: VoxelBody, seed: int = 0) -> tuple[Array, Array]:
    """A deformed, moving state."""
    rng = np.random.default_rng(seed)
    n = body.model.voxel_count
    x, v = body.model.rest_frames.copy(), rng.normal(size=(n, 6)) * np.repeat([0.2, 20.0], 3)
    x[:, :3] += 5e-4 * rng.normal(size=(n, 3))
    x[:, 3:] = rotations.exp(0.1 * rng.normal(size=(n, 3)))
    return x, v


@pytest.mark.parametrize(
    ("shape", "filled"), [((5, 4, 3), 1.0), ((3, 7, 17), 0.5), ((20, 1, 1), 1.0), ((9, 8, 2), 0.15), ((3, 21, 2), 0.8)]
)
def test_the_sweep_equals_the_general_operations(shape: tuple[int, int, int], filled: float) -> None:
    body = mixed_body(shape, filled=filled)
    n = body.model.voxel_count
    held = np.arange(0, n, 7)
    gravity = (1.0, -2.0, -9.81)
    load = np.random.default_rng(2).normal(size=(n, 6)) * np.repeat([1e-2, 0.0], 3)
    x, v = shaken(body)
    dt = body.stable_step(held=held, safety=0.5)
    system = held_system(body, held, gravity=gravity, load=load)
    state = system.initial_state()
    state.x[:], state.v[:] = x.ravel(), v.ravel()
    state.v.reshape(-1, 6)[held] = 0.0
    system.filter.start[0::2] = x[held, :3]
    solver = SymplecticEuler(dt)
    for _ in range(100):
        solver.step(system, state)
    t, ours_x, ours_v, _ = body.advance(LocalState(0.0, x, v), dt, 100, gravity=gravity, held=held, loads=load)
    assert t == pytest.approx(state.t)
    general_x, general_v = state.x.reshape(-1, 7), state.v.reshape(-1, 6)
    np.testing.assert_allclose(ours_x[:, :3], general_x[:, :3], rtol=0, atol=1e-13)
    np.testing.assert_allclose(np.abs(np.sum(ours_x[:, 3:] * general_x[:, 3:], axis=1)), 1.0, rtol=0, atol=1e-13)
    np.testing.assert_allclose(ours_v, general_v, rtol=0, atol=1e-11 * np.abs(general_v).max())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("filled", [1.0, 0.4])
def test_one_thread_gives_the_bits_of_two(dtype: type, filled: float) -> None:
    body = mixed_body((12, 40, 11), filled=filled)
    x, v = shaken(body)
    before, found = numba.get_num_threads(), []
    try:
        for count in (1, 2):
            numba.set_num_threads(count)
            sweep = LatticeSweep.make(body.model, held=[0, 1, 2], dtype=dtype)
            assert len(sweep.layout.slabs.start) > 2
            sweep.load(x, v)
            sweep.advance(2e-5, 31, gravity=(0, 0, -9.81))
            found.append(sweep.layout.bricks.state.copy())
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("stages", [ONE_STAGE, THREE_STAGES])
def test_a_member_that_never_comes_is_not_waited_for(stages: Stages) -> None:
    """The leader of a team of two takes all turns, and its bits are those of a team of one."""
    body, found = mixed_body((12, 12, 40), filled=0.9), []
    x, v = shaken(body)
    dt = body.stable_step(safety=0.5)
    for members in (1, 2):
        sweep = LatticeSweep.make(body.model)
        sweep.load(x, v)
        step, slabs = sweep.step_of(dt, 40, (0.0, 0.0, 0.0)), sweep.layout.slabs
        assert len(slabs.start) - 1 > 1
        laws, damping = no_laws(sweep.dtype), sweep.damping_of(dt, stages)
        slabs.team[:] = 0
        assert kernels.advance(sweep.layout.bricks, slabs, laws, damping, step, 0, 40, members) == 40
        end = np.empty_like(x), np.empty_like(v)
        sweep.save(*end)
        found.append(end)
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])


def test_many_steps_are_the_same_bits_as_one_at_a_time() -> None:
    body = mixed_body((12, 40, 11))
    x, v = shaken(body)
    together, apart = LatticeSweep.make(body.model), LatticeSweep.make(body.model)
    together.load(x, v)
    apart.load(x, v)
    together.advance(2e-5, 7)
    for _ in range(7):
        apart.advance(2e-5, 1)
    results = []
    for sweep in (together, apart):
        x_out, v_out = np.full_like(x, np.nan), np.full_like(v, np.nan)
        sweep.save(x_out, v_out)
        results.append((x_out, v_out))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_single_precision_follows_double() -> None:
    body = mixed_body((6, 5, 4))
    x, v = shaken(body)
    state = LocalState(0.0, x, v)
    double, single = (body.advance(state, 2e-5, 100, held=[0], dtype=d) for d in (np.float64, np.float32))
    assert np.abs(double.x - single.x).max() < 1e-5  # a hundred roundings of 6e-8 on 0.4 m and on quaternions


def test_load_and_save_are_inverse() -> None:
    body = mixed_body((5, 4, 3), filled=0.6)
    x, v = shaken(body)
    sweep = LatticeSweep.make(body.model)
    sweep.load(x, v)
    x_out, v_out = np.full_like(x, np.nan), np.full_like(v, np.nan)
    sweep.save(x_out, v_out)
    np.testing.assert_array_equal(x_out, x)
    np.testing.assert_allclose(v_out, v, rtol=1e-13, atol=1e-13)
    for axis in range(3):
        np.testing.assert_array_equal(sweep.component(axis), x[:, axis])


def test_fast_turning_is_exact() -> None:
    # a lone voxel has no links: half a radian a step
    body = VoxelBody(VoxelGrid(np.ones((1, 1, 1), dtype=int), 0.01), PALETTE[1])
    w = np.array([30.0, -20.0, 35.0])
    state = LocalState(0.0, body.model.rest_frames, np.r_[0.0, 0, 0, w][None])
    dt = 0.5 / np.linalg.norm(w)
    sweep = LatticeSweep.make(body.model)
    sweep.load(state.x, state.v)
    sweep.advance(dt, 40)
    x, v = np.empty((1, 7)), np.empty((1, 6))
    sweep.save(x, v)
    expected = rotations.exp(40 * dt * w)
    assert abs(abs(float(expected @ x[0, 3:])) - 1) < 1e-13
    np.testing.assert_allclose(v[0, 3:], w, rtol=1e-13)


def test_critical_bond_damping_is_stable_in_a_solid_block() -> None:
    body = block((6, 6, 6), bond_damping=1.0)
    n = body.model.voxel_count
    x = body.model.rest_frames.copy()
    x[:, :3] += 2e-5 * np.random.default_rng(0).normal(size=(n, 3))
    state = LocalState(0.0, x, np.zeros((n, 6)))
    dt = body.stable_step(safety=1.0)
    rest = body.advance(state, 0.95 * dt, 5000)
    assert np.abs(rest.v).max() < 1e-9
    with pytest.raises(InputError, match="larger than stable"):
        body.advance(state, 1.2 * dt, 1)
    sweep = LatticeSweep.make(body.model)
    sweep.load(state.x, state.v)
    sweep.advance(1.2 * dt, 5000)
    assert not np.isfinite(sweep.component(0)).all()


@pytest.mark.parametrize(
    ("shape", "zeta", "expected"),
    [((6, 1, 1), 0.0, 0.82), ((3, 3, 3), 0.1, 0.46), ((3, 3, 3), 0.3, 0.30), ((3, 3, 3), 1.0, 0.116)],
)
def test_stable_steps_of_the_theory(shape: tuple[int, int, int], zeta: float, expected: float) -> None:
    # dt sqrt(E l / m), from the eigenvalues of the step's matrix
    body = block(shape, bond_damping=zeta)
    unit = np.sqrt(body.model.link_stiffness[0, 0] / body.model.mass[0])
    assert body.stable_step(safety=1.0, staged=False) * unit == pytest.approx(expected, abs=0.005)


def test_the_stable_step_is_recomputed_where_asked() -> None:
    body = block((3, 3, 3))
    x = body.model.rest_frames.copy()
    assert body.stable_step(x=x) == pytest.approx(body.stable_step(), rel=1e-3)
    x[:, :3] *= 1.5
    assert body.stable_step(x=x) < 0.9 * body.stable_step()


def test_nothing_stiff_has_no_largest_step() -> None:
    assert block((1, 1, 1)).stable_step() == np.inf
    assert block((2, 1, 1)).stable_step(held=[0, 1]) == np.inf


def test_refusals() -> None:
    body = block((2, 2, 2))
    with pytest.raises(InputError, match="out of range"):
        LatticeSweep.make(body.model, held=[8])
    with pytest.raises(InputError, match="float64 or float32"):
        LatticeSweep.make(body.model, dtype=np.int32)
    with pytest.raises(InputError, match="not positive"):
        LatticeSweep.make(body.model).advance(0.0, 1)


@pytest.mark.parametrize("fill", [1.0, 0.6])
def test_strips_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch, fill: float) -> None:
    """Layers swept in strips, one and several slabs, against layers swept whole."""
    from supple.bodies.voxel.sweep import bricks

    numbers = (np.random.default_rng(3).uniform(size=(11, 13, 40)) < fill).astype(int)
    body = VoxelBody(VoxelGrid(numbers, 0.01), VoxelMaterial(young=1e6, density=1000, bond_damping=0.2))
    x, v = shaken(body)
    ends = []
    for strip in (10**6, 8, 1):
        monkeypatch.setattr(bricks, "STRIP_BRICKS", strip)
        sweep = LatticeSweep.make(body.model)
        sweep.load(x, v)
        sweep.advance(1e-5, 30, gravity=(0.3, 0.2, -9.81))
        out = np.empty_like(x), np.empty_like(v)
        sweep.save(*out)
        ends.append(np.hstack(out))
    assert len(sweep.layout.slabs.start) > 2
    assert sweep.layout.slabs.row_count > 20
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])
