"""The body, the held voxels, the loads and the floor of a VoxCAD scene."""

from __future__ import annotations

import numpy as np

from supple.bodies.voxel import Actuation, Plane, VoxelBody
from supple.errors import InputError
from supple.files.voxcad_record import HELD_ALL, BoundaryRegion, RegionShape, VoxcadFile

Array = np.ndarray

SMALLEST, LARGEST = 1e-9, 1e6  # edges of voxels [m] whose powers stay within the range of numbers


def voxcad_body(file: VoxcadFile) -> VoxelBody:
    """The voxel body of a scene, driven by its temperature; its lowest corner is the origin."""
    size = file.grid.voxel_size
    if not SMALLEST <= size <= LARGEST:
        allowed = f"{SMALLEST:g} to {LARGEST:g} m"
        raise InputError("voxels of this size cannot be simulated", where="Lattice_Dim", value=size, allowed=allowed)
    with np.errstate(over="ignore", invalid="ignore"):
        body = VoxelBody(file.grid, file.palette, actuation=_actuation(file))
    model = body.model
    constants = (model.mass, model.inertia, model.ground_damping, model.link_stiffness, model.link_damping)
    if not all(np.isfinite(array).all() for array in constants):
        raise InputError("the masses, stiffnesses or damping of the voxels are not finite", where="Palette")
    return body


def _actuation(file: VoxcadFile) -> Actuation | None:
    environment = file.environment
    amplitude, period = environment.temperature_amplitude, environment.temperature_period
    if not environment.temperature_enabled or amplitude == 0:
        return None
    if not environment.temperature_varies:
        return Actuation(amplitude, 0.0, 0.25)  # a quarter of a period at no frequency: always at the amplitude
    if period == 0:
        return None
    cells = tuple(file.grid.voxels.T)
    phase = np.array([0.0, *file.material_phase])[file.grid.materials[cells]] / (2 * np.pi)
    if file.phase_offset is not None:
        phase = phase + file.phase_offset[cells]
    return Actuation(amplitude, 1 / period, phase)


def voxcad_held(file: VoxcadFile) -> Array:
    """Voxels of the regions that hold all six coordinates, for `VoxelBody.advance`."""
    held = np.zeros(file.grid.voxel_count, dtype=bool)
    for region in file.environment.regions:
        if region.held == HELD_ALL:
            held |= touched(file, region)
    return np.flatnonzero(held)


def voxcad_loads(file: VoxcadFile) -> Array:
    """Forces [N] and torques [N m] on the voxels, (n, 6), for `VoxelBody.advance`."""
    loads = np.zeros((file.grid.voxel_count, 6))
    for region in file.environment.regions:
        on = touched(file, region)
        if on.any():
            loads[on] += np.array([*region.force, *region.torque]) / np.count_nonzero(on)
    return loads


def voxcad_planes(file: VoxcadFile) -> tuple[Plane, ...]:
    """The floor, if there is one."""
    return (Plane(),) if file.environment.floor_enabled else ()


def touched(file: VoxcadFile, region: BoundaryRegion) -> Array:
    """Which voxels a region touches: a box the cubes it overlaps, others the cubes whose centres are inside, (n,)."""
    shape = np.array(file.grid.shape, dtype=float)
    low = file.grid.voxels / shape
    corner, size = np.array(region.corner), np.array(region.size)
    if region.shape is RegionShape.BOX:
        high = (file.grid.voxels + 1) / shape
        return np.all((high > corner) & (low < corner + size), axis=1)
    offset = (file.grid.voxels + 0.5) - corner * shape  # in voxels, so that all axes have one measure
    radius = region.radius * shape.max()
    if region.shape is RegionShape.SPHERE:
        return np.einsum("ij,ij->i", offset, offset) < radius**2
    if not size.any():
        return np.zeros(len(low), dtype=bool)
    axis = int(np.flatnonzero(size)[0])
    across = np.delete(offset, axis, axis=1)
    along = offset[:, axis]
    return (along > 0) & (along < size[axis] * shape[axis]) & (np.einsum("ij,ij->i", across, across) < radius**2)
