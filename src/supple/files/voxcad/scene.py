"""A VoxCAD file as a scene: its body on its floor, held, moved, loaded and driven as the file says.

Regions hold, move and load the voxels they touch: those that hold all six coordinates first, in the order of the file,
then those that hold some, on voxels that are not held altogether. Forces and torques are shared equally by all voxels
touched, and act from the start on; displacements grow smoothly within a time, since a jump would tear a lattice apart.
"""

from __future__ import annotations

import re
from collections import Counter
from math import ceil
from typing import Any

import numpy as np

from supple.contact import Contact, Plane
from supple.files.voxcad.body import touched, voxcad_body, voxcad_planes
from supple.files.voxcad.record import CONDITIONS, HELD_ALL, BoundaryRegion, VoxcadFile, check_file
from supple.files.voxcad.stop import stop_test
from supple.files.voxcad.xml import step_of
from supple.scene import FixedAxes, FixedPoints, Node, PrescribedMotion, RampInTime, Scene, Wrench
from supple.solvers import LatticeSolver

Array = np.ndarray
RAMP = 0.1  # time in which displacements grow [s]
BODY = "robot"
FRAMES, STRIDES = 30, 10  # frames a second, and strides a frame, at least
MAX_STRIDES = 40
NEAR = 1e-5  # time between a frame and the time to measure from [s] in which no robot moves to speak of
SHORTEST, LONGEST = 1 / 300, 1e6  # times to measure from [s] outside do not set the frames


def voxcad_scene(
    file: VoxcadFile, *, name: str = "voxcad", ramp: float = RAMP, stiffness_by_rest: bool = False
) -> Scene:
    """The scene of a file, with a body called "robot". ramp: time in which displaced regions reach their place [s].
    stiffness_by_rest: of links as in Voxelyze, see `VoxelBody`.

    >>> import numpy as np
    >>> from supple.files.voxcad.load import VoxcadEnvironment, VoxcadFile
    >>> from supple.geometry import VoxelGrid
    >>> from supple.material.voxel import VoxelMaterial
    >>> soft = VoxelMaterial(young=1e6, density=1000)
    >>> around = VoxcadEnvironment(gravity_enabled=True, floor_enabled=True)
    >>> grid = VoxelGrid(np.ones((4, 2, 2), dtype=int), 0.01)
    >>> scene = voxcad_scene(VoxcadFile(grid, (soft,), environment=around))
    >>> scene.gravity.tolist(), len(scene.obstacles)
    ([0.0, 0.0, -9.81], 1)
    """
    check_file(file, "voxcad_scene")
    solver = LatticeSolver(
        dt=stride(file),
    )
    scene = Scene(gravity=file.environment.gravity, solver=solver, name=name)
    node = scene.add(voxcad_body(file, stiffness_by_rest=stiffness_by_rest), name=BODY)
    for plane in voxcad_planes(file):
        scene.add(plane)
    if file.simulator.self_collision:
        scene.add(Contact(self_contact=[node]))
    regions = [(region, touched(file, region)) for region in file.environment.regions]
    held = np.zeros(0, dtype=np.int64)
    for region, on in regions:
        if region.held == HELD_ALL:
            _hold(scene, node, region, np.setdiff1d(on, held), ramp)
            held = np.union1d(held, on)
    for region, on in regions:
        if region.held != HELD_ALL:
            _hold(scene, node, region, np.setdiff1d(on, held), ramp)
    for region, on in regions:
        if on.size and any((*region.force, *region.torque)):
            scene.add(Wrench(node, on, region.force, region.torque))
    return scene


def _hold(scene: Scene, node: Node, region: BoundaryRegion, on: Any, ramp: float) -> None:
    """Hold or move voxels."""
    if not on.size or not region.axes:
        return
    if region.moves:
        moves = {"displacement": region.displacement, "rotation": region.rotation}
        scene.add(PrescribedMotion(node, on, **{k: RampInTime(v, ramp) for k, v in moves.items() if any(v)}))
    elif region.axes == "xyz":
        scene.add(FixedPoints(node, on, rotation=region.holds_rotation))
    else:
        scene.add(FixedAxes(node, on, region.axes, rotation=region.holds_rotation))


def frame_interval(file: VoxcadFile) -> float:
    """Time between frames [s], such that one falls on the time to measure from, or else on the end; see `stride`."""
    return _frames(file)[0]


def stride(file: VoxcadFile) -> float:
    """Time of a step [s]: whole numbers of it make the time between frames and, where it is known, the end."""
    frame, count = _frames(file)
    return frame / count


def _frames(file: VoxcadFile) -> tuple[float, int]:
    """Time between frames [s], and strides in it.

    Both the time to measure from and the end are to be whole strides: the fewest strides a frame are taken that bring
    the first within `NEAR` of a frame where the second is met exactly, or else those that bring it nearest.
    """
    start, end = file.simulator.measured_from, file.stop_time or 0.0
    ends = 0 < end < LONGEST
    if not SHORTEST <= start < LONGEST or (ends and end <= start):
        return end / ceil(FRAMES * end) if ends else 1 / FRAMES, STRIDES
    frame = start / ceil(FRAMES * start)
    if not ends:
        return frame, STRIDES
    best = (start, frame, STRIDES)
    for count in range(STRIDES, MAX_STRIDES + 1):
        exact = end * count / round(end * count / frame)  # the end is a whole number of strides
        off = start * abs(1 - exact / frame)
        if off < best[0]:
            best = (off, exact, count)
        if off <= NEAR:
            break
    return best[1:]


def voxcad_settings(file: VoxcadFile) -> dict[str, Any]:
    """What a file says about running it, as arguments of `run`: until, where it is a time, record_every, on_step."""
    check_file(file, "voxcad_settings")
    settings: dict[str, Any] = {"record_every": frame_interval(file)}
    if file.stop_time is not None:
        settings["until"] = file.stop_time
    test = stop_test(file)
    return settings if test is None else settings | {"on_step": test}


def voxcad_notes(file: VoxcadFile, *, ramp: float = RAMP) -> list[str]:
    """What a person should know before a run, in sentences: tags without effect, and rules of our own."""
    check_file(file, "voxcad_notes")
    notes = []
    if file.unsupported:
        notes.append(f"These tags change nothing here: {', '.join(collapsed(file.unsupported))}.")
    regions = file.environment.regions
    empty = [k for k, region in enumerate(regions, start=1) if not touched(file, region).size]
    if empty:
        names = ", ".join(f"{CONDITIONS}/{step_of('FRegion', k, len(regions))}" for k in empty)
        notes.append(f"These regions touch no voxel: {names}.")
    below = np.count_nonzero([_sunk(file, plane) for plane in voxcad_planes(file)])
    if below:
        notes.append(f"{below} voxels start below the floor by more than 1 % of their size, and are pushed out of it.")
    if any(region.moves for region in regions):
        notes.append(f"Displacements grow smoothly within {ramp:g} s.")
    notes.append("The time step is our own, the largest that is stable; DtFrac is not applied.")
    return notes


def _sunk(file: VoxcadFile, plane: Plane) -> Array:
    """Which voxels start below a plane, (n,)."""
    size = file.grid.voxel_size
    return np.asarray(file.grid.voxel_centres @ np.asarray(plane.normal) - plane.offset < 0.49 * size)


def collapsed(paths: tuple[str, ...]) -> list[str]:
    """Paths in their order; those that differ in their numbers alone as one, with `[*]` and how many there are."""
    alike = Counter(re.sub(r"\[\d+\]", "[*]", path) for path in paths)
    first = {re.sub(r"\[\d+\]", "[*]", path): path for path in reversed(paths)}
    return [first[path] if count == 1 else f"{path} ({count})" for path, count in alike.items()]
