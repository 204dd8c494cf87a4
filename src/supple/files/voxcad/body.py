"""The body, the held voxels, the loads and the floor of a VoxCAD scene."""

from __future__ import annotations

import numpy as np

from supple.bodies.voxel import Actuation, VoxelBody, touched_by_box, touched_by_cylinder, touched_by_sphere
from supple.errors import InputError
from supple.files.voxcad.record import HELD_ALL, BoundaryRegion, RegionShape, VoxcadFile, check_file
from supple.interaction.obstacles import Floor, Plane

Array = np.ndarray

SMALLEST, LARGEST = 1e-9, 1e6  # edges of voxels [m] whose powers stay within the range of numbers


def voxcad_body(file: VoxcadFile, *, stiffness_by_rest: bool = False) -> VoxelBody:
    """The voxel body of a scene, driven by its temperature; its lowest corner is the origin. stiffness_by_rest: as of
    `VoxelBody`."""
    check_file(file, "voxcad_body")
    size = file.grid.voxel_size
    if not SMALLEST <= size <= LARGEST:
        allowed = f"{SMALLEST:g} to {LARGEST:g} m"
        raise InputError("voxels of this size cannot be simulated", where="Lattice_Dim", value=size, allowed=allowed)
    return VoxelBody(
        file.grid,
        file.palette,
        actuation=_actuation(file),
        young=file.young,
        stiffness_by_rest=stiffness_by_rest,
    )


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
    check_file(file, "voxcad_held")
    regions = [region for region in file.environment.regions if region.held == HELD_ALL]
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(touched(file, region) for region in regions)]))


def voxcad_loads(file: VoxcadFile) -> Array:
    """Forces [N] and torques [N m] on the voxels, (n, 6), for `VoxelBody.advance`."""
    check_file(file, "voxcad_loads")
    loads = np.zeros((file.grid.voxel_count, 6))
    for region in file.environment.regions:
        on = touched(file, region)
        if on.size:
            loads[on] += np.array([*region.force, *region.torque]) / on.size
    return loads


def voxcad_planes(file: VoxcadFile) -> tuple[Plane, ...]:
    """The floor, if there is one: through the origin, rising along x by its slope."""
    check_file(file, "voxcad_planes")
    if not file.environment.floor_enabled:
        return ()
    slope = np.radians(file.environment.floor_slope)
    return (Plane((-np.sin(slope), 0.0, np.cos(slope))) if slope else Floor(),)


def touched(file: VoxcadFile, region: BoundaryRegion) -> Array:
    """Which voxels a region touches: those whose cubes it overlaps."""
    if region.shape is RegionShape.BOX:
        return touched_by_box(file.grid, region.corner, region.size)
    if region.shape is RegionShape.SPHERE:
        return touched_by_sphere(file.grid, region.corner, region.radius)
    if not any(region.size):
        return np.zeros(0, dtype=np.int64)
    axis = int(np.flatnonzero(region.size)[0])
    return touched_by_cylinder(file.grid, region.corner, np.eye(3)[axis] * region.size[axis], region.radius)
