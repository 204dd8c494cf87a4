"""The robot of a scene: the body of voxels whose place designs take, and what they have of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from supple.bodies.voxel import Actuation, VoxelBody
from supple.errors import InputError, check_instance
from supple.material.voxel import VoxelMaterial
from supple.scene.scene import Scene


def find_robot(scene: Scene, name: str, where: str) -> VoxelBody:
    """The body of voxels of that name."""
    found = next((node for node in scene.nodes if node.name == name), None)
    if found is None:
        raise InputError("the scene has no body of that name, whose place a design could take", where=where,
                         value=name, allowed=", ".join(node.name for node in scene.nodes))  # fmt: skip
    check_instance(found.body, VoxelBody, "a body of voxels", where=f"{where}, body '{name}'")
    assert isinstance(found.body, VoxelBody)
    return found.body


def given_of(robot: VoxelBody, where: str) -> dict[str, Any]:
    """What an `Arena` has of a robot: materials by number, voxel size, sine, and the middle of its underside in its own
    axes."""
    sine = _sine(robot, where)
    corners = robot.grid.voxels.min(axis=0), robot.grid.voxels.max(axis=0) + 1
    foot = (*((corners[0] + corners[1]) / 2)[:2], corners[0][2])
    return {
        "materials": _materials(robot),
        "voxel_size": robot.grid.voxel_size,
        "amplitude": 0.0 if sine is None else sine.amplitude,
        "frequency": 0.0 if sine is None else sine.frequency,
        "place": np.asarray(robot.grid.origin) + robot.grid.voxel_size * np.array(foot, dtype=float),
    }


def with_transverse(made: VoxelBody, transverse: Any) -> VoxelBody:
    """The body of a design, with the strains across axes of the robot whose place it takes."""
    return VoxelBody(made.grid, made.palette, actuation=made.actuation, young=made.young, density=made.density,
                     transverse=transverse)  # fmt: skip


def _materials(robot: VoxelBody) -> dict[int, VoxelMaterial]:
    palette = robot.palette
    if isinstance(palette, VoxelMaterial):
        return {1: palette} | dict.fromkeys(robot.palette_by_number, palette)
    return dict(palette) if isinstance(palette, Mapping) else dict(enumerate(palette, start=1))


def _sine(robot: VoxelBody, where: str) -> Actuation | None:
    given = robot.actuation
    several = [] if given is None else list(given) if isinstance(given, Sequence) else [given]
    if len(several) > 1 or not all(isinstance(one, Actuation) for one in several):
        raise InputError("designs are driven by one sine or by their own controller", where=f"{where}, actuation",
                         fix="Give the robot amplitude and frequency alone.")  # fmt: skip
    return next((one for one in several if isinstance(one, Actuation)), None)
