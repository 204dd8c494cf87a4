"""Tables: times, energies and momenta of a run as CSV, for programs, and as Markdown, for people."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from supple.record.reader import Trajectory

Array = np.ndarray
AXES = "xyz"


def make_table(trajectory: Trajectory, frames: Sequence[int] | None = None) -> tuple[list[str], Array]:
    """Column titles with units, and the numbers (frames, columns)."""
    columns = trajectory.columns
    titles = ["time [s]", "kinetic [J]", "potential [J]", "total [J]"]
    titles += [f"p_{axis} [kg m/s]" for axis in AXES] + [f"L_{axis} [kg m²/s]" for axis in AXES]
    energies = [columns["kinetic"], columns["potential"], columns["kinetic"] + columns["potential"]]
    values = np.column_stack([columns["time"], *energies, columns["momentum"]])
    return titles, values if frames is None else values[list(frames)]


def save_csv(trajectory: Trajectory, path: Path, frames: Sequence[int] | None = None) -> None:
    """Comma-separated, numbers that read back exactly."""
    titles, values = make_table(trajectory, frames)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(titles)
        writer.writerows([repr(float(value)) for value in row] for row in values)


def save_markdown(trajectory: Trajectory, path: Path, frames: Sequence[int] | None = None) -> None:
    """A table with six digits."""
    titles, values = make_table(trajectory, frames)
    lines = ["| " + " | ".join(titles) + " |", "|" + "---:|" * len(titles)]
    lines += ["| " + " | ".join(f"{value:.6g}" for value in row) + " |" for row in values]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
