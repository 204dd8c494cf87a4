"""VoxCAD files as bodies: actuation, regions that hold and load voxels, runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from supple.bodies.protocols import LocalState
from supple.errors import InputError
from supple.files.voxcad.load import (
    BoundaryRegion,
    RegionShape,
    VoxcadEnvironment,
    VoxcadFile,
    voxcad_body,
    voxcad_held,
    voxcad_loads,
    voxcad_planes,
)
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial


def test_the_body_swings_with_the_phases_of_voxels_and_materials(scene):
    body = voxcad_body(scene)
    assert body.model.voxel_count == 6
    soft = scene.grid.materials[tuple(scene.grid.voxels.T)] == 1
    assert body.total_mass == pytest.approx((soft * 1e6 + ~soft * 1e3).sum() * 0.01**3)
    offset = scene.phase_offset[tuple(scene.grid.voxels.T)]
    t = 0.07
    angle = 2 * np.pi * (t / 0.25 + offset) + np.where(soft, 0, np.pi)
    size = 0.01 * (1 + np.where(soft, 0.01, -0.01) * 14 * np.sin(angle))
    np.testing.assert_allclose(body.swing.sizes(t), size, rtol=1e-12)


def test_a_temperature_that_does_not_vary_is_constant(scene):
    body = voxcad_body(replace(scene, environment=replace(scene.environment, temperature_varies=False)))
    for t in (0.0, 0.1):
        size = 0.01 * (1 + body.model.values("expansion") * 14)
        np.testing.assert_allclose(body.swing.sizes(t), size, rtol=1e-12)


@pytest.mark.parametrize(
    "still", [{"temperature_enabled": False}, {"temperature_amplitude": 0.0}, {"temperature_period": 0.0}]
)
def test_no_temperature_no_actuation(scene, still):
    assert voxcad_body(replace(scene, environment=replace(scene.environment, **still))).actuation is None


def test_regions_hold_and_load_the_voxels_they_touch(scene):
    voxels = scene.grid.voxels
    assert voxels[voxcad_held(scene)].tolist() == [[0, 0, 0], [0, 1, 1]]
    loads = voxcad_loads(scene)
    on = np.flatnonzero(loads.any(axis=1))
    assert voxels[on].tolist() == [[2, 0, 0], [2, 1, 0]]
    np.testing.assert_allclose(loads[on], [[0, 0, 3, 1.5, 0, 0]] * 2)
    (floor,) = voxcad_planes(scene)
    assert floor.normal.tolist() == [0, 0, 1]
    assert voxcad_planes(replace(scene, environment=replace(scene.environment, floor_enabled=False))) == ()


def block_with(region: BoundaryRegion) -> VoxcadFile:
    grid = VoxelGrid(np.ones((8, 4, 4), dtype=int), 0.5)
    return VoxcadFile(grid, (VoxelMaterial(1.0, 1.0),), environment=VoxcadEnvironment((region,)))


def test_a_region_ends_at_the_faces_of_voxels():
    """A box up to x = 1/8 of eight voxels touches the first layer alone, so does a flat one; just beyond, two."""
    held = (True,) * 6
    for size, count in ((1 / 8, 16), (1 / 8 + 1e-9, 32), (1.0, 128), (0.0, 16)):
        file = block_with(BoundaryRegion((0, 0, 0), (size, 1, 1), held=held))
        assert len(voxcad_held(file)) == count


def test_round_regions():
    """Radii are fractions of the longest side; voxels count whose centres are inside."""
    held = (True,) * 6
    ball = block_with(BoundaryRegion((0.5, 0.5, 0.5), (0, 0, 0), RegionShape.SPHERE, 1.01 * np.sqrt(0.75) / 8, held))
    assert len(voxcad_held(ball)) == 8  # around the middle, half a voxel away along each axis
    rod = block_with(BoundaryRegion((0, 0.5, 0.5), (0.5, 0, 0), RegionShape.CYLINDER, 1.01 * np.sqrt(0.5) / 8, held))
    assert len(voxcad_held(rod)) == 4 * 4
    none = block_with(BoundaryRegion((0, 0.5, 0.5), (0, 0, 0), RegionShape.CYLINDER, 1.0, held))
    assert len(voxcad_held(none)) == 0


def test_a_scene_runs(scene):
    body = voxcad_body(scene)
    held = voxcad_held(scene)
    state = LocalState(0.0, body.model.rest_frames, np.zeros((body.model.voxel_count, 6)))
    dt = body.stable_step(held=held, contact=True)
    after = body.advance(
        state,
        dt,
        200,
        gravity=scene.environment.gravity,
        held=held,
        loads=voxcad_loads(scene),
        planes=voxcad_planes(scene),
    )
    assert np.isfinite(after.x).all()
    assert (after.x[held] == state.x[held]).all()
    assert np.abs(after.x - state.x).max() > 1e-5


def test_numbers_out_of_reach_are_refused(scene):
    for size in (1e-30, 1e200):
        with pytest.raises(InputError, match="Lattice_Dim: voxels of this size cannot be simulated"):
            voxcad_body(replace(scene, grid=VoxelGrid(scene.grid.materials, size)))
    hard = tuple(replace(material, young=1e308) for material in scene.palette)
    with pytest.raises(InputError, match="masses, stiffnesses or damping of the voxels are not finite"):
        voxcad_body(replace(scene, palette=hard))


def test_voxels_that_vanish_are_refused(scene):
    hot = replace(scene, environment=replace(scene.environment, temperature_amplitude=100.0))
    with pytest.raises(InputError, match="the control makes a voxel vanish"):
        voxcad_body(hot)
