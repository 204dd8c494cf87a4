"""Voxels that come fast to thin obstacles, and voxels on obstacles that are meshes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import supple as sp
from supple.bodies.protocols import LocalState
from supple.errors import StepWarning
from supple.solvers.methods.lattice_obstacles import stopping_times

SIZE = 5e-3
THIN = {
    "box": lambda: sp.Box((0, 0, -SIZE / 2), (0.2, 0.2, SIZE)),
    "capsule": lambda: sp.Capsule((-0.1, 0, -SIZE / 2), (0.1, 0, -SIZE / 2), SIZE / 2),
    "sphere": lambda: sp.Sphere((0, 0, -SIZE / 2), SIZE / 2),
    "floor": sp.Floor,
}


def shot(obstacle: sp.Box, speed: float, young: float = 1e7) -> tuple[float, list[StepWarning]]:
    """The height at the end of a cube of voxels that comes down from 3 cm at a speed [m/s], and what was said of it."""
    scene = sp.Scene()
    scene.add(obstacle)
    grid = sp.VoxelGrid(np.ones((2, 2, 2), dtype=int), SIZE)
    body = sp.VoxelBody(grid, sp.VoxelMaterial(young=young, density=1000))
    scene.add(body, at=(-SIZE, -SIZE, 0.03), velocity=(0, 0, -speed), name="bullet")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run = sp.run(scene, until=0.2 / speed, record_every=0.02 / speed)
    z = run.system.positions(run.state, "bullet")[:, 2].mean()
    return float(z), [w.message for w in said if isinstance(w.message, StepWarning)]


@pytest.mark.parametrize("kind", ["box", "capsule", "sphere"])
def test_a_voxel_that_may_leap_over_an_obstacle_is_told(kind: str) -> None:
    """At 400 m/s it sinks by 9 mm into a plane: more than half of the 5 mm of the obstacle and of its own size."""
    _, said = shot(THIN[kind](), 400.0)
    assert len(said) == 1
    assert f"obstacle '{kind}'" in str(said[0])


def test_stiffer_voxels_are_stopped() -> None:
    """The softer ones go through, as they are told; these stop within a tenth of the way."""
    z, said = shot(THIN["box"](), 400.0)
    assert z < 0
    assert said
    z, said = shot(THIN["box"](), 400.0, 1e9)
    assert z > 0
    assert not said


def test_how_deep_a_voxel_gets_is_that_of_the_oscillator() -> None:
    """With all ratios of damping; small steps are a 200th of the period."""
    for damping in (0.0, 0.5, 1.0):
        body = sp.VoxelBody(
            sp.VoxelGrid(np.ones((1, 1, 1), dtype=int), SIZE),
            sp.VoxelMaterial(young=1e7, density=1000, contact_damping=damping),
        )
        x, v = body.model.rest_frames.copy(), np.zeros((1, 6))
        x[0, 2], v[0, 2] = SIZE / 2, -1.0
        state, deepest = LocalState(0.0, x, v), 0.0
        for _ in range(100):
            state = body.advance(state, 1e-6, 1, planes=[sp.Floor()])
            deepest = max(deepest, SIZE / 2 - state.x[0, 2])
        assert deepest == pytest.approx(stopping_times(body.model)[0], rel=0.03)


def test_an_obstacle_that_comes_fast_is_told_too() -> None:
    moving = sp.Box((0, 0, -SIZE / 2), (0.2, 0.2, SIZE), motion=sp.Motion(velocity=(0, 0, 400.0)))
    assert len(shot(moving, 1.0)[1]) == 1


@pytest.mark.parametrize(("kind", "speed"), [("box", 100.0), ("sphere", 10.0), ("floor", 400.0)])
def test_what_is_stopped_is_not_told(kind: str, speed: float) -> None:
    z, said = shot(THIN[kind](), speed)
    assert not said
    assert z > 0


def test_a_block_rests_on_a_mesh() -> None:
    """Runs of voxels on a mesh ended in an error: the energy of its contacts was asked of a formula."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.MeshObstacle(sp.RigidBody.box((0.2, 0.2, 0.05), density=1).surface))
    soft = sp.VoxelMaterial(young=1e5, density=1000, bond_damping=0.5, contact_damping=0.5)
    grid = sp.VoxelGrid(np.ones((2, 2, 2), dtype=int), 0.01)
    scene.add(sp.VoxelBody(grid, soft), at=(-0.01, -0.01, 0.0251), name="block")
    run = sp.run(scene, until=0.2)
    z = run.system.positions(run.state, "block")[:, 2]
    assert z.min() == pytest.approx(0.03, abs=1e-4)
