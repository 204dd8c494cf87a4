"""Detector: which features of joined surfaces are near each other, and how far and along which normals.

    1. refit      boxes around all triangles, where they are and where their velocities carry them within the step
    2. descend    the trees of boxes against each other, to pairs of triangles whose boxes meet
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

from supple.contact.narrow.ball_kernels import add_ball_contacts
from supple.contact.narrow.edge_kernels import add_edge_contacts
from supple.contact.narrow.point_kernels import add_point_contacts
from supple.contact.narrow.vertex_kernels import collect_vertices, compute_side_lists, compute_vertex_contacts
from supple.contact.pairs import ContactPairs
from supple.contact.shape import Settings, Shape, Sides, Workspace, make_shape, make_workspace
from supple.contact.surface import ContactSurface
from supple.contact.tree import Tree, make_tree
from supple.contact.tree_kernels import LEAF, collect_leaves, collect_pairs, compute_boxes
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
    sides: Sides = field(default_factory=Sides.none, init=False)

    def __post_init__(self) -> None:
        sizes, every = self._sizes, self.surface.element_size
        self.margin = _length("margin", self.margin)
        half = 0.5 * float(every[every > 0].min()) if (every > 0).any() else 0.0
        self.depth = max(self.margin, half) if self.depth is None else _length("depth", self.depth)
        self.rest_distance = self.margin if self.rest_distance is None else _length("rest_distance", self.rest_distance)
        self._reach = (SAFE_ELEMENTS + 1) * float(sizes.max()) if len(sizes) else 0.0
        self._allowed = self._make_allowed()
        self._padding = np.where(self.surface.is_points, 0.0, self.surface.radius) + 0.5 * max(self.margin, self.depth)
        self._tree: Tree = make_tree(self.surface)
        self._shape: Shape = make_shape(self.surface, self._tree)
        self._box = np.empty((int(self._tree.node_start[-1]), 6))
        self._workspace: Workspace = make_workspace(self.surface.count, FIRST_ROOM)
        self._leaves, self._near = (np.empty((FIRST_ROOM, 2), np.int32) for _ in range(2))
        self._pairs = ContactPairs.empty(FIRST_ROOM)
        self._stack, self._small = np.empty((512, 2), np.int64), np.empty((2 * LEAF, 6))
        self._x = self._end = np.zeros((0, 3))
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
        return self._box[self._tree.node_start[:-1]]

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
        self._x = self._checked("x", x)
        self._moves = v is not None and dt != 0.0
        self._end = self._x
        if v is not None and self._moves:
            if not (np.isfinite(dt) and dt > 0):
                raise InputError("the step is not positive", where="Detector.find", value=dt, allowed="> 0 s")
            self._end = self._x + dt * self._checked("v", v)
        shape = self._shape
        compute_boxes(
            self._tree, self._x, self._end, self._moves, self._padding, shape.is_points, shape.vertex_radius, self._box
        )

    def search(self) -> ContactPairs:
        """Contacts within the boxes of the last refit; remembers sides for the next search."""
        if not self.surface.body_count:
            return ContactPairs.empty()
        pair_count = self._descend()
        candidates, settings = self._meet_vertices(pair_count)
        if len(self._pairs.gap) < candidates:
            self._pairs = ContactPairs.empty(_grown(candidates))
        found = Sides(np.empty(candidates, np.int32), np.empty(candidates, np.int32), np.empty(candidates, np.int8))
        where = self._shape, self._workspace, settings, self._x, self._end
        vertices, sides = compute_vertex_contacts(*where, candidates, found, self._pairs)
        count = self._add_others(settings, pair_count, vertices)
        if count > len(self._pairs.gap):
            kept, self._pairs = self._pairs, ContactPairs.empty(_grown(count))
            for old, new in zip(kept, self._pairs):
                new[:vertices] = old[:vertices]
            self._add_others(settings, pair_count, vertices)
        self.sides = Sides(*(a[:sides].copy() for a in found))
        return ContactPairs(*(a[:count].copy() for a in self._pairs))

    def _add_others(self, settings: Settings, pair_count: int, count: int) -> int:
        """Contacts of edges and points, after `count` of vertices; returns how many there are in all."""
        shape, x, end, near = self._shape, self._x, self._end, self._near
        count = add_edge_contacts(shape, self._workspace, settings, x, end, near, pair_count, count, self._pairs)
        if self._has_points:
            count = add_ball_contacts(shape, self._workspace, settings, x, end, near, pair_count, count, self._pairs)
            count = add_point_contacts(shape, settings, x, end, near, pair_count, count, self._pairs)
        return count

    def _descend(self) -> int:
        order = np.argsort(self._box[self._tree.node_start[:-1], 0], kind="stable")
        while True:
            leaf_count = collect_leaves(self._tree, self._box, order, self._allowed, self._stack, self._leaves)
            if leaf_count <= len(self._leaves):
                break
            self._leaves = np.empty((_grown(leaf_count), 2), np.int32)
        while True:
            count = collect_pairs(
                self._tree, self._shape, self._x, self._end, self._moves, self._padding, self._leaves, leaf_count,
                self._small, self._near,
            )  # fmt: skip
            if count <= len(self._near):
                return int(count)
            self._near = np.empty((_grown(count), 2), np.int32)

    def _meet_vertices(self, pair_count: int) -> tuple[int, Settings]:
        while True:
            self._stamp += 1
            settings = Settings(
                self.margin,
                float(self.depth or 0.0),
                float(self.rest_distance or 0.0),
                self._reach,
                self._moves,
                self._stamp,
            )
            side_next = np.empty(len(self.sides.vertex), np.int32)
            compute_side_lists(self.sides, self._workspace, self._stamp, side_next)
            count = collect_vertices(
                self._shape,
                self._workspace,
                self.sides,
                side_next,
                settings,
                self._x,
                self._end,
                self._near,
                pair_count,
            )
            if count <= len(self._workspace.whole):
                return int(count), settings
            size = _grown(count)
            self._workspace = self._workspace._replace(whole=np.empty((size, 7), np.int32), real=np.empty((size, 3)))

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
        if not np.isfinite(array.sum()):
            bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
            if bad.size:
                raise InputError(
                    f"{name} of vertex {bad[0]} is not finite", where="Detector.find", value=array[bad[0]].tolist()
                )
        return array if array.flags.writeable else array.copy()  # kernels are compiled once more for read-only arrays


def _grown(count: int) -> int:
    """Workspace for so many and half as many again: buffers grow seldom."""
    return int(count) + int(count) // 2


def _length(name: str, value: float) -> float:
    if not (np.isfinite(value) and value >= 0):
        raise InputError(f"the {name} is not a length", where="Detector", value=value, allowed=">= 0 m")
    return float(value)
