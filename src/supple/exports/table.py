"""Tables: times, energies, momenta and joints of a run as CSV, for programs, and as Markdown, for people."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from supple.record.reader import Trajectory
from supple.scene.joints.readings import JointReading

Array = np.ndarray
AXES = "xyz"


def make_table(trajectory: Trajectory, frames: Sequence[int] | None = None) -> tuple[list[str], Array]:
    """Column titles with units, and the numbers (frames, columns)."""
    columns = trajectory.columns
    titles = ["time [s]", "kinetic [J]", "potential [J]", "total [J]"]
    titles += [f"p_{axis} [kg m/s]" for axis in AXES] + [f"L_{axis} [kg m²/s]" for axis in AXES]
    energies = [columns["kinetic"], columns["potential"], columns["kinetic"] + columns["potential"]]
    values = np.column_stack([columns["time"], *energies, columns["momentum"]])
    chosen = range(len(values)) if frames is None else frames
    readings = [trajectory.joints(frame) for frame in chosen]
    joints = readings[0] if readings else {}
    titles += [f"{name} {title}" for name, joint in joints.items() for title in _joint_titles(joint)]
    rows = [[number for joint in read.values() for number in _joint_numbers(joint)] for read in readings]
    return titles, np.hstack([values[list(chosen)], np.array(rows, dtype=float).reshape(len(readings), -1)])


def _joint_titles(joint: JointReading) -> list[str]:
    titles = [f"F_{axis} [N]" for axis in AXES] + [f"M_{axis} [N m]" for axis in AXES]
    if joint.measures == "angle":
        titles += ["angle [rad]", "speed [rad/s]", "motor torque [N m]", "motor power [W]", "limit"]
    elif joint.measures == "displacement":
        titles += ["displacement [m]", "speed [m/s]", "motor force [N]", "motor power [W]", "limit"]
    return titles


def _joint_numbers(joint: JointReading) -> list[float]:
    """In the order of the titles; force and moment on the first side."""
    numbers = [*joint.force, *joint.moment]
    if joint.measures:
        numbers += [joint.value, joint.speed, joint.motor, joint.power, float(joint.limit)]
    return [float(number) for number in numbers]


def save_csv(trajectory: Trajectory, path: Path, frames: Sequence[int] | None = None) -> None:
    """Comma-separated, numbers that read back exactly."""
    write_csv(path, *make_table(trajectory, frames))


def write_csv(path: Path, titles: list[str], values: Array) -> None:
    """Titles and numbers (rows, columns) that read back exactly."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(titles)
        writer.writerows([repr(float(value)) for value in row] for row in values)


def save_markdown(trajectory: Trajectory, path: Path, frames: Sequence[int] | None = None) -> None:
    """A table with six digits."""
    write_markdown(path, *make_table(trajectory, frames))


def write_markdown(path: Path, titles: list[str], values: Array) -> None:
    """Titles and numbers (rows, columns) with six digits."""
    lines = ["| " + " | ".join(titles) + " |", "|" + "---:|" * len(titles)]
    lines += ["| " + " | ".join(f"{value:.6g}" for value in row) + " |" for row in values]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
