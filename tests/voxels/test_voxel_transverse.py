"""Strains coupled across axes: an octant energy in numpy, closed forms of a solid, conservation, stability."""

from __future__ import annotations

import warnings
from itertools import product

import numba
import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import LinkMemory, VoxelBody
from supple.bodies.voxel.links.transverse import stiffening
from supple.bodies.voxel.sweep.lattice_kernels import compute_energy
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.errors import InputError, PoissonNotice
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.scene import check_derivatives

Array = np.ndarray
SIZE, YOUNG, DENSITY = 0.01, 1e6, 1000.0


def solid(nu: float = 0.3, **more: float) -> VoxelMaterial:
    values = {"young": YOUNG, "density": DENSITY, "poisson": nu, "bond_damping": 0.0, **more}
    return VoxelMaterial(**values)


def block(shape: tuple[int, int, int], *materials: VoxelMaterial, filled: float = 1.0) -> VoxelBody:
    rng = np.random.default_rng(3)
    numbers = rng.integers(1, len(materials) + 1, shape) * (rng.uniform(size=shape) < filled)
    numbers[0, 0, 0] = 1
    return VoxelBody(VoxelGrid(numbers, SIZE), list(materials), transverse=True)


def octant_energy(body: VoxelBody, x: Array, alive: Array | None = None) -> float:
    """Elastic energy, octant by octant: what three, two or one link beside a voxel's centre add to the links' own."""
    model = body.model
    alive = np.ones(model.link_count, dtype=bool) if alive is None else alive
    young, nu = model.values("young"), model.values("poisson")
    strain: dict[tuple[int, int, int], float] = {}  # of voxel, axis, side: the half of a link that lies in it
    for k, ((i, j), axis) in enumerate(zip(model.link_voxels.tolist(), model.link_axis.tolist())):
        if not alive[k]:
            continue
        q1, q2 = x[i, 3:], x[j, 3:]
        mean = q1 + (q2 if q1 @ q2 >= 0 else -q2)
        along = rotations.to_matrix(mean / np.linalg.norm(mean))[:, axis]
        e = float(along @ (x[j, :3] - x[i, :3])) / SIZE - 1
        E = 2 * young[i] * young[j] / (young[i] + young[j])
        strain[i, axis, 1], strain[j, axis, 0] = e * E / young[i], e * E / young[j]
    total = 0.0
    for v in range(model.voxel_count):
        lame = nu[v] / ((1 + nu[v]) * (1 - 2 * nu[v]))
        for sides in product((0, 1), repeat=3):
            e = np.array([strain[v, a, sides[a]] for a in range(3) if (v, a, sides[a]) in strain])
            cross = (e.sum() ** 2 - e @ e) / 2
            if len(e) == 3:  # lambda (sum e)²/2 + mu sum e², over E
                W = lame * e.sum() ** 2 / 2 + (e @ e) / (2 * (1 + nu[v]))
            elif len(e) == 2:  # plane stress
                W = (e @ e + 2 * nu[v] * cross) / (2 * (1 - nu[v] ** 2))
            else:
                W = (e @ e) / 2
            total += young[v] * SIZE**3 / 8 * float(W - (e @ e) / 2)
    links = body.lattice_force.links
    kept = links._replace(stiffness=alive[:, None] * links.stiffness)
    return total + float(compute_energy(kept, x))


def shaken(body: VoxelBody, size: float = 0.02) -> Array:
    rng = np.random.default_rng(5)
    x = body.model.rest_frames.copy()
    x[:, :3] += size * SIZE * rng.normal(size=(len(x), 3))
    x[:, 3:] = rotations.exp(5 * size * rng.normal(size=(len(x), 3)))
    return x


def forces(body: VoxelBody, x: Array, memory: LinkMemory | None = None) -> Array:
    """Forces and moments in body axes that the sweep exerts on resting voxels, (n, 6)."""
    dt = 1e-9
    sweep = LatticeSweep.make(body.model)
    sweep.load(x, np.zeros((len(x), 6)))
    if memory is not None:
        sweep.memory = memory
    sweep.advance(dt, 1)
    out, v = np.empty_like(x), np.empty((len(x), 6))
    sweep.save(out, v)
    return v / dt * np.repeat(np.stack([body.model.mass, body.model.inertia], axis=1), 3, axis=1)


MIXED = (solid(0.3), solid(0.45, young=4e6), solid(-0.4, young=2e6, density=500.0))


@pytest.mark.parametrize("shape", [(4, 3, 2), (2, 4, 3), (3, 2, 4)])
def test_forces_are_the_slope_of_the_octants_energy(shape: tuple[int, int, int]) -> None:
    body = block(shape, *MIXED, filled=0.85)
    x, rng = shaken(body), np.random.default_rng(7)
    f = forces(body, x)
    for _ in range(4):
        d = rng.normal(size=(len(x), 6)) * np.repeat([SIZE, 1.0], 3)

        def energy(e: float, d: Array = d) -> float:
            moved = x.copy()
            moved[:, :3] += e * d[:, :3]
            moved[:, 3:] = rotations.multiply(x[:, 3:], rotations.exp(e * d[:, 3:]))
            return octant_energy(body, moved)

        slope = (8 * (energy(1e-4) - energy(-1e-4)) - (energy(2e-4) - energy(-2e-4))) / 12e-4
        assert float((f * d).sum()) == pytest.approx(-slope, rel=1e-6)


def test_octants_follow_failures() -> None:
    """An octant is free of stress along an axis whose link has failed."""
    tough = [VoxelMaterial(**{**m.__dict__, "fail_strain": 10.0}) for m in MIXED]
    body = block((3, 3, 3), *tough)
    x, m = shaken(body), body.model.link_count
    alive = np.random.default_rng(1).uniform(size=m) < 0.7
    f = forces(body, x, LinkMemory(np.zeros(m), np.zeros(m), alive))
    d = np.random.default_rng(2).normal(size=(len(x), 6)) * np.repeat([SIZE, 1.0], 3)

    def energy(e: float) -> float:
        moved = x.copy()
        moved[:, :3] += e * d[:, :3]
        moved[:, 3:] = rotations.multiply(x[:, 3:], rotations.exp(e * d[:, 3:]))
        return octant_energy(body, moved, alive)

    slope = (8 * (energy(1e-4) - energy(-1e-4)) - (energy(2e-4) - energy(-2e-4))) / 12e-4
    assert float((f * d).sum()) == pytest.approx(-slope, rel=1e-6)


@pytest.mark.parametrize("nu", [0.3, 0.45, -0.3])
def test_a_bar_in_tension_has_modulus_young_and_contracts_by_nu(nu: float) -> None:
    body = VoxelBody(
        VoxelGrid(np.ones((16, 3, 3), dtype=int), SIZE),
        solid(nu, bond_damping=0.3, ground_damping=0.02),
        transverse=True,
    )
    cells, load, stress = body.grid.voxels, np.zeros((144, 6)), 2e3
    load[cells[:, 0] == 15, 0] = stress * SIZE**2
    load[cells[:, 0] == 0, 0] = -stress * SIZE**2
    state = LocalState(0.0, body.model.rest_frames, np.zeros((144, 6)))
    state = body.advance(state, body.stable_step(), 30000, loads=load)
    x = np.zeros((16, 3, 3, 3))
    x[tuple(cells.T)] = state.x[:, :3]
    middle = np.diff(x[..., 0], axis=0)[6:9] / SIZE - 1
    np.testing.assert_allclose(middle, stress / YOUNG, rtol=2e-3)  # what is left of the ends' effect
    for axis in (1, 2):
        across = np.diff(x[..., axis], axis=axis)[6:10] / SIZE - 1
        np.testing.assert_allclose(across, -nu * stress / YOUNG, rtol=5e-3)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("nu", [0.2, 0.45])
def test_confined_compression_and_plane_stress(axis: int, nu: float) -> None:
    """Strained along one axis alone, an inner column of a block carries lambda + 2 mu, of one layer E / (1 - nu²)."""
    strain = -0.01
    confined = YOUNG * (1 - nu) / ((1 + nu) * (1 - 2 * nu))
    for layer, modulus in ((False, confined), (True, YOUNG / (1 - nu**2))):
        shape = [4, 4, 4]
        if layer:
            shape[(axis + 1) % 3] = 1
        body = block(tuple(shape), solid(nu))
        x = body.model.rest_frames.copy()
        x[:, axis] *= 1 + strain
        cell = [1, 1, 1]
        cell[axis] = 0
        if layer:
            cell[(axis + 1) % 3] = 0
        inner = int(np.flatnonzero((body.grid.voxels == cell).all(axis=1))[0])
        f = forces(body, x)[inner, axis]
        assert f == pytest.approx(modulus * SIZE**2 * strain, rel=1e-6)


def test_momentum_and_energy_are_kept() -> None:
    body = block((4, 4, 3), *MIXED, filled=0.9)
    n, rng = body.model.voxel_count, np.random.default_rng(0)
    x = shaken(body, 0.01)
    v = rng.normal(size=(n, 6)) * np.repeat([0.05, 5.0], 3)
    columns = np.repeat(np.stack([body.model.mass, body.model.inertia], axis=1), 3, axis=1)

    def measure(state: LocalState) -> tuple[float, Array]:
        p = body.model.mass[:, None] * state.v[:, :3]
        spin = body.model.inertia[:, None] * rotations.rotate(state.x[:, 3:], state.v[:, 3:])
        L = (np.cross(state.x[:, :3], p) + spin).sum(axis=0)
        return float((columns * state.v**2).sum() / 2) + octant_energy(body, state.x), np.r_[p.sum(axis=0), L]

    state, energies = LocalState(0.0, x, v), []
    start = measure(state)
    dt = body.stable_step(safety=0.02)
    for _ in range(20):
        state = body.advance(state, dt, 200)
        energy, momentum = measure(state)
        energies.append(energy)
        np.testing.assert_allclose(
            momentum[:3], start[1][:3], atol=1e-13 * np.abs(body.model.mass @ np.abs(v[:, :3])).max()
        )
        np.testing.assert_allclose(momentum[3:], start[1][3:], rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(energies, start[0], rtol=5e-3)  # a step of a fiftieth of the stable one: O(dt)


@pytest.mark.parametrize("nu", [0.49, 0.3, -0.6, -0.9])
def test_the_stable_step_is_stable(nu: float) -> None:
    """Just below the largest step the energy of an undamped block stays where it is, over thousands of steps."""
    body = block((4, 4, 4), solid(nu))
    x = shaken(body, 1e-4)
    start = octant_energy(body, x)
    state = body.advance(LocalState(0.0, x, np.zeros((64, 6))), body.stable_step(safety=0.95), 5000)
    assert octant_energy(body, state.x) < 20 * start


def test_a_row_of_single_voxels_is_not_changed() -> None:
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoissonNotice)
        for transverse in (False, True):
            body = VoxelBody(VoxelGrid(np.ones((20, 1, 1), dtype=int), SIZE), solid(0.35), transverse=transverse)
            load = np.zeros((20, 6))
            load[-1, 2] = 1e-3
            start = LocalState(0.0, body.model.rest_frames, np.zeros((20, 6)))
            rows.append(body.advance(start, 1e-5, 2000, held=[0], loads=load).x)
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-15)


def test_one_and_two_threads_give_the_same_bits() -> None:
    body = block((8, 8, 44), *MIXED)
    n, before, found = body.model.voxel_count, numba.get_num_threads(), []
    v = np.random.default_rng(1).normal(size=(n, 6)) * np.repeat([0.1, 10.0], 3)
    try:
        for threads in (1, 2):
            numba.set_num_threads(min(threads, before))
            state = body.advance(LocalState(0.0, shaken(body, 0.01), v), 1e-6, 30)
            found.append(np.hstack([state.x, state.v]))
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(*found)


def test_the_notice_speaks_only_where_the_ratio_does_not_act() -> None:
    grid = VoxelGrid(np.ones((2, 2, 2), dtype=int), SIZE)
    with pytest.warns(PoissonNotice, match="transverse=True"):
        VoxelBody(grid, solid(0.3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VoxelBody(grid, solid(0.3), transverse=True)
        VoxelBody(grid, solid(0.0))
    with pytest.raises(InputError, match=r"0\.49"):
        VoxelBody(grid, solid(0.5), transverse=True)


def test_the_scene_graph_has_its_force_and_tangent() -> None:
    """Derivatives by differences; the sweep's force; a bar in tension at equilibrium contracts by nu."""
    body = block((4, 3, 3), *MIXED)
    n = body.model.voxel_count
    x, v = shaken(body, 1e-3), np.random.default_rng(1).normal(size=(n, 6))
    errors = check_derivatives(body.lattice_force, x, v).errors
    assert max(errors.values()) < 1e-8
    sweep, dt = LatticeSweep.make(body.model), 1e-9
    sweep.load(x, v)
    sweep.advance(dt, 1)
    after, rate = np.empty_like(x), np.empty_like(v)
    sweep.save(after, rate)
    f = np.zeros((n, 6))
    body.lattice_force.add_force(LocalState(0.0, x, v), f)
    np.testing.assert_allclose((rate - v)[:, :3] / dt * body.model.mass[:, None], f[:, :3], atol=1e-5 * np.abs(f).max())

    nu, strain = 0.35, 1e-4
    bar = VoxelBody(VoxelGrid(np.ones((20, 4, 4), dtype=int), SIZE), solid(nu), transverse=True)
    scene = sp.Scene()
    node = scene.add(bar, name="bar")
    scene.add(sp.FixedAxes(node, "x_min", "x"))
    scene.add(sp.FixedPoints(node, [0], rotation=True))
    force = strain * bar.model.values("young")[0] * 16 * SIZE**2
    scene.add(sp.Load(node.points("x_max"), (force, 0.0, 0.0)))
    end = sp.solve_statics(scene.compile(), tolerance=1e-10).x.reshape(-1, 7)
    middle = (bar.grid.voxels[:, 0] >= 7) & (bar.grid.voxels[:, 0] <= 12)  # away from the ends, which contract less
    length, width = np.ptp(end[middle, 0]) / (5 * SIZE) - 1, np.ptp(end[middle, 1]) / (3 * SIZE) - 1
    assert length == pytest.approx(strain, rel=5e-3)
    assert width == pytest.approx(-nu * strain, rel=5e-3)


@pytest.mark.parametrize("nu", [-0.4, 0.0, 0.3, 0.45])
def test_the_bound_for_the_stable_step_is_the_stiffest_strain_of_a_solid(nu: float) -> None:
    """The largest eigenvalue of stress over strain along the axes, over Young's modulus."""
    body = block((2, 2, 2), solid(nu))
    along = np.full((3, 3), nu) + (1 - 2 * nu) * np.eye(3)
    stiffest = np.linalg.eigvalsh(along / ((1 + nu) * (1 - 2 * nu))).max()
    assert stiffening(body.model) == pytest.approx(stiffest)
