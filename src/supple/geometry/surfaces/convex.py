"""Convex shapes of rigid bodies: a polytope, or a point or segment, with a layer of constant thickness around it.

    shape = { p + r n : p in core, |n| <= 1 }

A ball is a point with a radius, a capsule a segment with one, a box and a convex hull are polytopes without. Faces are
whole polygons: triangles of one plane are one face.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from supple.errors import InputError
from supple.geometry.meshes.mesh import SurfaceMesh
from supple.geometry.surfaces.surface_edges import count_edges

Array = np.ndarray
FLAT = 1e-9
"""Part of the size by which a surface may depart from its convex hull, and triangles of one face from its plane."""
MOST_VERTICES = 256
"""Vertices of a surface up to which it counts as a shape: pairs are looked at face by face and edge by edge."""


@dataclass(frozen=True, eq=False)
class ConvexShape:
    """A convex shape in a body's axes. Make it with `ball`, `capsule`, `box` or `hull`.

    vertices (n, 3) [m]: of the core. faces: vertices of each polygon of the core, counter-clockwise seen from outside;
    none of a point or a segment. radius [m]: of the layer around the core. half (3,) [m]: half edges of a box around
    the origin along the axes, None of all other shapes.

    >>> box = ConvexShape.box((1.0, 2.0, 3.0))
    >>> len(box.vertices), len(box.faces), len(box.edges), box.face_areas.tolist()
    (8, 6, 12, [6.0, 6.0, 3.0, 3.0, 2.0, 2.0])
    """

    vertices: Array
    faces: tuple[Array, ...] = ()
    radius: float = field(default=0.0, kw_only=True)
    half: Array | None = field(default=None, kw_only=True)

    @classmethod
    def ball(cls, radius: float) -> ConvexShape:
        """A ball around the origin: radius [m]."""
        return cls(np.zeros((1, 3)), radius=_positive("radius", radius))

    @classmethod
    def capsule(cls, start: ArrayLike, end: ArrayLike, radius: float) -> ConvexShape:
        """All points within radius [m] of the segment between start and end (3,) [m]."""
        ends = np.array([start, end], dtype=float).reshape(2, 3)
        if np.array_equal(ends[0], ends[1]):
            ends = ends[:1]
        return cls(ends, radius=_positive("radius", radius))

    @classmethod
    def box(cls, size: ArrayLike) -> ConvexShape:
        """A box around the origin with edges size (3,) [m] along the axes."""
        half = np.array(size, dtype=float).reshape(3) / 2
        if not (np.isfinite(half).all() and (half > 0).all()):
            raise InputError("an edge is not positive", where="ConvexShape.box", value=size, allowed="> 0 m")
        corners = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        loops = [(4, 6, 7, 5), (0, 1, 3, 2), (2, 3, 7, 6), (0, 4, 5, 1), (1, 5, 7, 3), (0, 2, 6, 4)]
        return cls(corners, tuple(np.array(loop) for loop in loops), half=half)

    @classmethod
    def hull(cls, points: ArrayLike) -> ConvexShape:
        """The convex hull of points (n, 3) [m], not all in one plane."""
        x = np.asarray(points, dtype=float)
        hull = _convex_hull(x)
        if hull is None:
            raise InputError("these points have no convex hull", where="ConvexShape.hull", value=x.shape)
        if len(hull.vertices) > MOST_VERTICES:
            raise InputError(
                "the convex hull has too many vertices",
                where="ConvexShape.hull",
                value=len(hull.vertices),
                allowed=f"<= {MOST_VERTICES}",
                fix="Take fewer points.",
            )
        loops = _merged_faces(x, hull)
        used = np.unique(np.concatenate(loops))
        place = np.full(len(x), -1)
        place[used] = np.arange(len(used))
        return cls(x[used], tuple(place[loop] for loop in loops))

    @classmethod
    def of(cls, surface: SurfaceMesh) -> ConvexShape | None:
        """The shape that a closed surface encloses; None where it is not convex, or has too many vertices."""
        nodes, triangles = np.asarray(surface.nodes), np.asarray(surface.triangles)
        edges = count_edges(triangles)
        if not (edges.is_closed and edges.is_oriented):
            return None
        hull = _convex_hull(nodes[np.unique(triangles)])
        if hull is None or len(hull.vertices) > MOST_VERTICES:
            return None
        shape = cls.hull(hull.points[hull.vertices])
        size = float(np.ptp(shape.vertices, axis=0).max())
        corners = nodes[triangles]
        normals, offsets = shape.face_planes
        outside = np.einsum("fi,tci->tcf", normals, corners) - offsets
        on_hull = (outside.max(axis=1) <= FLAT * size) & (outside.min(axis=1) >= -FLAT * size)
        volume = np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
        is_whole = abs(volume - shape.volume) <= 1e-9 * shape.volume
        return shape if bool(on_hull.any(axis=1).all()) and is_whole else None

    @cached_property
    def face_planes(self) -> tuple[Array, Array]:
        """Outward unit normals (f, 3) and offsets n . x (f,) [m] of the faces."""
        normals = np.zeros((len(self.faces), 3))
        for k, loop in enumerate(self.faces):
            x = self.vertices[loop] - self.vertices[loop[0]]
            normal = np.cross(x, np.roll(x, -1, axis=0)).sum(axis=0)
            normals[k] = normal / np.linalg.norm(normal)
        offsets = [float(n @ self.vertices[loop].mean(axis=0)) for n, loop in zip(normals, self.faces)]
        return normals, np.array(offsets)

    @cached_property
    def face_areas(self) -> Array:
        """Areas of the faces [m²], (f,)."""
        out = np.zeros(len(self.faces))
        for k, loop in enumerate(self.faces):
            x = self.vertices[loop] - self.vertices[loop[0]]
            out[k] = np.linalg.norm(np.cross(x, np.roll(x, -1, axis=0)).sum(axis=0)) / 2
        return out

    @cached_property
    def edges(self) -> Array:
        """Edges (e, 4): two vertices, the face that runs from the first to the second, and the face beyond."""
        beside = {}
        for k, loop in enumerate(self.faces):
            for a, b in zip(loop.tolist(), np.roll(loop, -1).tolist()):
                beside[a, b] = k
        rows = [(a, b, k, beside[b, a]) for (a, b), k in beside.items() if a < b]
        return np.array(rows, dtype=np.int64).reshape(-1, 4)

    @cached_property
    def width(self) -> float:
        """The least width, between a face and the vertex farthest from it, with the layer on both sides [m]."""
        normals, offsets = self.face_planes
        across = offsets - (normals @ self.vertices.T).min(axis=1) if len(normals) else np.zeros(1)
        return float(across.min()) + 2 * self.radius

    @cached_property
    def volume(self) -> float:
        """Volume of the core [m³]."""
        return float(self.face_areas @ self.face_planes[1]) / 3


def _convex_hull(x: Array) -> ConvexHull | None:
    """The hull of points (n, 3); None where they lie in one plane."""
    try:
        return ConvexHull(x)
    except (QhullError, ValueError):
        return None


def _merged_faces(x: Array, hull: ConvexHull) -> list[Array]:
    """Polygons of a hull, counter-clockwise seen from outside: its triangles with one plane in common."""
    size = float(np.ptp(x, axis=0).max())
    left, loops = list(range(len(hull.simplices))), []
    while left:
        plane = hull.equations[left[0]]
        same = [
            k
            for k in left
            if plane[:3] @ hull.equations[k, :3] > 0.999
            and np.abs(x[hull.simplices[k]] @ plane[:3] + plane[3]).max() <= FLAT * size
        ]
        left = [k for k in left if k not in same]
        corners = np.unique(hull.simplices[same])
        about = x[corners] - x[corners].mean(axis=0)
        one = about[0] / np.linalg.norm(about[0])
        angle = np.arctan2(about @ np.cross(plane[:3], one), about @ one)
        loops.append(corners[np.argsort(angle)])
    return loops


def _positive(name: str, value: float) -> float:
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"the {name} is not positive", where="ConvexShape", value=value, allowed="> 0 m")
    return float(value)
