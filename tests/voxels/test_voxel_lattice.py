"""The link and the lattice: derivatives, balance, dissipation, and the constants of the source [HL12]."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.bodies.placement import Placement
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.elastic import GroundDamping, LatticeForce
from supple.bodies.voxel.sweep import lattice_kernels as kernels
from supple.errors import InputError
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.scene import check_derivatives
from supple.solvers import ImplicitEuler
from supple.validation.voxel.blocks import block, held_system, layer, net_load, random_lattice

Array = np.ndarray


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("moving", [False, True])
def test_force_and_tangent_by_differences(seed: int, moving: bool) -> None:
    force, x, v = random_lattice(seed)
    assert check_derivatives(force, x, v if moving else None, tolerance=1e-9).is_ok  # differences leave ten digits


def test_rotations_beyond_two_radians() -> None:
    force, x, v = random_lattice(3)
    x[:, 3:] = rotations.exp(np.random.default_rng(0).normal(size=(len(x), 3)))
    assert check_derivatives(force, x, v, tolerance=1e-8).is_ok


@pytest.mark.parametrize("seed", range(5))
def test_loads_balance(seed: int) -> None:
    force, x, v = random_lattice(seed)
    f = np.zeros_like(v)
    force.add_force(LocalState(0.0, x, v), f)
    assert max(net_load(x, f)) < 1e-14  # round-off of a sum of 20 links


def test_the_sign_of_a_quaternion_does_not_matter() -> None:
    force, x, v = random_lattice()
    flipped = x.copy()
    flipped[::2, 3:] *= -1
    loads = []
    for frames in (x, flipped):
        loads.append(np.zeros_like(v))
        force.add_force(LocalState(0.0, frames, v), loads[-1])
    np.testing.assert_allclose(loads[0], loads[1], rtol=1e-12, atol=1e-12 * np.abs(loads[0]).max())


def test_rigid_motion_gives_no_load() -> None:
    body = block((3, 2, 2), bond_damping=1.0)
    spin = np.array([3.0, -2.0, 4.0])
    placed = body.place(Placement(np.array([1.0, 2, 3]), rotations.exp([0.5, -1.0, 2.0]), np.ones(3), spin))
    f = np.zeros_like(placed.v)
    body.lattice_force.add_force(LocalState(0.0, placed.x, placed.v), f)
    size = body.model.link_stiffness[0, 0] * 3.7  # stiffness times the distance from the origin, which rounds off
    assert np.abs(f).max() < 1e-14 * size
    assert body.lattice_force.energy(LocalState(0.0, placed.x, placed.v)) < 1e-28 * size


def test_damping_dissipates_and_is_symmetric() -> None:
    force, x, v = random_lattice()
    B = force.linearize(LocalState(0.0, x, v)).damping.to_scipy().toarray()
    np.testing.assert_allclose(B, B.T, atol=1e-15 * np.abs(B).max())
    assert np.linalg.eigvalsh(B).max() < 1e-14 * np.abs(B).max()
    assert np.linalg.matrix_rank(B, tol=1e-9 * np.abs(B).max()) == 6 * len(x) - 6  # rigid motions are free


def test_definite_tangent_is_definite_and_exact_at_rest() -> None:
    force, x, v = random_lattice()
    D = force.linearize(LocalState(0.0, x, v), definite=True).stiffness.to_scipy().toarray()
    np.testing.assert_allclose(D, D.T, atol=1e-14 * np.abs(D).max())
    assert np.linalg.eigvalsh(D).max() < 1e-13 * np.abs(D).max()
    body = block((3, 2, 2))
    rest = LocalState(0.0, body.model.rest_frames, np.zeros((12, 6)))
    exact, definite = (body.lattice_force.linearize(rest, definite=d).stiffness.data for d in (False, True))
    np.testing.assert_allclose(definite, exact, atol=1e-12 * np.abs(exact).max())


def test_products_need_no_matrix() -> None:
    force, x, v = random_lattice()
    d = np.random.default_rng(0).normal(size=v.shape)
    by_matrix, by_links = np.zeros_like(v), np.zeros_like(v)
    force.linearize(LocalState(0.0, x, v)).add_product(d, by_matrix, 2.0, 0.0)
    kernels.add_differential(force.links, x, v, d, 2.0, by_links)
    np.testing.assert_allclose(by_links, by_matrix, atol=1e-13 * np.abs(by_matrix).max())


def test_products_at_rest() -> None:
    force, _, v = random_lattice()
    body = VoxelBody(VoxelGrid(np.ones((3, 2, 2), dtype=int), 0.01), VoxelMaterial(young=1.0, density=1.0))
    force = LatticeForce(force.links._replace(rest=np.full(len(force.links.rest), 0.01)), 12, 0.01)
    general, special = np.zeros_like(v), np.zeros_like(v)
    kernels.add_differential(force.links, body.model.rest_frames, np.zeros_like(v), v, -1.0, general)
    kernels.add_rest_product(force.links, v, special)
    np.testing.assert_allclose(special, general, atol=1e-14 * np.abs(general).max())


def test_a_tangent_is_a_value() -> None:
    force, x, v = random_lattice()
    first = force.linearize(LocalState(0.0, x, v))
    expected = force.linearize(LocalState(0.0, x, v)).stiffness.data.copy()
    x[:, :3] *= 1.1
    force.linearize(LocalState(0.0, x, v)).add_product(v, np.zeros_like(v), 1.0, 1.0)
    np.testing.assert_array_equal(first.stiffness.data, expected)


def test_one_link_at_rest_is_the_beam_of_the_source() -> None:
    # [HL12, eq. 7] with a1 = b1 = E l, b2 = E l²/2, b3 = E l³/6, a2 = G l³/6
    E, l, nu = 2e6, 0.01, 0.25
    body = block((2, 1, 1), size=l, young=E, poisson=nu)
    a, b2, b3, a2 = E * l, E * l**2 / 2, E * l**3 / 6, E / (2 * (1 + nu)) * l**3 / 6
    K = np.zeros((12, 12))
    for i, j, value in [
        (0, 0, a), (0, 6, -a), (1, 1, a), (1, 5, b2), (1, 7, -a), (1, 11, b2), (2, 2, a), (2, 4, -b2), (2, 8, -a),
        (2, 10, -b2), (3, 3, a2), (3, 9, -a2), (4, 4, 2 * b3), (4, 8, b2), (4, 10, b3), (5, 5, 2 * b3), (5, 7, -b2),
        (5, 11, b3), (6, 6, a), (7, 7, a), (7, 11, -b2), (8, 8, a), (8, 10, b2), (9, 9, a2), (10, 10, 2 * b3),
        (11, 11, 2 * b3),
    ]:  # fmt: skip
        K[i, j] = K[j, i] = value
    rest = LocalState(0.0, body.model.rest_frames, np.zeros((2, 6)))
    ours = -body.lattice_force.linearize(rest).stiffness.to_scipy().toarray()
    np.testing.assert_allclose(ours, K, atol=1e-12 * a)


def test_unlike_materials_are_composed() -> None:
    soft, hard = VoxelMaterial(young=1e5, density=500), VoxelMaterial(young=4e5, density=2000, poisson=0.3)
    model = VoxelBody(VoxelGrid(np.array([[[1]], [[2]]]), 0.1), [soft, hard]).model
    E, G = 2 * 1e5 * 4e5 / 5e5, 2 / (1 / soft.shear_modulus + 1 / hard.shear_modulus)
    np.testing.assert_allclose(model.link_stiffness[0], [E * 0.1, E * 0.1, G * 1e-3 / 6, E * 1e-3 / 12])
    np.testing.assert_allclose(model.mass, [0.5, 2.0])
    np.testing.assert_allclose(model.inertia, model.mass * 0.01 / 6)


def test_a_link_of_unlike_materials_has_the_mean_of_their_damping_ratios() -> None:
    """By hand, theory.md 14.4: ratio times the roots of the mean mass, geometric, and of the stiffnesses."""
    soft = VoxelMaterial(young=1e5, density=500, bond_damping=0.1, ground_damping=0.3)
    hard = VoxelMaterial(young=4e5, density=2000, bond_damping=0.7, ground_damping=0.2)
    for cells, palette in (([[[1]], [[2]]], [soft, hard]), ([[[2]], [[1]]], [soft, hard])):
        model = VoxelBody(VoxelGrid(np.array(cells), 0.1), palette).model
        E, m = 2 * 1e5 * 4e5 / 5e5, np.sqrt(0.5 * 2.0)
        along, turning = np.sqrt(m * E * 0.1), np.sqrt(m * 0.01 / 6 * E * 1e-3 / 3)
        np.testing.assert_allclose(model.link_damping[0], [0.4 * along, 0.4 * turning], rtol=1e-12)
        own = 2 * np.array([0.3, 0.2]) * np.sqrt([0.5 * 1e5 * 0.1, 2.0 * 4e5 * 0.1])
        np.testing.assert_allclose(np.sort(model.ground_damping[:, 0]), np.sort(own), rtol=1e-12)


def test_links_join_face_neighbours_only() -> None:
    grid = VoxelGrid(np.array([[[1, 0], [1, 1]], [[0, 1], [1, 0]]]), 1.0)
    model = VoxelBody(grid, VoxelMaterial(young=1.0, density=1.0)).model
    steps = np.diff(grid.voxels[model.link_voxels], axis=1)[:, 0]
    np.testing.assert_array_equal(np.abs(steps).sum(axis=1), 1)
    np.testing.assert_array_equal(np.argmax(steps, axis=1), model.link_axis)
    assert model.link_count == 3


def test_ground_damping_by_differences() -> None:
    force = GroundDamping(np.random.default_rng(0).uniform(1, 2, (4, 2)))
    x = np.zeros((4, 7))
    x[:, 3] = 1.0
    assert check_derivatives(force, x, np.ones((4, 6)), step=1e-3).errors["B = df/dv"] < 1e-12


def test_implicit_steps_reach_the_static_sag() -> None:
    body = block((6, 2, 2), size=0.01, bond_damping=0.1)
    system = held_system(body, layer(body, 0, 0), gravity=(0, 0, -9.81))
    state = system.initial_state()
    solver = ImplicitEuler(dt=0.02, newton=True)
    for _ in range(100):
        assert solver.step(system, state).is_solved
    force = system.force(system.propagate(state.t, state.x, state.v)).reshape(-1, 6)
    free = np.setdiff1d(np.arange(24), layer(body, 0, 0))
    assert np.abs(force[free, :3]).max() < 1e-5 * body.total_mass * 9.81


@pytest.mark.parametrize("linear", ["cg", "direct"])
def test_implicit_steps_hundredfold(linear: str) -> None:
    body = block((6, 2, 2), size=0.01, bond_damping=0.1)
    dt = 100 * body.stable_step(safety=1.0)
    system = held_system(body, layer(body, 0, 0), gravity=(0, 0, -9.81))
    state = system.initial_state()
    solver = ImplicitEuler(dt=dt, linear=linear)
    for _ in range(20):
        assert solver.step(system, state).is_solved
    assert np.abs(state.x.reshape(-1, 7)[:, 2]).max() < 0.05


def test_the_skin_follows_rigid_motion_and_closes() -> None:
    grid = VoxelGrid(np.array([[[1, 0], [1, 1]], [[0, 1], [1, 1]]]), 0.1, (1.0, 2.0, 3.0))
    body = VoxelBody(grid, VoxelMaterial(young=1.0, density=1.0))
    placement = Placement(np.array([1.0, -2.0, 0.5]), rotations.exp([0.3, 0.2, -1.0]))
    corners = body.skin.positions(body.model.rest_frames)
    np.testing.assert_allclose(body.skin.positions(body.place(placement).x), placement.apply(corners), atol=1e-14)
    a, b, c = np.moveaxis(corners[body.skin.triangles], 1, 0)
    volume = np.sum(a * np.cross(b, c)) / 6  # divergence theorem; outward triangles
    assert volume == pytest.approx(grid.volume)


def test_errors_name_the_fix() -> None:
    with pytest.raises(InputError, match="kinetic friction is larger"):
        VoxelMaterial(young=1.0, density=1.0, static_friction=0.1, kinetic_friction=0.2)
    with pytest.raises(InputError, match="> 0 Pa"):
        VoxelMaterial(young=-1.0, density=1.0)
    with pytest.raises(InputError, match="bond_damping is out of range"):
        VoxelMaterial(young=1.0, density=1.0, bond_damping=-0.1)
    with pytest.raises(InputError, match="colour"):
        VoxelMaterial(young=1.0, density=1.0, colour=(2.0, 0, 0, 1))
    with pytest.raises(InputError, match=r"lacks a material .*got 2"):
        VoxelBody(VoxelGrid(np.array([[[2]]]), 1.0), [VoxelMaterial(young=1.0, density=1.0)])
    with pytest.raises(InputError, match="VoxelGrid"):
        VoxelBody(np.ones((2, 2, 2)), VoxelMaterial(young=1.0, density=1.0))  # type: ignore[arg-type]
