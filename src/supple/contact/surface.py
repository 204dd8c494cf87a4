"""ContactSurface: the surfaces of all bodies that may touch, joined in one numbering of vertices.

A body is closed if every edge has as many triangles one way as the other; only then has it an inside. Its triangles
look outward. An open body is a sheet with two equal sides. The radius of a body is added around its surface, half the
thickness of a sheet. A body without triangles is a cloud of points, each a ball of its own radius, which may be zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import InputError
from supple.geometry import SurfaceMesh
from supple.geometry.meshes.mesh_checks import DEGENERATE, check_elements, check_nodes
from supple.geometry.surfaces.surface_edges import count_edges

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ContactSurface:
    """Surfaces of bodies at rest. Make it with `of` and `joined`.

    rest: [m], (n, 3). triangles: (m, 3). body_start: first triangle of each body and the end, (bodies + 1,).
    vertex_body: (n,). radius: [m], (bodies,), the largest of points. closed, fixed: (bodies,) bool; fixed bodies do not
    touch each other. vertex_radius: [m], (n,).

    >>> from supple.geometry import box_tets
    >>> box = ContactSurface.of(box_tets((1.0, 1.0, 1.0), (2, 2, 2)).boundary.surface)
    >>> two = ContactSurface.joined([box, box])
    >>> two.count, two.body_count, bool(two.closed.all()), round(float(two.vertex_area.sum()), 6)
    (52, 2, True, 12.0)
    """

    rest: Array
    triangles: Array
    body_start: Array
    vertex_body: Array
    radius: Array
    closed: Array
    fixed: Array
    vertex_radius: Array

    @classmethod
    def of(
        cls, mesh: SurfaceMesh | tuple[ArrayLike, ArrayLike], *, radius: ArrayLike = 0.0, fixed: bool = False
    ) -> ContactSurface:
        """One body: a surface mesh, or nodes (n, 3) [m] and triangles (m, 3); none of them for points.

        radius: half the thickness [m]; of points one for all or one each, (n,). fixed: an obstacle that nothing moves.
        """
        rest, triangles = (mesh.nodes, mesh.triangles) if isinstance(mesh, SurfaceMesh) else mesh
        nodes = check_nodes(rest)
        given = np.asarray(triangles)
        loose = given.shape == (0, 3)
        faces = given.astype(np.int64) if loose else check_elements(triangles, 3, "triangle", len(nodes))
        _check_areas(nodes, faces)
        radii = np.asarray(radius, dtype=float)
        if radii.shape not in (((), (len(nodes),)) if loose else ((),)):
            raise InputError("there is not one radius", where="ContactSurface", value=radii.shape)
        if not (np.isfinite(radii).all() and (radii >= 0).all()):
            raise InputError("the radius is negative", where="ContactSurface", value=radius, allowed=">= 0 m")
        edges = None if loose else count_edges(faces)
        closed = edges is not None and edges.is_closed and edges.is_oriented
        if closed and _volume(nodes, faces) < 0:
            raise InputError(
                "the surface is turned inside out: it encloses a negative volume",
                where="ContactSurface",
                value=_volume(nodes, faces),
                fix="Swap two corners of every triangle.",
            )
        return cls(
            nodes,
            faces,
            np.array([0, len(faces)]),
            np.zeros(len(nodes), np.int64),
            np.array([radii.max(initial=0.0)]),
            np.array([closed]),
            np.array([bool(fixed)]),
            np.broadcast_to(radii, len(nodes)).copy(),
        )

    @classmethod
    def joined(cls, surfaces: Sequence[ContactSurface]) -> ContactSurface:
        """Several surfaces in one numbering: vertices, triangles and bodies in the order given."""
        if not surfaces:
            none = np.zeros(0, np.int64)
            return cls(
                np.zeros((0, 3)),
                np.zeros((0, 3), np.int64),
                np.zeros(1, np.int64),
                none,
                np.zeros(0),
                none > 0,
                none > 0,
                np.zeros(0),
            )
        points = np.cumsum([0] + [s.count for s in surfaces])
        triangles = np.cumsum([0] + [len(s.triangles) for s in surfaces])
        bodies = np.cumsum([0] + [s.body_count for s in surfaces])
        start = np.concatenate([s.body_start[:-1] + t for s, t in zip(surfaces, triangles)])
        return cls(
            np.concatenate([s.rest for s in surfaces]),
            np.concatenate([s.triangles + p for s, p in zip(surfaces, points)]),
            np.r_[start, triangles[-1]],
            np.concatenate([s.vertex_body + b for s, b in zip(surfaces, bodies)]),
            *(np.concatenate([getattr(s, f.name) for s in surfaces]) for f in fields(cls)[4:]),
        )

    @property
    def count(self) -> int:
        """Number of vertices."""
        return len(self.rest)

    @property
    def body_count(self) -> int:
        """Number of bodies."""
        return len(self.radius)

    @cached_property
    def triangle_body(self) -> Array:
        """The body of each triangle, (m,)."""
        return np.repeat(np.arange(self.body_count), np.diff(self.body_start))

    @cached_property
    def is_points(self) -> Array:
        """Which bodies are points without triangles, (bodies,) bool."""
        return np.diff(self.body_start) == 0

    @cached_property
    def _edges(self) -> tuple[Array, Array]:
        """Edges (e, 2), lower number first, and the edge opposite each corner of each triangle (m, 3)."""
        ends = np.sort(self.triangles[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2), axis=1)
        keys, number = np.unique(ends[:, 0] * max(self.count, 1) + ends[:, 1], return_inverse=True)
        edges = np.stack([keys // max(self.count, 1), keys % max(self.count, 1)], axis=1)
        return np.ascontiguousarray(edges), np.ascontiguousarray(number.reshape(-1, 3))

    @property
    def edges(self) -> Array:
        """Edges, (e, 2), lower number first."""
        return self._edges[0]

    @property
    def triangle_edges(self) -> Array:
        """The edge opposite each corner of each triangle, (m, 3)."""
        return self._edges[1]

    @cached_property
    def triangle_area(self) -> Array:
        """Area at rest [m²], (m,)."""
        return triangle_areas(self.rest, self.triangles)

    @cached_property
    def vertex_area(self) -> Array:
        """A third of the triangles around each vertex, at rest [m²], (n,).

        Of a point the cross-section of its ball; without a radius a share of the square of the cloud's size.
        """
        area = _shares(self.triangles, self.triangle_area, self.count)
        for body in np.flatnonzero(self.is_points):
            own = self.vertex_body == body
            ball, share = np.pi * self.vertex_radius[own] ** 2, extent(self.rest[own]) ** 2 / max(own.sum(), 1)
            area[own] = np.where(ball > 0, ball, share)
        return area

    @cached_property
    def edge_area(self) -> Array:
        """A third of the triangles at each edge, at rest [m²], (e,)."""
        return _shares(self.triangle_edges, self.triangle_area, len(self.edges))

    @cached_property
    def edge_length(self) -> Array:
        """Length of each edge at rest [m], (e,)."""
        return np.linalg.norm(self.rest[self.edges[:, 1]] - self.rest[self.edges[:, 0]], axis=1)

    @cached_property
    def thickness(self) -> Array:
        """Twice the volume over the area of each body, (bodies,) [m]; 0 of those that are not closed."""
        out = np.zeros(self.body_count)
        for body in np.flatnonzero(self.closed):
            faces = self.triangles[self.body_start[body] : self.body_start[body + 1]]
            out[body] = 2 * _volume(self.rest, faces) / float(self.vertex_area[self.vertex_body == body].sum())
        return out

    @cached_property
    def element_size(self) -> Array:
        """Mean edge at rest of each body, mean diameter of points [m], (bodies,)."""
        body = self.vertex_body[self.edges[:, 0]]
        total = np.bincount(body, weights=self.edge_length, minlength=self.body_count)
        edge = total / np.maximum(np.bincount(body, minlength=self.body_count), 1)
        across = np.bincount(self.vertex_body, weights=2 * self.vertex_radius, minlength=self.body_count)
        points = np.maximum(np.bincount(self.vertex_body, minlength=self.body_count), 1)
        return np.where(self.is_points, across / points, edge)


def extent(points: Array) -> float:
    """The longest edge of the box around points (n, 3) [m]; 1 where it has none."""
    return (float(np.ptp(points, axis=0).max()) if len(points) else 0.0) or 1.0


def triangle_areas(x: Array, triangles: Array) -> Array:
    """Areas [m²], (m,), of triangles (m, 3) of points x (n, 3) [m]."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def _shares(numbers: Array, area: Array, count: int) -> Array:
    return np.bincount(numbers.ravel(), weights=np.repeat(area / 3, 3), minlength=count).astype(float)  # of none: int


def _volume(x: Array, triangles: Array) -> float:
    a, b, c = (x[triangles[:, k]] - x.mean(axis=0) for k in range(3))
    return float(np.einsum("ia,ia->", a, np.cross(b, c)) / 6)


def _check_areas(x: Array, triangles: Array) -> None:
    """Refuse triangles without area: they have no normal to push along."""
    corners = x[triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    flat = np.flatnonzero(triangle_areas(x, triangles) <= DEGENERATE * longest**2)
    if flat.size:
        raise InputError(
            f"triangle {flat[0]} is degenerate: it has no area"
            + (f", and {flat.size - 1} more have none" if flat.size > 1 else ""),
            where="ContactSurface",
            value=corners[flat[0]].tolist(),
            fix="Remove it, or remesh there.",
        )
