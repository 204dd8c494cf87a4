"""Contacts with surfaces in the fused sweep against a plain loop, in company, and on one thread against two."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import Collision, VoxelBody
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.bodies.voxel.touching.surface_contact import SurfaceContacts
from supple.bodies.voxel.touching.surface_contact_kernels import OPEN, SLIDES, STICKS
from supple.geometry import VoxelGrid
from supple.interaction.fluid import Fluid
from supple.interaction.obstacles import Plane
from supple.material.voxel import VoxelMaterial

Array = np.ndarray
SIZE = 0.01
PLAIN = VoxelMaterial(young=1e5, density=1000, poisson=0.3, bond_damping=0.5)
FRAGILE = VoxelMaterial(young=1e5, density=1000, bond_damping=0.5, fail_strain=0.08)


def random_contacts(n: int, count: int, entries: int, seed: int = 0, gap: float = 0.0) -> SurfaceContacts:
    """Contacts all over a lattice of n voxels, weights of both signs, motions of some 0.1 m/s."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(count, 3))
    return SurfaceContacts(
        start=entries * np.arange(count + 1),
        voxel=rng.integers(0, n, count * entries),
        local=0.4 * SIZE * rng.normal(size=(count * entries, 3)),
        weight=rng.normal(size=count * entries) / entries,
        normal=normal / np.linalg.norm(normal, axis=1)[:, None],
        gap=gap + 1e-4 * rng.normal(size=count),
        motion=0.1 * rng.normal(size=(count, 3)),
        slip=1e-5 * rng.normal(size=(count, 3)),
        stiffness=rng.uniform(50, 150, count),
        tangential_stiffness=rng.uniform(50, 150, count),
        dashpot=rng.uniform(0, 0.1, count),
        tangential_dashpot=rng.uniform(0, 0.1, count),
        friction=np.where(np.arange(count) % 4 == 3, 0.0, rng.uniform(0, 1.5, count)),
    )


def shaken(body: VoxelBody) -> tuple[Array, Array]:
    rng = np.random.default_rng(5)
    n = body.model.voxel_count
    x, v = body.model.rest_frames.copy(), rng.normal(size=(n, 6)) * np.repeat([0.1, 5.0], 3)
    x[:, :3] += 2e-4 * rng.normal(size=(n, 3))
    x[:, 3:] = rotations.exp(0.1 * rng.normal(size=(n, 3)))
    return x, v


class PlainLoop:
    """The law, one contact after the other, on symplectic Euler of a lattice's general forces."""

    def __init__(self, body: VoxelBody, contacts: SurfaceContacts, x: Array, v: Array) -> None:
        self.body, self.contacts, self.x, self.v = body, contacts, x.copy(), v.copy()
        self.t, self.slip, self.impulse = 0.0, contacts.slip.copy(), np.zeros_like(contacts.slip)
        self.first = self.last = np.array([self.vector(m) for m in range(len(contacts.gap))])
        self.mode, self.modes = np.zeros(len(contacts.gap), dtype=int), set[int]()

    def entries(self, m: int) -> tuple[Array, Array, Array]:
        """Voxels, levers in the world, weights."""
        c = self.contacts
        at = slice(c.start[m], c.start[m + 1])
        return c.voxel[at], rotations.rotate(self.x[c.voxel[at], 3:], c.local[at]), c.weight[at]

    def vector(self, m: int) -> Array:
        i, r, weight = self.entries(m)
        return np.asarray(weight @ (self.x[i, :3] + r))

    def gap(self, m: int) -> float:
        c = self.contacts
        moved = self.vector(m) - self.first[m] + self.t * c.motion[m]
        return float(c.gap[m] + c.normal[m] @ moved)

    def stretch(self, m: int, dt: float) -> None:
        """Follow the vector of contact m since the step before."""
        c, n = self.contacts, self.contacts.normal[m]
        s = self.slip[m] + (self.vector(m) - self.last[m] + dt * c.motion[m] if self.t > 0 else 0.0)
        self.slip[m] = s - (n @ s) * n

    def force(self, m: int, dt: float) -> Array:
        c, n = self.contacts, self.contacts.normal[m]
        i, r, weight = self.entries(m)
        w = rotations.rotate(self.x[i, 3:], self.v[i, 3:])
        u = weight @ (self.v[i, :3] + np.cross(w, r)) + c.motion[m]
        g, along = self.gap(m), n @ u
        spring = -c.stiffness[m] * g
        N = spring + np.clip(-c.dashpot[m] * along, -spring, spring)
        self.stretch(m, dt)
        if g >= 0 or N <= 0:
            self.mode[m], self.slip[m] = OPEN, 0.0
            return np.zeros(3)
        if c.friction[m] == 0:
            self.mode[m], self.slip[m] = SLIDES, 0.0
            return np.asarray(N * n)
        T = -c.tangential_stiffness[m] * self.slip[m] - c.tangential_dashpot[m] * (u - along * n)
        self.mode[m] = STICKS
        if np.linalg.norm(T) > c.friction[m] * N:
            self.mode[m] = SLIDES
            T *= c.friction[m] * N / np.linalg.norm(T)
            self.slip[m] = -T / c.tangential_stiffness[m]
        return np.asarray(N * n + T)

    def turning(self, m: int, F: Array) -> Array:
        """Moments that move a force to the surface of the other side, or to one place on two sides of the lattice."""
        i, _, weight = self.entries(m)
        inner = abs(weight.sum()) < 1e-9
        D = self.vector(m) + self.t * self.contacts.motion[m] if inner else self.gap(m) * self.contacts.normal[m]
        share = np.maximum(0, -weight) if inner else np.abs(weight)
        out = np.zeros((len(self.v), 3))
        np.add.at(out, i, np.outer(share / share.sum(), -np.cross(D, F)))
        return out

    def step(self, dt: float) -> None:
        model, count = self.body.model, len(self.contacts.gap)
        f = np.zeros_like(self.v)
        self.body.lattice_force.add_force(LocalState(self.t, self.x, self.v), f)
        f[:, 3:] = rotations.rotate(self.x[:, 3:], f[:, 3:])
        for m in range(count):
            F = self.force(m, dt)
            self.impulse[m] += dt * F
            for i, r, weight in zip(*self.entries(m)):
                f[i] += weight * np.r_[F, np.cross(r, F)]
            f[:, 3:] += self.turning(m, F)
        self.modes |= set(self.mode.tolist())
        self.last = np.array([self.vector(m) for m in range(count)])
        self.v[:, :3] += dt * f[:, :3] / model.mass[:, None]
        w = rotations.rotate(self.x[:, 3:], self.v[:, 3:]) + dt * f[:, 3:] / model.inertia[:, None]
        self.x[:, :3] += dt * self.v[:, :3]
        self.x[:, 3:] = rotations.multiply(rotations.exp(dt * w), self.x[:, 3:])
        self.v[:, 3:] = rotations.rotate_inverse(self.x[:, 3:], w)
        self.t += dt


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 1, 2)])  # the longest axis is swept last: other axes in the sweep
def test_the_sweep_follows_a_plain_loop(shape: tuple[int, int, int]) -> None:
    body = VoxelBody(VoxelGrid(np.ones(shape, dtype=int), SIZE), PLAIN)
    contacts = random_contacts(body.model.voxel_count, 12, 3)
    x, v = shaken(body)
    plain = PlainLoop(body, contacts, x, v)
    sweep = LatticeSweep.make(body.model)
    dt, steps = body.stable_step(safety=0.3), 60
    for again in range(2):  # what became of an earlier run is forgotten
        sweep.load(x, v)
        sweep.set_contacts(contacts) if not again else None
        sweep.advance(dt, steps)
    for _ in range(steps):
        plain.step(dt)
    assert plain.modes == {OPEN, STICKS, SLIDES}
    np.testing.assert_array_equal(sweep.contact_mode, plain.mode)
    x_out, v_out = np.full_like(x, np.nan), np.full_like(v, np.nan)
    sweep.save(x_out, v_out)
    np.testing.assert_allclose(x_out[:, :3], plain.x[:, :3], rtol=0, atol=1e-12 * SIZE)
    np.testing.assert_allclose(v_out, plain.v, rtol=0, atol=1e-12 * np.abs(plain.v).max())
    np.testing.assert_allclose(sweep.contact_impulse, plain.impulse, rtol=0, atol=1e-12 * np.abs(plain.impulse).max())
    for m in range(12):
        plain.stretch(m, dt)
        assert sweep.contact_gap[m] == pytest.approx(plain.gap(m), abs=1e-12 * SIZE)
        expected = plain.slip[m] if plain.gap(m) < 0 else 0.0
        np.testing.assert_allclose(sweep.contact_slip[m], expected, rtol=0, atol=1e-12 * SIZE)


def in_company(dtype: type, contacts: SurfaceContacts | None) -> tuple[Array, LatticeSweep]:
    """A large block that breaks, in a fluid, on a plane, colliding, with loads, held and led voxels."""
    body = VoxelBody(VoxelGrid(np.ones((12, 40, 11), dtype=int), SIZE), FRAGILE)
    n = body.model.voxel_count
    x, v = shaken(body)
    sweep = LatticeSweep.make(
        body.model,
        held=[0, 1, 2],
        planes=[Plane((0, 0, 1), 0.0)],
        collision=Collision(),
        fluid=Fluid(density=100.0),
        dtype=dtype,
    )
    assert len(sweep.layout.slabs.start) > 2
    sweep.set_loads(1e-3 * np.random.default_rng(1).normal(size=(n, 6)) * np.repeat([1.0, 0.0], 3))
    led = np.arange(10, 14)
    turn = np.zeros(4)
    sweep.set_guides(led, np.zeros((4, 3, 3)), turn, np.full((4, 3), 0.1), np.zeros((4, 3)))
    sweep.set_contacts(contacts)
    sweep.load(x, v)
    sweep.advance(5e-5, 31, gravity=(0, 0, -9.81))
    return sweep.layout.bricks.state[: len(sweep.layout.bricks.row) * 14 * sweep.layout.lanes].copy(), sweep


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_thread_gives_the_bits_of_two(dtype: type) -> None:
    contacts = random_contacts(12 * 40 * 11, 60, 8)
    before, states, impulses = numba.get_num_threads(), [], []
    try:
        for count in (1, 2):
            numba.set_num_threads(count)
            state, sweep = in_company(dtype, contacts)
            states.append(state)
            impulses.append(sweep.contact_impulse)
    finally:
        numba.set_num_threads(before)
    assert np.isfinite(states[0]).all()
    assert not sweep.memory.alive.all()  # links failed on the way
    assert (sweep.contact_mode != OPEN).sum() > 20
    np.testing.assert_array_equal(states[0], states[1])
    np.testing.assert_array_equal(impulses[0], impulses[1])


def test_open_contacts_leave_the_bits_as_they_are() -> None:
    without, _ = in_company(np.float64, None)
    opened, sweep = in_company(np.float64, random_contacts(12 * 40 * 11, 60, 8, gap=1.0))
    np.testing.assert_array_equal(without, opened)
    for found in (sweep.contact_impulse, sweep.contact_slip, sweep.contact_depth):
        assert not found.any()
    assert (sweep.contact_mode == OPEN).all()


def test_single_precision_follows_double() -> None:
    body = VoxelBody(VoxelGrid(np.ones((4, 3, 2), dtype=int), SIZE), PLAIN)
    x, v = shaken(body)
    found = []
    for dtype in (np.float64, np.float32):
        sweep = LatticeSweep.make(body.model, dtype=dtype)
        sweep.load(x, v)
        sweep.set_contacts(random_contacts(24, 10, 4))
        sweep.advance(body.stable_step(safety=0.3), 50)
        found.append((sweep.contact_impulse, sweep.component(2)))
    (p, z), (p32, z32) = found
    assert 0 < np.abs(p32 - p).max() < 1e-4 * np.abs(p).max()  # gaps are rounded at 4e-9 m of some 1e-4 m
    assert np.abs(z32 - z).max() < 1e-7
