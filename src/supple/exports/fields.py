"""Fields on the surfaces of a run, from its recorded frames, and their colours on a scale.

    speed    [m/s]   |x(t+) - x(t-)| / (t+ - t-)      between the frames before and after
    strain   [-]     the largest principal value, by its size, of E = (F^T F - I) / 2 in the plane of a triangle, since
                     the first frame; at a point the mean over its triangles by their area; of springs |l / l0 - 1|
    stress   [Pa]    von Mises', as it was recorded, of runs with fields=["stress"]

The record holds surfaces in single precision: strains below 1e-5 are round-off. Strain is that of the surface, which of
a solid without load on its skin is the strain along it. Inside a body, use `body.stress`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.errors import InputError
from supple.exports.view import INK
from supple.geometry.surfaces.strain import strain_at_points
from supple.record.fields import STRESS
from supple.record.reader import Trajectory

Array = np.ndarray
MAP = "viridis"
HIGHEST = 99.5
"""Percentile of a field's values, of the body and moment where it is largest, at which its scale ends."""


def speed(trajectory: Trajectory, body: str, frame: int) -> Array:
    """Of the points of a body, (n,) [m/s]."""
    times = trajectory.times
    before, after = max(frame - 1, 0), min(frame + 1, len(times) - 1)
    ends = (trajectory.points(body, k).astype(float) for k in (before, after))
    start, end = ends
    return np.asarray(np.linalg.norm(end - start, axis=1) / ((times[after] - times[before]) or 1.0))


def strain(trajectory: Trajectory, body: str, frame: int) -> Array:
    """At the points of a body, (n,) [-], since the first frame."""
    X, x = (trajectory.points(body, k).astype(float) for k in (0, frame))
    return strain_at_points(X, x, trajectory.triangles(body), trajectory.lines(body))


def stress(trajectory: Trajectory, body: str, frame: int) -> Array:
    """Von Mises' at the points of a body, (n,) [Pa], as it was recorded; zero of bodies that have none."""
    if STRESS not in trajectory.fields:
        raise InputError(
            "the record holds no stress",
            where="export, colour",
            value="stress",
            allowed="runs with out= and fields=['stress']",
            fix="Run again with fields=['stress'], or `supple run --field stress`.",
        )
    found = trajectory.field(body, STRESS, frame)
    return np.zeros(len(trajectory.points(body, frame))) if found is None else found.astype(float)


FIELDS: dict[str, tuple[str, Callable[[Trajectory, str, int], Array]]] = {
    "speed": ("m/s", speed),
    "strain": ("-", strain),
    STRESS: ("Pa", stress),
}
"""Unit and function of each field."""


def _rounded_up(value: float) -> float:
    """To two digits.

    >>> _rounded_up(0.0976), _rounded_up(7.95), _rounded_up(0.0)
    (0.098, 8.0, 0.0)
    """
    if value <= 0:
        return 0.0
    digits = 1 - int(np.floor(np.log10(value)))
    return round(float(np.ceil(value * 10.0**digits) / 10.0**digits), max(digits, 0))


def check_field(name: str) -> None:
    """Refuse what is no field."""
    if not isinstance(name, str) or name not in FIELDS:
        raise InputError("no field of that name", where="export, colour", value=name, allowed=", ".join(FIELDS))


@dataclass(frozen=True, eq=False)
class Colouring:
    """A field of a run as colours, dark where it is 0, bright at `highest` and beyond."""

    trajectory: Trajectory
    field: str
    highest: float

    @classmethod
    def of(cls, trajectory: Trajectory, field: str, frames: Sequence[int]) -> Colouring:
        """With a scale that fits some frames."""
        check_field(field)
        _, measure = FIELDS[field]
        tops = [np.percentile(measure(trajectory, b, k), HIGHEST) for b in trajectory.body_names for k in frames]
        return cls(trajectory, field, _rounded_up(float(max(tops))))

    def __call__(self, body: str, frame: int) -> Array:
        """Colours of the points of a body, (n, 3)."""
        from matplotlib import colormaps

        values = FIELDS[self.field][1](self.trajectory, body, frame)
        return np.asarray(colormaps[MAP](np.clip(values / (self.highest or 1.0), 0.0, 1.0))[:, :3])

    def draw_scale(self, figure: Any, place: tuple[float, float, float, float]) -> None:
        """A bar with the ends of the scale at a place of a figure."""
        axes = figure.add_axes(place)
        axes.imshow(np.linspace(0, 1, 256)[None], aspect="auto", cmap=MAP, extent=(0, 1, 0, 1))
        axes.set_yticks([])
        axes.set_xticks([0, 0.5, 1], [f"{f * self.highest:.3g}" for f in (0, 0.5, 1)])
        axes.tick_params(labelsize=7.5, colors=INK, length=2, pad=1.5)
        axes.set_title(f"{self.field} [{FIELDS[self.field][0]}]", fontsize=8.5, color=INK, pad=3)
        for spine in axes.spines.values():
            spine.set_visible(False)
