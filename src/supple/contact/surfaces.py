"""What of a body can touch: points that follow its coordinates, and the triangles between them; see
`supple.bodies.surfaces`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from supple.bodies.capabilities import Convex
from supple.bodies.surfaces import NumberedSurface
from supple.errors import InputError
from supple.geometry import SurfaceMesh
from supple.geometry.surfaces.convex import ConvexShape
from supple.scene.mapped.points import PointSet, WorldPoints
from supple.scene.node import Node

Array = np.ndarray


@dataclass(frozen=True)
class Wall:
    """In place of the node of a surface that stays where it is."""

    name: str


@dataclass(frozen=True, eq=False)
class BodySurface:
    """points of a body, triangles (m, 3) between them, outward. numbers: of the points among the body's own. radius:
    of balls around points without triangles [m], one for all or one each. shape: the whole of a rigid body in its
    frame, where that is convex."""

    node: Node | Wall
    points: PointSet | WorldPoints
    triangles: Array
    numbers: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    radius: Array | float = 0.0
    shape: ConvexShape | None = None


def wall(name: str, mesh: SurfaceMesh) -> BodySurface:
    """A surface mesh that stays where it is, as an obstacle."""
    return BodySurface(Wall(name), WorldPoints(np.asarray(mesh.nodes)), np.asarray(mesh.triangles, dtype=np.int64))


def surface_of(node: Node, part: Any = None) -> BodySurface:
    """The surface of a node's body. part: what of it may touch: a region's name or several, numbers of points, or a
    predicate on world positions at the start (n, 3); None: all of it. Surfaces of points made for them, as those of
    rigid bodies and voxels, take predicates."""
    if node.body is None:
        raise InputError("a group has no surface", where=f"node '{node.name}'", fix="Name the bodies below it.")
    surface = node.contact_surface()
    if not isinstance(surface, NumberedSurface):
        points = node.surface_points(surface, f"{node.name} surface")
        found = _reduced(node, points, surface.triangles, part)
        shape = node.body.convex_shape() if part is None and isinstance(node.body, Convex) else None
        return replace(found, shape=shape)
    numbers, triangles = surface.numbers, surface.triangles
    if part is not None:
        names = part if isinstance(part, list | tuple) and all(isinstance(p, str) for p in part) else [part]
        numbers = np.concatenate([node.indices(name) for name in names])
    if not len(triangles):
        radius = surface.radius if isinstance(surface.radius, float) else surface.radius[numbers]
        return BodySurface(node, node.points(numbers), triangles, numbers, radius)
    if part is not None:
        triangles = triangles[np.isin(triangles, numbers).all(axis=1)]
        numbers = np.unique(triangles)
    return BodySurface(node, node.points(numbers), np.searchsorted(numbers, triangles).astype(np.int64), numbers)


def _reduced(node: Node, points: PointSet, triangles: Array, part: Any) -> BodySurface:
    """A surface, or what of it a predicate takes."""
    if part is None:
        return BodySurface(node, points, triangles)
    if not callable(part):
        raise InputError(
            "a part of this body's surface is given by a predicate on positions",
            where=f"body '{node.name}'",
            value=part,
        )
    triangles = triangles[np.asarray(part(points.rest), dtype=bool)[triangles].all(axis=1)]
    used = np.unique(triangles)
    return BodySurface(node, points.subset(used), np.searchsorted(used, triangles))
