"""Nodes: the tree a person writes. A node holds a body in its place, or groups others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_array
from supple.bodies.body_protocol import Body, Surface
from supple.bodies.capabilities import Dragging, Framed, Holding, Patched
from supple.bodies.placement import Placement
from supple.bodies.selecting import check_numbers
from supple.bodies.surfaces import NumberedSurface
from supple.errors import InputError
from supple.scene.mapped.points import PointSet

Array = np.ndarray
Selector = str | Sequence[int] | Array | Callable[[Array], Array] | None


@dataclass(eq=False)
class Node:
    """A place in the tree. body: of any kind that keeps `supple.bodies.body_protocol.Body`, or None for a group.
    colour: "#rrggbb" of the whole body in pictures; None: those of its materials."""

    name: str
    body: Body | None = None
    placement: Placement = field(default_factory=Placement)
    children: list[Node] = field(default_factory=list)
    colour: str | None = None
    _placed: tuple[Body, Placement, Array] | None = field(default=None, init=False, repr=False)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, top down."""
        waiting = [self]
        while waiting:  # no recursion: groups may be nested as deeply as a file says
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    @property
    def whole(self) -> Node:
        """The node of the scene that its points belong to: itself."""
        return self

    @property
    def held_body(self) -> Body:
        """The body; an InputError for a group."""
        if self.body is None:
            raise InputError("a group has no points of its own", where=f"node '{self.name}'")
        return self.body

    @property
    def is_frame(self) -> bool:
        """Whether one frame carries the body."""
        return isinstance(self.body, Framed)

    @property
    def origin(self) -> Array:
        """World position of the body's frame at the start, (3,) [m]; of a body without one, where it was put."""
        if not isinstance(self.body, Framed):
            return self.placement.at
        return np.asarray(self.placement.apply(self.body.frame_origin()[None])[0])

    @property
    def rest(self) -> Array:
        """World positions at the start of the body's points (nodes, particles, surface of a rigid body), (n, 3) [m].
        They are kept, not to be written to: a change of a running scene asks for all of them, of an oak half a million.
        """
        body, placement = self.held_body, self.placement
        if self._placed is None or self._placed[0] is not body or self._placed[1] is not placement:
            rest = placement.apply(body.rest_points)
            rest.setflags(write=False)
            self._placed = body, placement, rest
        return self._placed[2]

    def points(
        self, selector: Selector = None, *, at: ArrayLike | None = None, local: ArrayLike | None = None
    ) -> PointSet:
        """Points of the body to attach to.

        selector: a region's name ("x_max"), point numbers, a predicate on world positions, or None for all.
        at: world positions at the start (n, 3) [m], embedded in the body; a tree takes its nearest surface points.
        local: the same in the body's own axes.
        """
        body = self.held_body
        with self._named():
            if local is not None:
                return self._embedded(_places(local, "local"))
            if at is not None:
                return self._embedded(self.to_local(_places(at, "at")))
            if selector is None:
                mapping = body.point_mapping(None)
                label = self.name if mapping is None else f"{self.name}[...]"
                return PointSet(self.whole, mapping, self.rest, label, {})
        label = f"{self.name}.{selector}" if isinstance(selector, str) else f"{self.name}[...]"
        return self.numbered_points(self.indices(selector), label)

    def numbered_points(self, numbers: Array, label: str) -> PointSet:
        """Points of the body of these numbers (k,)."""
        with self._named():
            mapping = self.held_body.point_mapping(numbers)
        return PointSet(self.whole, mapping, self.rest[numbers], label, {"numbers": np.asarray(numbers)})

    def patch_points(self, numbers: Array) -> PointSet:
        """Points of these numbers (k,) that carry a frame together; of a body of small bodies, those around them."""
        if not isinstance(self.body, Patched):
            return self.points(numbers)
        mapping, local = self.body.patch_points(numbers)
        return PointSet(self.whole, mapping, self.placement.apply(local), f"{self.name} patch points")

    def held_points(self, at: Array) -> PointSet:
        """Points at world positions (n, 3) [m] held fast to the place of the first, which turn with it: for joints."""
        if not isinstance(self.body, Holding):
            return self.points(at=at)
        local = self.to_local(at)
        return PointSet(self.whole, self.body.held_mapping(local[0], local), at, f"{self.name} points")

    def indices(self, selector: Selector) -> Array:
        """Numbers of the body's points that a selector names: a region's name, numbers, None for all, or a predicate,
        which sees world positions at the start, where the body has been placed."""
        rest = self.rest
        if selector is None:
            return np.arange(len(rest))
        with self._named():
            if callable(selector):
                return check_numbers(np.flatnonzero(selector(rest.copy())), len(rest))
            return self.held_body.point_numbers(selector)

    def coordinate_rows(self, selector: Selector) -> Array:
        """Which rows of its coordinates a selector names; a body with one frame has one row."""
        return np.zeros(1, dtype=np.int64) if self.is_frame else self.indices(selector)

    def row_starts(self, selector: Selector) -> Array:
        """World positions (k, 3) [m] at the start of `coordinate_rows`."""
        return self.origin[None] if self.is_frame else self.rest[self.indices(selector)]

    def contact_surface(self) -> Surface:
        """What of the body touches."""
        with self._named():
            return self.held_body.contact_surface()

    def wind_surface(self) -> Surface:
        """What of the body the wind blows on."""
        with self._named():
            return self.body.wind_surface() if isinstance(self.body, Dragging) else self.held_body.contact_surface()

    def surface_points(self, surface: Surface, label: str) -> PointSet:
        """The points of a surface of the body."""
        if isinstance(surface, NumberedSurface):
            return self.numbered_points(surface.numbers, label)
        first, *more = surface.mappings
        points = PointSet(self.whole, first, self.placement.apply(surface.rest), label)
        for mapping in more:
            points = points.mapped(mapping, label=label)
        return points

    def to_local(self, x: Array) -> Array:
        """World positions (n, 3) [m] in the body's own axes, as it was placed."""
        return (_places(x, "x") - self.placement.at) @ rotations.to_matrix(self.placement.rotation)

    def _embedded(self, local: Array) -> PointSet:
        mapping, numbers = self.held_body.embed(local)
        rest = self.placement.apply(local) if numbers is None else self.rest[numbers]
        taken = {"local": local} if numbers is None else {"numbers": numbers}
        return PointSet(self.whole, mapping, rest, f"{self.name} points", taken)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Errors of the body say which node it is in."""
        try:
            yield
        except InputError as error:
            if error.where is None:
                error.where = f"node '{self.name}'"
                error.args = (error.sentence(),)
            raise


def _places(given: ArrayLike, name: str) -> Array:
    """Places (n, 3) [m], or one (3,)."""
    x = np.atleast_2d(check_array(given, name=name, where="points"))
    if x.ndim != 2 or x.shape[1] != 3 or not np.isfinite(x).all():
        raise InputError(f"{name} is not (n, 3) finite numbers", where="points", value=np.shape(given))
    return x
