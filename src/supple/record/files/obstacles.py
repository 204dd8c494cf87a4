"""Obstacles in a record: their shapes once, and where they are at each frame.

/supple/obstacles      (n,) bytes: a JSON list of name, kind and the numbers of each shape, see `interaction.obstacles`
/supple/poses          (frames x obstacles, 7): frames that carry them from where they are given, position [m], rotation
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from supple.geometry import SurfaceMesh
from supple.interaction.obstacles import Obstacle
from supple.record.files.rows import GrowingGroup
from supple.record.files.trust import Group, check_dataset, read_all, stored_rows
from supple.scene.system import System

Array = np.ndarray
CHUNK = 256
OWN = {f.name for f in fields(Obstacle)}
SHAPES: dict[str, tuple[str, ...]] = {
    "Plane": ("normal", "offset"),
    "Floor": ("normal", "offset"),
    "Sphere": ("centre", "radius"),
    "Capsule": ("start", "end", "radius"),
    "Box": ("centre", "edges", "rotation"),
    "HeightField": ("heights", "origin", "spacing"),
    "MeshObstacle": ("nodes", "triangles"),
}


class RecordedObstacle(NamedTuple):
    """name; kind: its class; shape: its numbers by their names there, of a mesh nodes and triangles."""

    name: str
    kind: str
    shape: dict[str, Array]


def obstacles_of(system: System) -> list[RecordedObstacle]:
    """The obstacles of the scene whose shapes are known; one of a user's own has none."""
    given = system.scene.obstacles.items() if system.scene is not None else ()
    return [RecordedObstacle(name, o.kind, _shape(o)) for name, o in given if o.kind in SHAPES]


def _shape(obstacle: Obstacle) -> dict[str, Array]:
    values = {f.name: getattr(obstacle, f.name) for f in fields(obstacle) if f.name not in OWN}
    mesh = values.pop("mesh", None)
    if isinstance(mesh, SurfaceMesh):
        values = {"nodes": mesh.nodes, "triangles": mesh.triangles}
    return {name: np.asarray(value) for name, value in values.items()}


def poses_of(system: System, time: float) -> Array:
    """Where the obstacles are, (n, 7)."""
    given = system.scene.obstacles.values() if system.scene is not None else ()
    return np.array([o.pose(time) for o in given if o.kind in SHAPES]).reshape(-1, 7)


def make_obstacles(own: Group, system: System) -> None:
    """The shapes, and an empty table of poses, in the group /supple of a new record."""
    listed = [
        {"name": o.name, "kind": o.kind, **{key: value.tolist() for key, value in o.shape.items()}}
        for o in obstacles_of(system)
    ]
    own.create_dataset("obstacles", data=np.frombuffer(json.dumps(listed).encode(), dtype="u1"))
    own.create_dataset("poses", (0, 7), maxshape=(None, 7), dtype="f8", chunks=(CHUNK, 7))


def append_poses(own: GrowingGroup, first: int, poses: Array) -> None:
    """Add the poses of frames from number `first` on, (k, n, 7)."""
    count, n = poses.shape[:2]
    if n:
        own.extend("poses", first * n, count * n, poses.reshape(-1, 7))


def truncate_poses(own: Group, frames: int) -> None:
    """Keep the poses of the first frames only."""
    rows = frames * len(read_obstacles(own))
    if rows > len(own["poses"]):
        raise ValueError(f"it has {len(own['poses'])} poses of obstacles, its frames {rows}")
    own["poses"].resize(rows, axis=0)


def read_obstacles(own: Group) -> list[RecordedObstacle]:
    """The obstacles of a record."""
    data = read_all(check_dataset(own, "obstacles", "u1", ()))
    try:
        listed = json.loads(data.tobytes())
    except (ValueError, RecursionError) as error:
        raise ValueError("the list of obstacles is not JSON") from error
    if not isinstance(listed, list):
        raise ValueError("the list of obstacles is not a list")
    return [_checked(table) for table in listed]


def _checked(table: Any) -> RecordedObstacle:
    kind = table.get("kind") if isinstance(table, dict) else None
    keys = SHAPES.get(kind) if isinstance(kind, str) else None
    if keys is None or set(table) != {"name", "kind", *keys} or not isinstance(table["name"], str):
        raise ValueError("an obstacle is not a table of name, kind and shape")
    shape = {key: np.array(table[key]) for key in keys}
    if not all(value.dtype.kind in "if" and np.isfinite(value).all() for value in shape.values()):
        raise ValueError(f"the shape of the obstacle '{table['name'][:60]}' is not made of finite numbers")
    return RecordedObstacle(table["name"], str(kind), shape)


def read_poses(own: Group, frame: int, count: int) -> Array:
    """The poses of a frame, (count, 7)."""
    poses = check_dataset(own, "poses", "f8", (7,))
    if (frame + 1) * count > min(len(poses), stored_rows(poses)):
        raise ValueError("the poses of a frame's obstacles are not in the file")
    return np.asarray(poses[frame * count : (frame + 1) * count])
