"""Links whose axial stiffness follows their rest length, as in Voxelyze: E l²/L0 instead of E l."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.errors import InputError
from supple.files import load, save
from supple.files.voxcad.load import VoxcadEnvironment, VoxcadFile, voxcad_scene

SIZE, YOUNG = 0.01, 1e6
MUSCLE = sp.VoxelMaterial(young=YOUNG, density=1000, expansion=0.25)
ALWAYS = sp.Actuation(1.0, 0.0, 0.25)  # at its crest: a quarter longer


def body(shape: tuple[int, int, int], actuation: sp.Actuation = ALWAYS, *, by_rest: bool = True) -> sp.VoxelBody:
    grid = sp.VoxelGrid(np.ones(shape, dtype=int), SIZE)
    return sp.VoxelBody(grid, MUSCLE, actuation=actuation, stiffness_by_rest=by_rest)


def start(made: sp.VoxelBody) -> LocalState:
    return LocalState(0.0, made.model.rest_frames.copy(), np.zeros((made.model.voxel_count, 6)))


@pytest.mark.parametrize(("by_rest", "push"), [(True, 20.0), (False, 25.0)])
def test_a_pair_that_wants_to_be_longer_by_a_quarter_presses_less(by_rest: bool, push: float) -> None:
    """E l² (d/L0 - 1) = -1e6 1e-4 (1 - 1/1.25) = -20 N; with E l it is E l (d - L0) = -25 N. The sweep's first step
    gives the impulse of that force; the energy is that of a spring, push 0.0025 m / 2."""
    made = body((2, 1, 1), by_rest=by_rest)
    f = np.zeros((2, 6))
    made.lattice_force.add_force(start(made), f)
    np.testing.assert_allclose(f[:, 0], [-push, push], rtol=1e-12)
    assert made.lattice_force.energy(start(made)) == pytest.approx(push * 0.0025 / 2, rel=1e-12)
    dt = 1e-6
    end = made.advance(start(made), dt, 1)
    np.testing.assert_allclose(end.v[:, 0], np.array([-push, push]) * dt / made.model.mass, rtol=1e-9)


def test_other_stiffnesses_do_not_follow() -> None:
    """Two voxels that are turned against each other, at the length of their link: all moments as without the option."""
    loads = []
    for by_rest in (True, False):
        made = body((2, 1, 1), by_rest=by_rest)
        state, f = start(made), np.zeros((2, 6))
        state.x[1, 0] = state.x[0, 0] + 1.25 * SIZE
        state.x[1, 3:] = rotations.exp((0.1, 0.0, 0.0))
        made.lattice_force.add_force(state, f)
        loads.append(f)
    np.testing.assert_allclose(loads[0], loads[1], atol=1e-12)
    assert np.abs(loads[0]).max() > 1e-4


def test_force_and_tangent_are_those_of_the_energy() -> None:
    driven = sp.Actuation(1.0, 7.0, phase=np.linspace(0.0, 1.0, 12))
    made = body((3, 2, 2), driven)
    rng = np.random.default_rng(1)
    x = made.model.rest_frames.copy()
    x[:, :3] += 0.1 * SIZE * rng.normal(size=(12, 3))
    x[:, 3:] = rotations.exp(0.2 * rng.normal(size=(12, 3)))
    assert sp.check_derivatives(made.lattice_force, x, t=0.0123).is_ok


def test_the_sweep_equals_the_general_operations() -> None:
    """Lanes and the loop over links, in 200 steps of a body that swells and shrinks by a quarter; beside it a body
    without the option, whose bits are those it has alone."""
    scene, alone = sp.Scene(gravity=(0, 0, -9.81)), sp.Scene(gravity=(0, 0, -9.81))
    driven = sp.Actuation(1.0, 200.0, phase=np.linspace(0.0, 1.0, 27))
    scene.add(body((3, 3, 3), driven), fix="x_min", name="one")
    for each in (scene, alone):
        each.add(body((3, 3, 3), driven, by_rest=False), at=(0, 0.1, 0), name="other")
    dt = scene.node("one").body.stable_step(safety=0.5)
    states = []
    for world, solver in (
        (scene, sp.LatticeSolver(dt, bend_limit=None)),
        (scene, sp.SymplecticEuler(dt)),
        (alone, sp.LatticeSolver(dt, bend_limit=None)),
    ):
        system = world.compile()
        state = system.initial_state()
        for _ in range(200):
            solver.step(system, state)
        states.append((system, state))
    (system, swept), (_, general), (other, own) = states
    np.testing.assert_allclose(swept.x, general.x, atol=1e-11)
    beside, single = system.body("other").view_x(swept.x), other.body("other").view_x(own.x)
    np.testing.assert_array_equal(beside, single)
    assert np.abs(swept.x - system.x0).max() > 0.1 * SIZE


def test_a_body_that_shrinks_is_stepped_stably() -> None:
    """To 0.4 of its size, where links are 2.5 times as stiff: it stays symmetric and comes to rest."""
    muscle = sp.VoxelMaterial(young=YOUNG, density=1000, expansion=0.6, bond_damping=0.5, ground_damping=0.05)
    grid = sp.VoxelGrid(np.ones((3, 2, 2), dtype=int), SIZE)
    made = sp.VoxelBody(grid, muscle, actuation=sp.Actuation(1.0, 0.0, 0.75, rise=0.01), stiffness_by_rest=True)
    scene = sp.Scene(solver=sp.LatticeSolver(safety=0.9))
    scene.add(made, name="muscle")
    run = sp.run(scene, until=0.2)
    x = run.state.x.reshape(-1, 7)[:, :3]
    np.testing.assert_allclose(np.ptp(x, axis=0), 0.4 * SIZE * np.array([2, 1, 1]), rtol=1e-6)


def test_files_hold_it(tmp_path: Path) -> None:
    scene = sp.Scene()
    scene.add(body((3, 1, 1)), name="muscle")
    save(scene, tmp_path / "scene.toml")
    assert load(tmp_path / "scene.toml").nodes[0].body.stiffness_by_rest
    warm = VoxcadEnvironment(temperature_enabled=True, temperature_amplitude=1.0)
    file = VoxcadFile(sp.VoxelGrid(np.ones((2, 1, 1), dtype=int), SIZE), (MUSCLE,), environment=warm)
    for by_rest in (True, False):
        assert voxcad_scene(file, stiffness_by_rest=by_rest).nodes[0].body.stiffness_by_rest == by_rest


def test_what_does_not_go_with_it_is_refused() -> None:
    grid = sp.VoxelGrid(np.ones((2, 1, 1), dtype=int), SIZE)
    yields = sp.VoxelMaterial(young=YOUNG, density=1000, yield_stress=1e4, plastic_modulus=1e5)
    with pytest.raises(InputError, match="plain links"):
        sp.VoxelBody(grid, yields, stiffness_by_rest=True)
    with pytest.raises(InputError, match="transverse=True"):
        sp.VoxelBody(grid, MUSCLE, transverse=True, stiffness_by_rest=True)
