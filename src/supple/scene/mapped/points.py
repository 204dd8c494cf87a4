"""Point sets: what forces, joints and observers attach to. Recipes only; `supple.scene.compile` makes them run.

A point set is made from a node (`node.points("x_max")`), from the world (`World.points(...)`), from several point sets
(`join`), or by a mapping written by a user.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_array
from supple.bodies.mappings import WeightedPoints
from supple.bodies.protocols import Mapping
from supple.errors import InputError, check_instance

if TYPE_CHECKING:
    from supple.scene.node import Node

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points of a parent (a node or another point set) through a mapping; mapping None: the parent's own points.

    taken: how they were taken from a node, as plain values: numbers, or local places [m]; None: in another way.
    """

    parent: Node | PointSet | JoinedPoints | WorldPoints
    mapping: Mapping | None
    rest: Array
    label: str
    taken: dict[str, Any] | None = None

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.rest)

    def subset(self, indices: ArrayLike) -> PointSet:
        """Some of these points."""
        mapping = WeightedPoints.subset(indices, self.count)
        return PointSet(self, mapping, mapping.apply(self.rest), f"{self.label}[...]")

    def centroid(self) -> PointSet:
        """The mean of these points, as one point that pulls on all of them."""
        n = self.count
        mapping = WeightedPoints.barycentric(np.arange(n)[None], np.full((1, n), 1 / n), n)
        return PointSet(self, mapping, mapping.apply(self.rest), f"centroid of {self.label}")

    def mapped(self, mapping: Mapping, *, label: str = "mapped points") -> PointSet:
        """Points that follow these by a mapping of the user's own."""
        return PointSet(self, mapping, np.asarray(mapping.apply(self.rest)), label)


@dataclass(frozen=True, eq=False)
class WorldPoints:
    """Points that no force moves, rest (count, 3) [m]. moves: whether changes of a running system move them, in place;
    they belong to it alone then."""

    rest: Array
    label: str = "world"
    moves: bool = False

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.rest)


@dataclass(frozen=True, eq=False)
class JoinedPoints:
    """Points of several parents, one after another."""

    parts: tuple[PointSet | WorldPoints | JoinedPoints, ...]

    @property
    def rest(self) -> Array:
        """World positions at the start, (count, 3) [m]."""
        return np.concatenate([part.rest for part in self.parts])

    @property
    def count(self) -> int:
        """Number of points."""
        return sum(part.count for part in self.parts)

    @property
    def label(self) -> str:
        """The names of the parts."""
        return " + ".join(dict.fromkeys(part.label for part in self.parts))

    def combined(self, weights: ArrayLike, *, label: str = "combined points") -> PointSet:
        """Points that are weighted sums of points of several bodies: weights (count, self.count)."""
        import scipy.sparse as sparse

        mapping = WeightedPoints(sparse.csr_array(np.atleast_2d(np.asarray(weights, dtype=float))))
        return PointSet(self, mapping, mapping.apply(self.rest), label)


Points = PointSet | WorldPoints | JoinedPoints


def check_points(value: object, where: str) -> None:
    """Refuse what is no point set."""
    fix = "Give node.points(...), World.points(...) or a join of them."
    check_instance(value, (PointSet, WorldPoints, JoinedPoints), "a set of points", where=where, fix=fix)


def join(*parts: Points) -> JoinedPoints:
    """Points of several bodies as one set."""
    if not parts:
        raise InputError("there are no points to join", where="join", fix="Give point sets, one after another.")
    for part in parts:
        check_points(part, "join")
    return JoinedPoints(tuple(parts))


class World:
    """The world at rest, as something to attach to."""

    name = "world"

    @staticmethod
    def points(at: ArrayLike) -> WorldPoints:
        """Fixed points at world positions (n, 3) or (3,) [m]."""
        x = np.atleast_2d(check_array(at, name="a place", where="World.points"))
        if x.shape[1] != 3 or not np.isfinite(x).all():
            raise InputError("points in the world are not (n, 3) finite numbers", value=np.shape(at))
        return WorldPoints(x)
