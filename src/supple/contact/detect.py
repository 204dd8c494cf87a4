"""Detector: which features of joined surfaces are near each other, and how far and along which normals.

    1. refit      boxes around all triangles, where they are and where their velocities carry them within the step
    2. descend    the trees of boxes against each other, to pairs of leaves whose boxes meet
    3. vertices   against triangles: one contact a vertex and other body
    4. edges      against edges, where no vertex stands for them
    5. points     of bodies without triangles: where balls touch a body more than once, and against each other

Only the first touches every vertex; the others cost what the patch in contact costs. The vertices of both sides report,
each with half of its area: two flat faces with any meshes then share a uniform pressure but for their rims. Of a point
and a triangle the point reports alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from supple.algebra.compiling.by_address import ByAddress
from supple.contact.narrow.search_kernels import refit, search
from supple.contact.near_kernels import collect_pairs
from supple.contact.pairs import ContactPairs
from supple.contact.shape import Settings, Sides, Workspace, grown, make_shape, make_workspace
from supple.contact.surface import ContactSurface
from supple.contact.tree import make_tree
from supple.contact.tree_kernels import collect_leaves, compute_boxes
from supple.errors import InputError

Array = np.ndarray
FIRST_ROOM = 1024
SAFE_ELEMENTS = 2.0


@dataclass(eq=False)
class Detector:
    """Finds contacts of a joined surface, with buffers that it keeps.

    margin: pairs with a smaller gap are reported [m]. depth: how far a vertex may have sunk behind a surface and still
    be pushed out [m]; by default the larger of the margin and half the smallest mean edge. self_contact: of all bodies,
    or a truth for each. exclude: pairs of bodies that never touch. rest_distance: features of one body closer than
    this at rest, beside its radii, do not touch [m]; by default the margin; points only where they overlap at rest.

    `sides` is what it remembers: on which side of sheets and of their own body vertices were at the last `find`. It is
    a plain value, to be kept with a checkpoint or put back when a step is taken again. Everything else may be made new.

    >>> from supple.geometry import box_tets
    >>> box = ContactSurface.of(box_tets((1.0, 1.0, 1.0), (2, 2, 2)).boundary.surface)
    >>> detector = Detector(ContactSurface.joined([box, box]), margin=0.01)
    >>> x = np.concatenate([box.rest, box.rest + (0.0, 0.0, 1.001)])
    >>> pairs = detector.find(x)
    >>> pairs.size, round(float(pairs.gap.max()), 6), round(float(pairs.area.sum()), 6)
    (18, 0.001, 1.0)
    """

    surface: ContactSurface
    margin: float = field(kw_only=True)
    depth: float | None = field(default=None, kw_only=True)
    self_contact: bool | Sequence[bool] = field(default=False, kw_only=True)
    exclude: Iterable[tuple[int, int]] = field(default=(), kw_only=True)
    rest_distance: float | None = field(default=None, kw_only=True)
    sides: Sides = field(default_factory=Sides.empty, init=False)

    def __post_init__(self) -> None:
        sizes, every = self._sizes, self.surface.element_size
        self.margin = _length("margin", self.margin)
        half = 0.5 * float(every[every > 0].min()) if (every > 0).any() else 0.0
        self.depth = max(self.margin, half) if self.depth is None else _length("depth", self.depth)
        self.rest_distance = self.margin if self.rest_distance is None else _length("rest_distance", self.rest_distance)
        self._reach = (SAFE_ELEMENTS + 1) * float(sizes.max()) if len(sizes) else 0.0
        self._allowed = self._make_allowed()
        self._padding = np.where(self.surface.is_points, 0.0, self.surface.radius) + 0.5 * max(self.margin, self.depth)
        tree = make_tree(self.surface)
        self._tree, self._shape = ByAddress(tree), ByAddress(make_shape(self.surface, tree))
        self._box = np.empty((int(tree.node_start[-1]), 6))
        self._workspace = ByAddress(make_workspace(self.surface.count, self.surface.body_count, FIRST_ROOM))
        self._x = self._end = np.zeros((0, 3))
        self._room = np.empty((self.surface.count, 3))
        self._moves, self._stamp = False, 0
        self._has_points = bool(self.surface.is_points.any())

    @cached_property
    def largest_safe_travel(self) -> float:
        """How far a vertex may move in a step and certainly be found [m]: two elements or balls of the finest body."""
        sizes = self.surface.element_size
        return SAFE_ELEMENTS * float(sizes[sizes > 0].min(initial=np.inf))

    def safe_travel(self, one: int, two: int) -> float:
        """The same for two bodies [m]: two elements of the finer one; of points with points two smaller balls.

        Vertices are found however far they move, edges that cross between them where bodies turn little. Closed bodies
        cannot pass each other unseen where one of them is thicker than two elements of the other: vertices of that go
        through it.
        """
        sizes, is_points = self.surface.element_size[[one, two]], self.surface.is_points[[one, two]]
        if (self.surface.thickness[[one, two]] >= SAFE_ELEMENTS * sizes[::-1]).any() and not is_points.any():
            return np.inf
        counted = sizes if is_points.all() else sizes[~is_points]
        return SAFE_ELEMENTS * float(counted[counted > 0].min(initial=np.inf))

    @cached_property
    def safe_travels(self) -> Array:
        """The same of every two bodies, infinite of one with itself, (bodies, bodies) [m]."""
        each = range(self.surface.body_count)
        return np.array([[np.inf if a == b else self.safe_travel(a, b) for b in each] for a in each])

    @property
    def finds_any(self) -> bool:
        """Whether any two bodies may touch, or one itself."""
        return bool(self._allowed.any())

    @property
    def _sizes(self) -> Array:
        """Mean edges of the bodies that have some [m]."""
        return self.surface.element_size[~self.surface.is_points]

    @property
    def boxes(self) -> Array:
        """Lower and upper corners of the box of each body at the last refit, widened [m], (bodies, 6)."""
        return self._box[self._tree.value.node_start[:-1]]

    def find(self, x: Array, v: Array | None = None, dt: float = 0.0) -> ContactPairs:
        """Contacts at positions x (n, 3) [m], and those that velocities v (n, 3) [m/s] bring about within dt [s].

        Reported are pairs whose gap is below the margin now or would be at the end of the step, and triangles that a
        vertex would meet within it, with the weights of the place where it meets, the normal there towards the side the
        vertex comes from, and the gap now. Not reported are vertices that lie deeper than `depth`.
        """
        self.refit(x, v, dt)
        return self.search()

    def refit(self, x: Array, v: Array | None = None, dt: float = 0.0) -> None:
        """Boxes around where all triangles are and go; arguments as for `find`."""
        self._x, tree, shape = self._checked("x", x), self._tree, self._shape
        self._moves = v is not None and dt != 0.0
        if v is None or not self._moves:
            self._end = self._finite("x", self._x)
            is_points, radius = shape.value.is_points, shape.value.vertex_radius
            compute_boxes(tree, self._x, self._x, False, self._padding, is_points, radius, self._box)
            return
        if not (np.isfinite(dt) and dt > 0):
            raise InputError("the step is not positive", where="Detector.find", value=dt, allowed="> 0 s")
        v, self._end = self._checked("v", v), self._room
        work = self._workspace
        if refit(tree, shape, work, self._x, v, dt, self.margin, self._padding, self._end, self._box):
            self._finite("x", self._x)
            self._finite("v", v)

    def search(self) -> ContactPairs:
        """Contacts within the boxes of the last refit; remembers sides for the next search."""
        if not self.surface.body_count:
            return ContactPairs.empty()
        next_known, more = np.empty(len(self.sides.vertex), np.int32), True
        while more:
            counts = search(
                self._tree, self._shape, self._workspace, self.sides, next_known, self._settings(), self._x, self._end,
                self._padding, self._allowed, self._box,
            )  # fmt: skip
            more = self._grow(counts)
        found: Workspace = self._workspace.value
        self.sides = Sides(*(a[: counts[4]].copy() for a in found.sides))
        return ContactPairs(*(a[: counts[3]].copy() for a in found.found))

    def near_triangles(self) -> Array:
        """Pairs of triangles (k, 2), numbered as in the surface, whose boxes meet since the last refit."""
        more, pairs = True, np.empty((FIRST_ROOM, 2), np.int32)
        while more:
            work: Workspace = self._workspace.value
            leaves = collect_leaves(self._tree, self._box, work.order, self._allowed, work.stack, work.leaves)
            more = self._grow([leaves, 0, 0, 0])
        where = self._tree, self._shape, self._workspace, self._settings(), self._x, self._end, self._padding
        count = collect_pairs(*where, leaves, pairs)
        if count > len(pairs):
            pairs = np.empty((count, 2), np.int32)
            collect_pairs(*where, leaves, pairs)
        numbers = self._tree.value.triangle[pairs[:count]]
        return np.asarray(numbers[(numbers >= 0).all(axis=1)])  # without points

    def _grow(self, counts: Sequence[int]) -> bool:
        """Make room for what was counted; whether there was too little."""
        larger = grown(self._workspace.value, counts)
        if larger is not None:
            self._workspace = ByAddress(larger)
        return larger is not None

    def _settings(self) -> Settings:
        """Of the next search, with a stamp of its own."""
        self._stamp += 1
        depth, rest_distance = float(self.depth or 0.0), float(self.rest_distance or 0.0)
        return Settings(self.margin, depth, rest_distance, self._reach, self._moves, self._has_points, self._stamp)

    def _make_allowed(self) -> Array:
        """Which bodies may touch which, (bodies, bodies) bool."""
        count = self.surface.body_count
        allowed = ~(self.surface.fixed[:, None] & self.surface.fixed[None, :])
        own = np.asarray(self.self_contact, dtype=bool)
        if own.shape not in ((), (count,)):
            raise InputError(
                "self_contact is not one truth or one for each body",
                where="Detector",
                value=own.shape,
                allowed=f"a truth or {count} of them",
            )
        np.fill_diagonal(allowed, np.broadcast_to(own, count))
        for a, b in self.exclude:
            if not (0 <= a < count and 0 <= b < count):
                raise InputError(
                    "an excluded body does not exist", where="Detector", value=(a, b), allowed=f"0 to {count - 1}"
                )
            allowed[a, b] = allowed[b, a] = False
        return allowed

    def _checked(self, name: str, values: Array) -> Array:
        array = np.ascontiguousarray(values, dtype=float)
        if array.shape != (self.surface.count, 3):
            raise InputError(
                f"{name} does not fit the surface",
                where="Detector.find",
                value=array.shape,
                allowed=f"({self.surface.count}, 3)",
            )
        return array if array.flags.writeable else array.copy()  # kernels are compiled once more for read-only arrays

    def _finite(self, name: str, array: Array) -> Array:
        if not np.isfinite(array.sum()):
            bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
            if bad.size:
                raise InputError(
                    f"{name} of vertex {bad[0]} is not finite", where="Detector.find", value=array[bad[0]].tolist()
                )
        return array


def _length(name: str, value: float) -> float:
    if not (np.isfinite(value) and value >= 0):
        raise InputError(f"the {name} is not a length", where="Detector", value=value, allowed=">= 0 m")
    return float(value)
