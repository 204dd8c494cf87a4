"""Joints in a record: what each of them did at each frame.

/supple/joints         names, bodies and what is measured of each joint (attribute `joints`)
  values               (frames x joints, 14): place [m], force [N] and moment [N m] on the first side, value (angle
                       [rad] or displacement [m]), speed, torque [N m] or force [N] and power [W] of the motor, limit

Each frame has a row for every joint, in the order of the names; see `JointReading`. A joint that comes while it runs
gets its rows in earlier frames too; they are not numbers where a joint is not there.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from supple.record.files.rows import GrowingGroup
from supple.record.files.trust import Group, check_dataset, check_group, plain_json, stored_rows
from supple.scene.joints.readings import JointReading
from supple.scene.system import System

Array = np.ndarray
WIDTH = 14
CHUNK = 256
KEYS = {"name", "bodies", "measures"}


def make_joints(own: Group, system: System) -> None:
    """The empty table in the group /supple of a new record."""
    group = own.create_group("joints")
    listed = [
        {"name": j.name, "bodies": j.bodies, "measures": "" if j.coordinate is None else j.coordinate.name}
        for j in system.measured_joints
    ]
    group.attrs["joints"] = json.dumps(listed)
    group.create_dataset("values", (0, WIDTH), maxshape=(None, WIDTH), dtype="f8", chunks=(CHUNK, WIDTH))


def append_joints(table: GrowingGroup, first: int, frames: list[dict[str, JointReading]]) -> None:
    """Add the joints of frames from number `first` on."""
    group = table.group
    listed = _listed(group)
    known = [joint["name"] for joint in listed]
    readings = {name: reading for found in frames for name, reading in found.items()}
    if new := [name for name in readings if name not in known]:
        added = [{"name": n, "bodies": readings[n].bodies, "measures": readings[n].measures} for n in new]
        _widen(group, first, listed, added)
        known += new
    if known:
        gone = [np.nan] * WIDTH
        rows = [_row(found[name]) if name in found else gone for found in frames for name in known]
        table.extend("values", first * len(known), len(rows), rows)


def _row(r: JointReading) -> list[float]:
    return [*r.place, *r.force, *r.moment, r.value, r.speed, r.motor, r.power, float(r.limit)]


def _widen(group: Group, frames: int, listed: list[dict[str, Any]], added: list[dict[str, Any]]) -> None:
    """Give more joints their rows in the frames that are there."""
    old = group["values"][: frames * len(listed)].reshape(frames, len(listed), WIDTH)
    values = np.concatenate([old, np.full((frames, len(added), WIDTH), np.nan)], axis=1).reshape(-1, WIDTH)
    group["values"].resize(len(values), axis=0)
    group["values"][:] = values
    group.attrs["joints"] = json.dumps(listed + added)


def joint_bytes(joints: int, added: int, first: int, count: int) -> int:
    """So many joints in `count` frames from number `first` on take no more: chunks that may be begun, and in earlier
    frames the rows of those that were added."""
    return 8 * WIDTH * (joints * count + added * first + 2 * CHUNK) if joints else 0


def joint_names(group: Group) -> set[str]:
    """The joints that a record knows."""
    return {str(joint["name"]) for joint in _listed(group)}


def truncate_joints(group: Group, frames: int) -> None:
    """Keep the joints of the first frames only."""
    rows = frames * len(_listed(group))
    if rows > len(group["values"]):
        raise ValueError(f"it has {len(group['values'])} rows of joints, its frames {rows}")
    group["values"].resize(rows, axis=0)


def read_joints(own: Group, frame: int) -> dict[str, JointReading]:
    """The joints of a frame, by name."""
    group = check_group(own, "joints")
    listed, values = _listed(group), check_dataset(group, "values", "f8", (WIDTH,))
    start, stop = frame * len(listed), (frame + 1) * len(listed)
    if stop > min(len(values), stored_rows(values)):
        raise ValueError("the joints of a frame are not in the file")
    rows = zip(listed, values[start:stop])
    return {str(joint["name"]): _reading(joint, row) for joint, row in rows if not np.isnan(row[0])}


def _reading(joint: dict[str, Any], row: Array) -> JointReading:
    a, b = joint["bodies"]
    value, speed, motor, power, limit = row[9:].tolist()
    limit = int(np.sign(limit)) if np.isfinite(limit) else 0
    return JointReading((a, b), row[:3], row[3:6], row[6:9], joint["measures"], value, speed, motor, power, limit)


def _listed(group: Group) -> list[dict[str, Any]]:
    listed = plain_json(group.attrs.get("joints"), "the list of joints")
    if not isinstance(listed, list) or not all(_is_joint(joint) for joint in listed):
        raise ValueError("the list of joints is not one of tables with name, bodies and measures")
    return listed


def _is_joint(joint: Any) -> bool:
    return (
        isinstance(joint, dict)
        and set(joint) == KEYS
        and isinstance(joint["name"], str)
        and joint["measures"] in ("", "angle", "displacement")
        and isinstance(joint["bodies"], list)
        and len(joint["bodies"]) == 2
        and all(isinstance(name, str) for name in joint["bodies"])
    )
