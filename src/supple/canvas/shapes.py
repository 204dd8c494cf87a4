"""Shapes: what the canvas draws of bodies and obstacles, in two forms.

    carried    x = sum_k w_k (o + s R (X + U q))_k     a frame and coordinates of each domain are sent, points are made
                                                       in the vertex shader
    points     x                                       all points are sent

A shape says what is the same at all times; a row of numbers a frame says where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from supple.bodies.carried import CarriedKind, Carriers
from supple.bodies.surfaces import no_cells

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class PointsShape:
    """count: of points; triangles (t, 3), lines (l, 2) between them; is_balls: whether the points are drawn, as balls.
    colours: red, green, blue, 0 to 1, of each triangle (t, 3) or of all (1, 3)."""

    name: str
    kind: str
    count: int
    colours: Array
    triangles: Array = field(default_factory=lambda: no_cells(3))
    lines: Array = field(default_factory=lambda: no_cells(2))
    is_balls: bool = False


@dataclass(frozen=True, eq=False)
class CarriedShape:
    """carriers: domains and what hangs on them. colours: red, green, blue, 0 to 1, of each domain (d, 3) or of all
    (1, 3). parents (d,): numbers of the domains that domains hang on, -1: on none; None: they do not."""

    name: str
    kind: str
    carriers: Carriers
    colours: Array
    parents: Array | None = None

    @property
    def domain_count(self) -> int:
        """Number of domains."""
        return len(self.carriers.kind)

    @cached_property
    def modes(self) -> Array:
        """Coordinates of each kind, (kinds,)."""
        return np.array([k.U.shape[2] for k in self.carriers.kinds], dtype=np.int64)

    @cached_property
    def scale_count(self) -> int:
        """Modes of all kinds together."""
        return int(self.modes.sum())

    @cached_property
    def scale_places(self) -> Array:
        """Of each coordinate of all domains, which of the scales is its own: one a mode of a kind, (coordinates,)."""
        starts = np.concatenate([[0], np.cumsum(self.modes)])
        parts = [starts[k] + np.arange(self.modes[k]) for k in self.carriers.kind]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


Shape = PointsShape | CarriedShape


def rigid_shape(name: str, kind: str, nodes: Array, triangles: Array, colours: Array) -> CarriedShape:
    """A surface (n, 3) [m] with triangles (t, 3) that a frame carries as it is. colours (1, 3)."""
    none, X = np.zeros(0, dtype=np.int64), np.asarray(nodes, dtype=float)
    only = CarriedKind(X, np.zeros((len(X), 3, 0)), np.asarray(triangles, dtype=np.int64))
    zero = np.zeros(1, dtype=np.int64)
    return CarriedShape(name, kind, Carriers((only,), zero, np.ones(1), none, zero, none), colours)
