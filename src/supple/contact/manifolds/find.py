"""`Manifolds`: finds where rigid convex shapes touch, each pair in few points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from supple.contact.manifolds.clip_kernels import MAX_POINTS, make_polygon
from supple.contact.manifolds.find_kernels import collect_overlaps, compute_points, keep_near, sort_boxes, sort_pairs
from supple.contact.manifolds.impact_kernels import FAST, compute_safe_times, longest_way
from supple.contact.manifolds.points import ContactPoints, make_points
from supple.contact.manifolds.pose_kernels import compute_poses
from supple.contact.manifolds.table import make_poses, make_table
from supple.errors import InputError
from supple.geometry.surfaces.convex import ConvexShape

Array = np.ndarray


@dataclass(eq=False)
class Manifolds:
    """Finds contacts of convex shapes, with buffers that it keeps. shapes: None is the half-space below z = 0 of its
    frame. margin [m]: points with a smaller gap are reported. allowed (n, n) bool: which shapes may touch which.

    >>> box = ConvexShape.box((1.0, 1.0, 1.0))
    >>> manifolds = Manifolds([box, None], margin=0.01)
    >>> points = manifolds.find(np.array([[0, 0, 0.499, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0]]))
    >>> len(points.gap), points.gap.round(6).tolist(), points.area.tolist()
    (4, [-0.001, -0.001, -0.001, -0.001], [0.25, 0.25, 0.25, 0.25])
    """

    shapes: Sequence[ConvexShape | None]
    margin: float = field(kw_only=True)
    allowed: Array | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        n = len(self.shapes)
        allowed = np.ones((n, n), dtype=bool) if self.allowed is None else np.array(self.allowed, dtype=bool)
        if allowed.shape != (n, n):
            raise InputError(
                "the pairs do not fit the shapes", where="Manifolds", value=allowed.shape, allowed=f"({n}, {n})"
            )
        planes = np.array([shape is None for shape in self.shapes], dtype=bool)
        self.allowed = allowed & allowed.T & ~np.outer(planes, planes)
        self.table = make_table(self.shapes)
        self.poses = make_poses(self.table)
        self.order = np.arange(n)
        self.pairs = np.empty((max(4 * n, 16), 2), np.int64)
        self.points = make_points(MAX_POINTS * len(self.pairs))
        self.reach = np.empty(n)
        arms = [0.0 if s is None else float(np.linalg.norm(s.vertices, axis=1).max()) for s in self.shapes]
        self.arm = np.array(arms)
        self.least_width = float(self.table.width.min(initial=np.inf))
        corners = max((len(s.vertices) for s in self.shapes if s is not None), default=0)
        self.room = make_polygon(4 * corners + 16)

    def find(self, frames: Array, v: Array | None = None, h: float = 0.0) -> ContactPoints:
        """Points of shapes in frames (n, 7), positions [m] and unit quaternions (w, x, y, z), that are nearer than the
        margin, or come so near at velocities v (n, 6) [m/s; rad/s in body axes] within h [s]."""
        frames = np.ascontiguousarray(frames, dtype=float)
        if frames.shape != (len(self.shapes), 7):
            raise InputError(
                "the frames do not fit the shapes",
                where="Manifolds.find",
                value=frames.shape,
                allowed=f"({len(self.shapes)}, 7)",
            )
        v = np.zeros((len(frames), 6)) if v is None else np.ascontiguousarray(v, dtype=float)
        compute_poses(self.table, frames, v, h, self.margin, self.poses, self.reach)
        count = self.overlaps()
        found = compute_points(
            self.table, self.poses, frames, self.pairs, count, v, self.reach, h, self.margin, self.room, self.points
        )
        found = keep_near(self.points, found, self.poses, v, h, self.margin)
        return ContactPoints(*(part[:found] for part in self.points))

    def safe_times(self, frames: Array, v: Array, h: float) -> Array:
        """How long of h [s] shapes in frames (n, 7) may move at velocities v (n, 6) until they sink into each other by
        a tenth of the smaller width more than now, (n,) [s]."""
        times = np.full(len(frames), h)
        if h * longest_way(self.arm, v) > FAST * self.least_width:
            compute_poses(self.table, frames, v, h, 0.0, self.poses, self.reach)
            count = self.overlaps()
            compute_safe_times(self.table, self.poses, frames, self.pairs, count, v, self.reach, h, times)
        return times

    def overlaps(self) -> int:
        """Write the pairs whose boxes overlap to `pairs`, sorted; returns how many."""
        assert self.allowed is not None
        sort_boxes(self.poses.box, self.order)
        while True:
            count = int(collect_overlaps(self.poses.box, self.order, self.allowed, self.pairs))
            if count <= len(self.pairs):
                break
            self.pairs = np.empty((count + count // 2, 2), np.int64)
            self.points = make_points(MAX_POINTS * len(self.pairs))
        sort_pairs(self.pairs, count)
        return count
