"""Fields of bodies as bytes, from which the page makes colours: a byte a point, or one a domain where that is enough.

    speed    [m/s]    of the points of the surface
    strain   [-]      of the surface along itself
    stress   [Pa]     von Mises', of bodies made of elements

A byte is 254 times the value over the end of the scale; 255 says that the body has no such field.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import KDTree

from supple.bodies.carried import carriage_of
from supple.canvas.shapes import CarriedShape, Shape
from supple.record.fields import STRAIN, STRESS, VELOCITY, Measure, fields_of
from supple.record.surfaces import Surface
from supple.scene.state import State
from supple.studio.looks.colour_scale import ColourScale

Array = np.ndarray
UNITS = {"speed": "m/s", "strain": "-", "stress": "Pa"}
LEAST = {"speed": 1e-3, "strain": 1e-5, "stress": 1.0}
"""Ends of scales are not below these: what is smaller is round-off to the eye."""
SOURCE = {"speed": VELOCITY, "strain": STRAIN, "stress": STRESS}
HIGHEST = 99.5
"""Percentile of the values of a body that are shown at which a scale ends."""
TOP, NONE = 254, 255
BUDGET = 60_000
"""Points of all bodies that have a byte each; of more, only the selected body's have."""


@dataclass(frozen=True, eq=False)
class Tint:
    """values: bytes of the points of a shape ("point"), of its domains ("domain"), or one of all ("all")."""

    name: str
    per: str
    values: Array


@dataclass
class FieldColours:
    """Of surfaces, and the shapes by which they are drawn."""

    surfaces: list[Surface]
    shapes: list[Shape]
    scales: dict[str, ColourScale] = field(default_factory=dict)
    measures: dict[str, list[Measure | None]] = field(default_factory=dict)
    drawn: dict[int, Array] = field(default_factory=dict)

    def tints(self, name: str, state: State, selected: str, now: float) -> tuple[list[Tint], float]:
        """Of all bodies at a state, and the end of the scale, which is that of what is shown: of means, where these are
        shown. name: of the field; now: wall time [s]."""
        found = [None if measure is None else values_of(measure, state) for measure in self._measures(name)]
        few = sum(surface.point_count for surface in self.surfaces) <= BUDGET
        shown = []
        for number, (surface, shape, values) in enumerate(zip(self.surfaces, self.shapes, found)):
            if values is not None and isinstance(shape, CarriedShape):
                values = values[self._drawn(number, shape, state)]
            shown.append(_shared_out(shape, values, is_fine=surface.name == selected, few=few))
        tops = [float(np.percentile(values, HIGHEST)) for _, values in shown if values is not None]
        highest = self.scales.setdefault(name, ColourScale(LEAST[name])).follow(max(tops, default=0.0), now)
        tints = [
            Tint(surface.name, per, as_bytes(values, highest)) for surface, (per, values) in zip(self.surfaces, shown)
        ]
        return tints, highest

    def _measures(self, name: str) -> list[Measure | None]:
        """How the field of each surface is found, made when it is first asked for."""
        if name not in self.measures:
            source = SOURCE[name]
            self.measures[name] = [fields_of(s.slot, s.shown, (source,)).get(source) for s in self.surfaces]
        return self.measures[name]

    def _drawn(self, number: int, shape: CarriedShape, state: State) -> Array:
        """Which point of its surface each point is that a carried shape is drawn by: where domains carry a point
        together, it is drawn by several."""
        if number not in self.drawn:
            surface = self.surfaces[number]
            points = shape.carriers.positions(carriage_of(surface.shown, surface.slot.view_x(state.x)))
            self.drawn[number] = KDTree(surface.points(state)).query(points)[1]
        return self.drawn[number]


def values_of(measure: Measure, state: State) -> Array:
    """Of the points of a surface, (n,); of vectors their lengths."""
    values = measure(state)
    return np.asarray(np.linalg.norm(values, axis=1) if values.ndim == 2 else values)


def _shared_out(shape: Shape, values: Array | None, *, is_fine: bool, few: bool) -> tuple[str, Array | None]:
    """What a shape's colours are of, and the values: of points, or means of domains or of all."""
    if values is None or not len(values):
        return "all", None
    is_carried = isinstance(shape, CarriedShape)
    if is_fine or (few and not is_carried):
        return "point", values
    if isinstance(shape, CarriedShape):
        starts = shape.carriers.starts
        return "domain", np.add.reduceat(values, starts[:-1]) / np.maximum(np.diff(starts), 1)
    return "all", values.mean(keepdims=True)


def as_bytes(values: Array | None, highest: float) -> Array:
    """Over the end of a scale.

    >>> as_bytes(np.array([0.0, 1.0, 5.0]), 2.0)
    array([  0, 127, 254], dtype=uint8)
    """
    if values is None:
        return np.array([NONE], dtype=np.uint8)
    shares = np.nan_to_num(values / highest, nan=0.0, posinf=1.0, neginf=0.0)
    return np.rint(TOP * np.clip(shares, 0.0, 1.0)).astype(np.uint8)
