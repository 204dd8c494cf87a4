"""The list of candidate pairs against brute force, at any time and in any motion, and one thread against two."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from supple.bodies.protocols import LocalState
from supple.bodies.voxel import Actuation, VoxelBody
from supple.bodies.voxel.kernels import collide
from supple.bodies.voxel.links.link_memory import no_laws
from supple.bodies.voxel.stability.stages import ONE_STAGE
from supple.bodies.voxel.sweep.brick_data import LOADS, STATE, Step
from supple.bodies.voxel.sweep.step_kernels import measure_peaks
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.bodies.voxel.touching.collision import Collision, enlarged, make_contacts
from supple.bodies.voxel.touching.collision_kernels import LISTED, LISTS, MOVED, TOUCHING
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.validation.voxel.contact import SIZE, meeting, two_blocks

Array = np.ndarray


def crowd(count: int = 6, seed: int = 0) -> tuple[VoxelBody, LocalState]:
    """Many small blocks of two materials that swell, with gaps, thrown at each other."""
    rng = np.random.default_rng(seed)
    numbers = np.zeros((3 * count, 3 * count, 6), dtype=int)
    for i in range(count):
        for j in range(count):
            numbers[3 * i : 3 * i + 2, 3 * j : 3 * j + 2, : rng.integers(1, 6)] = rng.integers(1, 3)
    palette = [
        VoxelMaterial(young=1e6, density=1000, bond_damping=0.2, expansion=0.01),
        VoxelMaterial(young=3e5, density=600, bond_damping=0.1, expansion=-0.01),
    ]
    body = VoxelBody(VoxelGrid(numbers, SIZE), palette, actuation=Actuation(20.0, 30.0))
    n = body.model.voxel_count
    column = body.grid.voxels[:, 0] // 3 * count + body.grid.voxels[:, 1] // 3
    v = np.zeros((n, 6))
    v[:, :3] = rng.normal(scale=1.5, size=(count * count, 3))[column]
    return body, LocalState(0.0, body.model.rest_frames, v)


@pytest.mark.parametrize(
    "rival",
    [
        Collision(scheme="all_pairs"),
        Collision(rebuild="every_step"),
        Collision(scheme="all_pairs", rebuild="every_step"),
        Collision(horizon=3.5),
    ],
)
def test_the_list_does_not_change_a_bit(rival: Collision) -> None:
    body, state = crowd()
    dt = body.stable_step(collision=Collision())
    end = body.advance(state, dt, 300, collision=Collision())
    other = body.advance(state, dt, 300, collision=rival)
    alone = body.advance(state, dt, 300)
    assert np.abs(end.x - alone.x).max() > 0.1 * SIZE  # there were collisions
    np.testing.assert_array_equal(end.x, other.x)
    np.testing.assert_array_equal(end.v, other.v)


def test_many_steps_are_one_step_many_times() -> None:
    body, state = crowd()
    dt = body.stable_step(collision=Collision())
    together = LatticeSweep.make(body.model, swing=body.swing, collision=Collision())
    apart = LatticeSweep.make(body.model, swing=body.swing, collision=Collision())
    for sweep in (together, apart):
        sweep.load(state.x, state.v)
    together.advance(dt, 200)
    assert 1 <= together.lists_made < 100
    for _ in range(200):
        apart.advance(dt, 1)
    np.testing.assert_allclose(together.component(0), apart.component(0), rtol=0, atol=1e-9 * SIZE)  # sums of time


def test_inner_voxels_change_nothing_where_shells_do_not_break() -> None:
    body, first = two_blocks()
    state = meeting(body, first, speed=2.0, aside=0.3 * SIZE)
    dt = body.stable_step(collision=Collision())
    ends = [body.advance(state, dt, 400, collision=Collision(surface_only=s)) for s in (True, False)]
    np.testing.assert_array_equal(ends[0].x, ends[1].x)


def test_threads_do_not_change_a_bit() -> None:
    body, first = two_blocks(edge=10)
    state = meeting(body, first, speed=4.0, aside=0.5 * SIZE)
    state.x[first, 0] += 1.9 * SIZE
    dt = body.stable_step(collision=Collision())
    before = numba.get_num_threads()
    ends = []
    try:
        for threads in (1, 2):
            numba.set_num_threads(threads)
            sweep = LatticeSweep.make(body.model, collision=Collision())
            assert len(sweep.layout.slabs.start) > 2  # there are slabs to share
            sweep.load(state.x, state.v)
            sweep.advance(dt, 60)
            assert sweep.touching > 0
            ends.append(sweep.layout.bricks.state.copy())
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(ends[0], ends[1])


@pytest.mark.parametrize("scheme", ["cells", "all_pairs"])
@pytest.mark.parametrize("speed", [0.02, 0.5, 50.0])
def test_no_pair_is_missed_in_fast_random_motion(speed: float, scheme: str) -> None:
    """Voxels fly anywhere, beyond the horizon in a step: each pair that touches is found at each step, and no other.

    A new list holds each pair within the horizon once, in ascending order.
    """
    rng = np.random.default_rng(7)
    body, _ = crowd(4)
    model = body.model
    collision = Collision(scheme=scheme)  # type: ignore[arg-type]
    sweep = LatticeSweep.make(model, swing=body.swing)
    contacts = make_contacts(model, sweep.layout, collision, model.link_voxels)
    loads = sweep.layout.tiles(np.zeros((model.voxel_count, LOADS)))
    contacts = contacts._replace(base=loads.copy())
    bricks, slabs = sweep.layout.bricks._replace(loads=loads), sweep.layout.slabs
    damping = sweep.damping_of(1e-3, ONE_STAGE)
    none = np.zeros(0)
    step = Step(0.0, 1e-3, 0.0, 0.0, 0.0, np.zeros((0, 0)), none, none, none, np.zeros((0, 0)), none, none)
    fields = sweep.layout.fields(sweep.layout.bricks.state, STATE)
    chosen = np.flatnonzero(np.bincount(model.link_voxels.ravel(), minlength=model.voxel_count) < 6)
    barred = np.zeros((len(chosen), len(chosen)), dtype=bool)
    for i in range(len(chosen)):
        barred[i, contacts.barred[contacts.barred_start[i] : contacts.barred_start[i + 1]]] = True
    x, dt, touched = model.centres.copy(), 1e-3, 0
    middle = x.mean(axis=0)
    steps = 150
    for n in range(steps):
        v = rng.normal(size=x.shape) * speed - 0.3 * speed * (x - middle) / (6 * SIZE)
        x += dt * v
        size = SIZE * (1 + 0.2 * np.sin(0.1 * n)) * np.ones(len(x))
        values = np.hstack([x, np.tile([1.0, 0, 0, 0], (len(x), 1)), v, np.zeros_like(v), size[:, None]])
        fields[sweep.layout.brick, :, sweep.layout.lane] = values
        for slab in range(len(slabs.start) - 1):
            measure_peaks(bricks, slabs, slab)
        while lacking := collide(bricks, slabs, no_laws(sweep.dtype), damping, contacts, step, n, 1):
            contacts = enlarged(contacts, lacking)
        distance = np.linalg.norm(x[chosen][:, None] - x[chosen][None], axis=2)
        expected = np.argwhere(np.triu((distance < size[0]) & ~barred, k=1))
        found = contacts.pairs[contacts.touching[: int(contacts.memory[TOUCHING])]]
        np.testing.assert_array_equal(found, expected)
        if contacts.memory[MOVED] == 0.0:  # listed in this step
            near = np.argwhere(np.triu((distance < contacts.horizon) & ~barred, k=1))
            np.testing.assert_array_equal(contacts.pairs[: int(contacts.memory[LISTED])], near)
        touched += len(found)
    assert touched > 0 or speed < 0.1
    if speed < 0.1:
        assert contacts.memory[LISTS] < 0.8 * steps  # the list lasts


def test_pairs_joined_by_three_links_are_barred_and_others_not() -> None:
    numbers = np.ones((8, 1, 3), dtype=int)
    numbers[1:, :, 1] = 0  # two arms joined at one end, one voxel apart
    body = VoxelBody(VoxelGrid(numbers, SIZE), VoxelMaterial(young=1e6, density=1000))
    layout = LatticeSweep.make(body.model).layout
    contacts = make_contacts(body.model, layout, Collision(), body.model.link_voxels)
    cells = body.grid.voxels
    for i in range(len(cells)):
        barred = set(contacts.barred[contacts.barred_start[i] : contacts.barred_start[i + 1]].tolist())
        for j in range(i + 1, len(cells)):
            (xi, _, zi), (xj, _, zj) = cells[i], cells[j]
            hops = abs(xi - xj) if zi == zj else xi + xj + abs(zi - zj)
            assert (j in barred) == (hops <= 3)
