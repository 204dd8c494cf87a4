"""How far the centre of mass of a VoxCAD scene went, from the time the file measures from."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.design.measures import displacement, distance_along_ground


def travel(file: Any, result: Any) -> dict[str, Any] | None:
    """since [s], displacement (3,) [m], distance along the ground [m] and in voxels; None for a run too short."""
    since = file.simulator.measured_from
    if result.frames is None or result.time < since:
        return None
    columns = result.frames.columns
    times, centres = np.asarray(columns["time"]), np.asarray(columns["centre_of_mass"])
    moved = displacement(times, centres, since)
    distance = distance_along_ground(moved)
    return {
        "since": since,
        "displacement": moved.tolist(),
        "distance": distance,
        "distance_in_voxels": distance / file.grid.voxel_size,
    }


def travel_sentence(file: Any, way: dict[str, Any] | None) -> str:
    """The same for people."""
    since = f"{file.simulator.measured_from:g} s"
    if way is None:
        return f"The file measures the way from {since} on, which the run did not reach."
    x, y, z = way["displacement"]
    return (
        f"Since {since} the centre of mass moved by ({x:.4g}, {y:.4g}, {z:.4g}) m: "
        f"{way['distance']:.4g} m along the ground, {way['distance_in_voxels']:.4g} voxels."
    )
