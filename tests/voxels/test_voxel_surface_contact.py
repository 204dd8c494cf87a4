"""A lattice on surfaces that move: depth, momentum, sticking, sliding, and the step that contacts allow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.bodies.voxel.touching.surface_contact import SHARE, SurfaceContacts, contact_step_limit
from supple.bodies.voxel.touching.surface_contact_kernels import OPEN, SLIDES, STICKS
from supple.errors import InputError
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.validation.voxel.contact import SIZE, momenta, two_blocks

Array = np.ndarray
G = 9.81
RUBBER = VoxelMaterial(young=1e5, density=1000, bond_damping=1.0)


def block_of(shape: tuple[int, int, int]) -> VoxelBody:
    return VoxelBody(VoxelGrid(np.ones(shape, dtype=int), SIZE), RUBBER)


def contacts_of(groups: list[list[int]], weight: Array, local: Array, **values: object) -> SurfaceContacts:
    """Contacts of the voxels in each group; values: numbers or arrays of all contacts."""
    count = len(groups)
    numbers = {
        "gap": 0.0,
        "stiffness": 200.0,
        "tangential_stiffness": 200.0,
        "dashpot": 0.3,
        "tangential_dashpot": 0.3,
        "friction": 0.0,
    }
    vectors = {"normal": (0.0, 0.0, 1.0), "motion": (0.0, 0.0, 0.0), "slip": (0.0, 0.0, 0.0)}
    given = {name: np.broadcast_to(values.get(name, v), (count,)) for name, v in numbers.items()}  # type: ignore[arg-type]
    given |= {name: np.broadcast_to(values.get(name, v), (count, 3)) for name, v in vectors.items()}  # type: ignore[arg-type]
    voxel = np.concatenate(groups)
    start = np.cumsum([0, *(len(group) for group in groups)])
    local = np.broadcast_to(local, (len(voxel), 3))
    return SurfaceContacts(start=start, voxel=voxel, local=local, weight=np.asarray(weight, dtype=float), **given)


def standing(body: VoxelBody, **values: object) -> SurfaceContacts:
    """The lowest voxels, each on the surface z = 0 by the middle of its lower face."""
    lowest = np.flatnonzero(body.model.cells[:, 2] == 0)
    return contacts_of([[int(i)] for i in lowest], np.ones(len(lowest)), np.array([0, 0, -SIZE / 2]), **values)


def state_of(sweep: LatticeSweep) -> LocalState:
    x, v = np.empty((sweep.model.voxel_count, 7)), np.empty((sweep.model.voxel_count, 6))
    sweep.save(x, v)
    return LocalState(sweep.t, x, v)


def go_on(sweep: LatticeSweep, contacts: SurfaceContacts, motion: tuple[float, float, float]) -> SurfaceContacts:
    """The contacts at the end of an advance, with another motion."""
    moved = contacts._replace(
        gap=sweep.contact_gap, slip=sweep.contact_slip, motion=np.broadcast_to(motion, (len(contacts.gap), 3))
    )
    sweep.set_contacts(moved)
    return moved


def test_a_voxel_rests_on_a_rising_plate_at_the_depth_of_its_weight() -> None:
    body = block_of((1, 1, 1))
    m, k, speed = float(body.model.mass[0]), 200.0, 0.2
    contacts = standing(body, gap=0.002, motion=(0.0, 0.0, -speed), stiffness=k, dashpot=np.sqrt(k * m))
    sweep = LatticeSweep.make(body.model)
    sweep.set_contacts(contacts)
    dt = contact_step_limit(contacts, body.model)
    steps = int(0.5 / dt)
    sweep.advance(dt, steps, gravity=(0, 0, -G))
    assert -sweep.contact_gap[0] == pytest.approx(m * G / k, rel=1e-10)
    end = state_of(sweep)
    assert end.v[0, 2] == pytest.approx(speed, rel=1e-10)
    assert end.x[0, 2] - SIZE / 2 == pytest.approx(speed * steps * dt - 0.002 - m * G / k, rel=1e-12)
    assert sweep.contact_impulse[0, 2] == pytest.approx(m * (speed + G * steps * dt), rel=1e-12)
    assert sweep.contact_depth[0] >= m * G / k
    assert sweep.contact_mode[0] == SLIDES  # without friction nothing holds


def dense(body: VoxelBody) -> tuple[Array, Array]:
    """K and C at rest."""
    model, n = body.model, 6 * body.model.voxel_count
    tangent = body.lattice_force.linearize(LocalState(0.0, model.rest_frames, np.zeros((model.voxel_count, 6))))
    K, C = np.zeros((2, n, n))
    for column, d in enumerate(np.eye(n).reshape(n, -1, 6)):
        for out, weights in ((K, (-1.0, 0.0)), (C, (0.0, -1.0))):
            f = np.zeros_like(d)
            tangent.add_product(d, f, *weights)
            out[:, column] = f.ravel()
    return K, C


def growth(body: VoxelBody, K: Array, C: Array, contacts: SurfaceContacts, h: float) -> float:
    """The largest factor of a step of symplectic Euler, with all contacts closed and sticking."""
    model, n = body.model, len(K)
    K, C = K.copy(), C.copy()
    for m, i in enumerate(contacts.voxel):  # one voxel each, weight 1: u = v + w × local
        B = np.zeros((3, n))
        B[:, 6 * i : 6 * i + 3] = np.eye(3)
        B[:, 6 * i + 3 : 6 * i + 6] = -rotations.skew(contacts.local[m])
        K += contacts.stiffness[m] * B.T @ B
        C += contacts.dashpot[m] * B.T @ B
    per = 1 / np.repeat(np.stack([model.mass, model.inertia], axis=1), 3, axis=1).ravel()[:, None]
    one, left = np.eye(n), np.eye(n) - h * per * C
    with one_blas_thread():
        values = np.linalg.eigvals(np.block([[one - h * h * per * K, h * left], [-h * per * K, left]]))
    return float(np.abs(values).max())


@pytest.mark.parametrize(("shape", "damping"), [((2, 2, 2), 0.0), ((2, 2, 2), 1.0), ((3, 3, 1), 0.3), ((3, 3, 1), 1.0)])
def test_a_whole_face_in_contact_is_stable_at_every_safety(shape: tuple[int, int, int], damping: float) -> None:
    """By dense eigenvalues; double roots of free motions are computed to 1e-6."""
    body = VoxelBody(VoxelGrid(np.ones(shape, dtype=int), SIZE), replace(RUBBER, bond_damping=damping))
    lattice, m = dense(body), float(body.model.mass[0])
    own, worst = body.stable_step(safety=1.0, staged=False), 0.0
    for k, ratio in ((300.0, 0.2), (500.0, 0.0), (3000.0, 0.2)):
        c = ratio * np.sqrt(m * 1e5 * SIZE)
        same = {"stiffness": k, "tangential_stiffness": k, "dashpot": c, "tangential_dashpot": c}
        contacts = standing(body, friction=10.0, **same)
        for safety in (0.7, 1.0):
            h = min(safety * own, contact_step_limit(contacts, body.model, beside=own))
            assert growth(body, *lattice, contacts, h) < 1 + 3e-6
        worst = max(worst, growth(body, *lattice, contacts, min(own, contact_step_limit(contacts, body.model))))
    assert worst > 1 + 1e-4  # without room for the lattice


def spinning(body: VoxelBody) -> LocalState:
    """Thrown downwards, turning, deformed."""
    rng = np.random.default_rng(3)
    n = body.model.voxel_count
    x, v = body.model.rest_frames.copy(), 0.1 * rng.normal(size=(n, 6))
    x[:, :3] += 2e-4 * rng.normal(size=(n, 3))
    x[:, 3:] = rotations.exp(0.1 * rng.normal(size=(n, 3)))
    v[:, 2] -= 0.5
    return LocalState(0.0, x, v)


def test_impulses_are_the_change_of_momentum_and_their_moments_of_angular_momentum() -> None:
    body = block_of((3, 2, 4))
    groups = [[0, 5, 7], [2, 3], [9]]
    rng = np.random.default_rng(0)
    weight = np.array([0.5, 0.2, 0.3, 0.6, 0.4, 1.0])
    normal = rotations.rotate(rotations.exp(0.3 * rng.normal(size=(3, 3))), np.array([[0.0, 0.0, 1.0]]))
    contacts = contacts_of(
        groups,
        weight,
        0.4 * SIZE * rng.normal(size=(6, 3)),
        normal=normal,
        gap=[1e-4, -1e-4, 0.0],
        friction=[0.4, 3.0, 0.0],
        motion=rng.normal(size=(3, 3)) * 0.1,
    )
    sweep = LatticeSweep.make(body.model)
    first = spinning(body)
    sweep.load(first.x, first.v)
    dt = min(body.stable_step(safety=0.7, staged=False), contact_step_limit(contacts, body.model))
    owner = np.repeat(np.arange(3), np.diff(contacts.start))
    p, L, modes = np.zeros(3), np.zeros(3), set()
    sweep.set_contacts(contacts)
    for _ in range(100):
        x = state_of(sweep).x[contacts.voxel]
        points = x[:, :3] + rotations.rotate(x[:, 3:], contacts.local)
        sweep.advance(dt, 1)
        impulse = sweep.contact_impulse
        p += impulse.sum(axis=0)  # the weights of each contact add up to 1
        L += np.cross(points, contacts.weight[:, None] * impulse[owner]).sum(axis=0)
        L -= np.cross(contacts.gap[:, None] * contacts.normal, impulse).sum(axis=0)  # it acts on the other's surface
        modes |= set(sweep.contact_mode.tolist())
        contacts = contacts._replace(gap=sweep.contact_gap, slip=sweep.contact_slip)
        sweep.set_contacts(contacts)
    assert modes == {OPEN, STICKS, SLIDES}
    change = momenta(body, state_of(sweep)) - momenta(body, first)
    size = float(body.model.mass.sum())  # 1 m/s of the whole
    assert np.abs(p).max() > 0.01 * size
    assert np.abs(change[:3] - p).max() < 1e-14 * size
    assert np.abs(change[3:] - L).max() < 1e-14 * size * 4 * SIZE

    together = LatticeSweep.make(body.model)
    together.load(first.x, first.v)
    together.set_contacts(contacts._replace(gap=np.array([1e-4, -1e-4, 0.0]), slip=np.zeros((3, 3))))
    together.advance(dt, 100)  # one advance is a hundred of one step
    np.testing.assert_allclose(together.contact_impulse.sum(axis=0), p, rtol=0, atol=1e-13 * size)
    np.testing.assert_allclose(together.contact_gap, contacts.gap, rtol=0, atol=1e-14)
    np.testing.assert_allclose(together.contact_slip, contacts.slip, rtol=0, atol=1e-14)


def test_two_lattices_in_contact_keep_their_momentum() -> None:
    body, first = two_blocks(edge=2, gap=2)
    near = np.flatnonzero(first & (body.model.cells[:, 0] == 1)).tolist()
    far = np.flatnonzero(body.model.cells[:, 0] == 4).tolist()
    local = np.repeat([[SIZE / 2, 0, 0], [-SIZE / 2, 0, 0]], 4, axis=0)
    contacts = contacts_of(
        [near + far],
        np.repeat([-0.25, 0.25], 4),
        local,
        normal=(1.0, 0, 0),
        gap=2 * SIZE,
        stiffness=500.0,
        friction=0.5,
    )
    x, v = body.model.rest_frames.copy(), np.zeros((16, 6))
    v[:, 0] = np.where(first, 2.0, -2.0)
    v[first, 1] = 0.7
    dt = min(body.stable_step(safety=0.7, staged=False), contact_step_limit(contacts, body.model))
    sweep = LatticeSweep.make(body.model)
    sweep.load(x, v)
    sweep.set_contacts(contacts)
    sweep.advance(dt, int(0.03 / dt))
    end, m = state_of(sweep), body.model.mass[:, None]
    gained = [(m * (end.v[:, :3] - v[:, :3]))[part].sum(axis=0) for part in (first, ~first)]
    size = float(m.sum())
    assert gained[1][0] > 0.5 * size  # they met and parted
    assert np.abs(gained[0] + gained[1]).max() < 1e-14 * size
    assert np.abs(gained[1] - sweep.contact_impulse[0]).max() < 1e-14 * size
    assert 0 < sweep.contact_depth[0] < SIZE


def settled(body: VoxelBody, friction: float) -> tuple[LatticeSweep, SurfaceContacts, float]:
    """A block that has come to rest on a surface; with its step [s]."""
    contacts = standing(body, friction=friction)
    sweep = LatticeSweep.make(body.model)
    sweep.set_contacts(contacts)
    dt = min(body.stable_step(safety=0.7, staged=False), contact_step_limit(contacts, body.model))
    steps = int(np.ceil(0.01 / dt))
    sweep.advance(0.01 / steps, 40 * steps, gravity=(0, 0, -G))
    return sweep, go_on(sweep, contacts, (0.0, 0.0, 0.0)), 0.01 / steps


@pytest.mark.parametrize("part", [0.6, 2.0])
def test_a_block_is_carried_along_until_the_surface_asks_for_more_than_friction(part: float) -> None:
    """A surface that moves off at part mu g: it sticks below 1, and slides at mu g above."""
    mu, body = 0.3, block_of((4, 4, 2))
    sweep, contacts, dt = settled(body, mu)
    steps, m = 20, body.model.mass
    seconds = steps * dt  # the surface moves in straight lines of a millisecond or so
    half, speeds, apart, place = int(0.2 / seconds), [], [], 0.0
    for k in range(2 * half):
        speed = part * mu * G * seconds * (k + 0.5)
        contacts = go_on(sweep, contacts, (-speed, 0.0, 0.0))
        sweep.advance(dt, steps, gravity=(0, 0, -G))
        place += speed * seconds
        end = state_of(sweep)
        speeds.append(float(m @ end.v[:, 0] / m.sum()))
        apart.append(float(m @ end.x[:, 0] / m.sum()) - place)
    acceleration = (speeds[-1] - speeds[half - 1]) / (half * seconds)
    assert acceleration == pytest.approx(min(part, 1.0) * mu * G, rel=0.01)
    if part < 1:
        assert (sweep.contact_mode == STICKS).all()
        assert abs(apart[-1] - apart[half - 1]) < 1e-6  # of 0.1 m travelled
    else:
        assert (sweep.contact_mode == SLIDES).all()


def test_a_sticking_block_does_not_creep() -> None:
    """On a surface that moves evenly, tilted by gravity to 0.8 of the friction angle, for a second."""
    mu, body = 0.5, block_of((4, 4, 2))
    sweep, contacts, dt = settled(body, mu)
    contacts = go_on(sweep, contacts, (-0.2, 0.0, 0.0))
    start, places = sweep.t, []
    for _ in range(3):
        sweep.advance(dt, round(0.5 / dt), gravity=(0.8 * mu * G, 0, -G))
        places.append(sweep.component(0).mean() - 0.2 * (sweep.t - start))
        assert (sweep.contact_mode == STICKS).all()
        contacts = go_on(sweep, contacts, (-0.2, 0.0, 0.0))
    assert abs(places[2] - places[1]) < 1e-10


def test_a_sliding_block_slows_down_by_mu_g() -> None:
    mu, body = 0.3, block_of((4, 4, 2))
    sweep, _, dt = settled(body, mu)
    rest = state_of(sweep)
    v = rest.v.copy()
    v[:, 0] += 1.0
    sweep.load(rest.x, v)
    steps = round(0.1 / dt)
    sweep.advance(dt, steps, gravity=(0, 0, -G))
    m = body.model.mass
    before, after = m @ v[:, 0] / m.sum(), m @ state_of(sweep).v[:, 0] / m.sum()
    assert (before - after) / (steps * dt) == pytest.approx(mu * G, rel=0.01)
    assert (sweep.contact_mode == SLIDES).all()


def test_the_step_limit_bounds_the_frequency_of_the_contacts() -> None:
    """Against the eigenvalues of the assembled springs, at any orientation of levers; it is sharp for one centre."""
    body, rng = block_of((2, 2, 2)), np.random.default_rng(1)
    groups = [rng.choice(8, 3, replace=False).tolist() for _ in range(5)]
    weight, local = rng.normal(size=15), SIZE * rng.normal(size=(15, 3))
    k = rng.uniform(50, 500, 5)
    contacts = contacts_of(
        groups, weight, local, stiffness=k, tangential_stiffness=k, dashpot=0.0, tangential_dashpot=0.0, friction=1.0
    )
    J = np.zeros((15, 48))
    for e, i in enumerate(contacts.voxel):
        m = 3 * (e // 3)
        turn = -np.array([np.cross(axis, local[e]) for axis in -np.eye(3)]).T
        J[m : m + 3, 6 * i : 6 * i + 6] += weight[e] * np.hstack([np.eye(3), turn])
    M = np.repeat(np.stack([body.model.mass, body.model.inertia], axis=1), 3, axis=1).ravel()
    A = np.sqrt(np.repeat(k, 3))[:, None] * J / np.sqrt(M)
    largest = np.linalg.eigvalsh(A @ A.T)[-1]
    h = contact_step_limit(contacts, body.model)
    assert 0.05 * SHARE < h * h * largest <= SHARE * (1 + 1e-12)
    single = contacts_of([[0]], np.ones(1), np.zeros(3), stiffness=200.0, dashpot=0.0)
    h = contact_step_limit(single, body.model)
    assert h * h * 200.0 / body.model.mass[0] == pytest.approx(SHARE)
    damped = contacts_of([[0]], np.ones(1), np.zeros(3), stiffness=200.0, dashpot=0.5)
    h = contact_step_limit(damped, body.model)
    assert (h * h * 200.0 + 2 * h * 0.5) / body.model.mass[0] == pytest.approx(SHARE)
    assert contact_step_limit(damped, body.model, held=[0]) == np.inf


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"voxel": np.array([8])}, "out of range"),
        ({"start": np.array([0, 2])}, "does not divide"),
        ({"normal": np.array([[0.0, 0.0, 2.0]])}, "unit vector"),
        ({"gap": np.array([np.nan])}, "not finite"),
        ({"local": np.zeros((2, 3))}, "not finite"),
        ({"stiffness": np.array([-1.0])}, "negative"),
        ({"friction": np.ones(1), "tangential_stiffness": np.zeros(1)}, "spring that holds"),
    ],
)
def test_contacts_of_no_use_are_refused(change: dict[str, Array], message: str) -> None:
    body = block_of((2, 2, 2))
    contacts = contacts_of([[0]], np.ones(1), np.zeros(3))
    with pytest.raises(InputError, match=message):
        LatticeSweep.make(body.model).set_contacts(contacts._replace(**change))


def test_a_side_that_gives_way_comes_to_rest_where_the_mean_force_puts_it() -> None:
    """y' = motion + G (F - pushed) against the closed form on a voxel that hardly moves: y' = -G k y, and its way is
    G times the impulse; more mobility asks for smaller steps."""
    heavy = VoxelBody(VoxelGrid(np.ones((1, 1, 1), dtype=int), SIZE), VoxelMaterial(young=1e5, density=1e9))
    k, depth, G_1 = 200.0, 1e-4, 0.5
    contacts = standing(heavy, gap=-depth, stiffness=k, dashpot=0.0)
    contacts = contacts._replace(mobility=G_1 * np.eye(3), pushed=np.zeros((1, 3)))
    sweep, dt, steps = LatticeSweep.make(heavy.model), 1e-5, 1000
    sweep.load(heavy.model.rest_frames, np.zeros((1, 6)))
    sweep.set_contacts(contacts)
    sweep.advance(dt, steps)
    left = depth * np.exp(-G_1 * k * dt * steps)
    assert -sweep.contact_gap[0] == pytest.approx(left, rel=2e-3)
    given = (depth + sweep.contact_gap[0]) / G_1
    assert sweep.contact_impulse[0, 2] == pytest.approx(given, rel=1e-4)  # the voxel, a tonne, moves by 1e-9 m
    assert contact_step_limit(contacts, heavy.model) <= 1 / (G_1 * k)


def test_a_side_that_gives_way_comes_to_rest_where_the_contact_carries_what_pushes_it() -> None:
    """y' = G (F - pushed) against the closed form on a voxel that hardly moves: depth -> pushed / k as e^(-G k t)."""
    heavy = VoxelBody(VoxelGrid(np.ones((1, 1, 1), dtype=int), SIZE), VoxelMaterial(young=1e5, density=1e9))
    k, depth, G_1, pushed = 200.0, 1e-4, 0.5, np.array([0.3, -0.2, 0.05])
    contacts = standing(heavy, gap=-depth, stiffness=k, dashpot=0.0)
    contacts = contacts._replace(mobility=G_1 * np.eye(3), pushed=pushed[None])
    sweep, dt = LatticeSweep.make(heavy.model), 1e-4
    sweep.load(heavy.model.rest_frames, np.zeros((1, 6)))
    sweep.set_contacts(contacts)
    sweep.advance(dt, 40)
    left = (depth - pushed[2] / k) * np.exp(-G_1 * k * 40 * dt)
    assert -sweep.contact_gap[0] == pytest.approx(pushed[2] / k + left, rel=2e-3)  # steps of a hundredth of the decay
    sweep.advance(dt, 1460)
    assert -sweep.contact_gap[0] == pytest.approx(pushed[2] / k, rel=1e-3)  # the voxel, a tonne, moves off at 7e-6 m/s


@pytest.mark.parametrize("shape", [(3, 3), (6, 5)])
def test_a_mobility_that_does_not_fit_is_refused(shape: tuple[int, int]) -> None:
    body = block_of((2, 1, 1))
    contacts = standing(body)._replace(mobility=np.zeros(shape), pushed=np.zeros((2, 3)))
    with pytest.raises(InputError, match="mobility"):
        LatticeSweep.make(body.model).set_contacts(contacts)
