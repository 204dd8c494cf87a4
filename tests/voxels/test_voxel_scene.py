"""Voxel bodies in scenes: their points, layers, filters and stride, and statics without loads."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bodies.protocols import LocalState
from supple.errors import InputError
from supple.record.surfaces import make_surface

SIZE = 0.01


def block(shape: tuple[int, int, int] = (6, 2, 2), **more: object) -> sp.VoxelBody:
    material = sp.VoxelMaterial(young=1e6, density=1000, bond_damping=0.3, **more)
    return sp.VoxelBody(sp.VoxelGrid(np.ones(shape, dtype=int), SIZE), material)


def test_layers_are_the_outermost_voxels() -> None:
    node = sp.Scene().add(block(), name="block")
    assert len(node.indices("x_min")) == 4
    np.testing.assert_allclose(node.rest[node.indices("x_max"), 0], 5.5 * SIZE)
    with pytest.raises(InputError, match="no layer of that name"):
        node.indices("x_middle")


def test_points_ride_on_their_voxels() -> None:
    """A rigid motion of the whole carries centres and embedded points as one body."""
    scene = sp.Scene()
    node = scene.add(block(), name="block")
    inside = np.array([[0.033, 0.004, 0.013], [0.001, 0.019, 0.001]])
    embedded, centres = node.points(at=inside), node.points()
    np.testing.assert_allclose(embedded.rest, inside)
    turned = sp.Scene().add(block(), at=(0.1, 0.2, 0.3), rotation=(0.3, -0.5, 0.8), name="block")
    x = turned.body.place(turned.placement).x
    np.testing.assert_allclose(embedded.mapping.apply(x), turned.placement.apply(inside), atol=1e-15)
    np.testing.assert_allclose(centres.mapping.apply(x), turned.rest, atol=1e-15)


def test_held_voxels_keep_place_and_rotation_in_every_solver() -> None:
    for solver in (sp.ImplicitEuler(5e-3), sp.LatticeSolver(5e-3)):
        scene = sp.Scene(gravity=(0, 0, -9.81))
        node = scene.add(block(), fix="x_min", name="block")
        system = scene.compile()
        state = system.initial_state()
        for _ in range(20):
            assert solver.step(system, state).is_solved
        held = node.indices("x_min")
        start = system.body("block").view_x(system.x0)
        np.testing.assert_array_equal(system.positions(state, "block")[held], start[held])
        assert system.positions(state, "block")[:, 2].min() < start[:, 2].min() - 1e-4


def test_the_stride_and_the_implicit_step_come_to_the_same_rest() -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(block(ground_damping=0.1), fix="x_min", name="block")
    system = scene.compile()
    state, stride = system.initial_state(), sp.LatticeSolver(0.02)
    for _ in range(100):
        stride.step(system, state)
    rest = sp.solve_statics(system)
    sag = system.x0.reshape(-1, 7)[:, 2] - rest.x.reshape(-1, 7)[:, 2]
    found = system.x0.reshape(-1, 7)[:, 2] - state.x.reshape(-1, 7)[:, 2]
    np.testing.assert_allclose(found, sag, atol=1e-3 * sag.max())  # what is left of the swing after 2 s


def test_swelling_alone_has_an_equilibrium() -> None:
    """Without loads the forces end at nothing; a free end has grown by gain times control times length."""
    material = sp.VoxelMaterial(young=1e6, density=1000, expansion=0.01)
    grid = sp.VoxelGrid(np.ones((4, 2, 2), dtype=int), SIZE)
    scene = sp.Scene()
    node = scene.add(sp.VoxelBody(grid, material, actuation=sp.Actuation(10.0, 1.0, 0.25)), fix="x_min", name="block")
    system = scene.compile()
    state = sp.solve_statics(system)
    grown = system.positions(state, "block")[-1, 0] - node.rest[-1, 0]
    assert grown == pytest.approx(0.1 * 3 * SIZE, rel=5e-3)  # the held layer keeps its width nearby


def test_the_skin_is_closed_and_follows() -> None:
    scene = sp.Scene()
    scene.add(block(), at=(1, 2, 3), rotation=(0, 0, np.pi / 2), name="block")
    system = scene.compile()
    points = make_surface(system.body("block")).points(system.initial_state())
    np.testing.assert_allclose(points.min(axis=0), [1 - 2 * SIZE, 2, 3], atol=1e-6)
    np.testing.assert_allclose(points.max(axis=0), [1, 2 + 6 * SIZE, 3 + 2 * SIZE], atol=1e-6)


def test_what_the_stride_cannot_do_is_refused() -> None:
    scene = sp.Scene()
    scene.add(block(), name="block")
    scene.add(sp.Particles(np.eye(3), 1.0), name="dots")
    with pytest.raises(InputError, match="voxel bodies alone"):
        sp.LatticeSolver().prepare(scene.compile())


def test_the_general_stable_step_of_a_damped_lattice_is_its_own() -> None:
    body = block((3, 3, 3))
    scene = sp.Scene()
    scene.add(body, name="block")
    system = scene.compile()
    from supple.solvers import stable_step

    general = stable_step(system, system.initial_state(), safety=1.0)
    assert general == pytest.approx(body.stable_step(safety=1.0), rel=1e-3)


def test_the_energy_of_a_force_on_several_voxels_is_its_work_on_each() -> None:
    """They share it equally, however far each has moved."""
    scene = sp.Scene()
    node = scene.add(block(), at=(0.1, 0.2, 0.3), name="block")
    wrench = sp.Wrench(node, "x_max", force=(1.0, -2.0, 3.0))
    x = node.body.place(node.placement).x
    moved = x.copy()
    moved[:, :3] += 1e-3 * np.random.default_rng(4).normal(size=(len(x), 3))
    f, rest = np.zeros((len(x), 6)), LocalState(0.0, x, np.zeros((len(x), 6)))
    wrench.add_force(rest, f)
    np.testing.assert_allclose(f[:, :3].sum(axis=0), [1.0, -2.0, 3.0], rtol=1e-12)
    gained = wrench.energy(LocalState(0.0, moved, rest.v)) - wrench.energy(rest)
    assert gained == pytest.approx(-np.sum(f[:, :3] * (moved - x)[:, :3]), rel=1e-9)
