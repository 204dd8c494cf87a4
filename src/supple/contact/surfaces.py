"""What of a body can touch: points that follow its coordinates, and the triangles between them.

finite elements, floating   nodes of the boundary
rigid                       the surface, with triangles of at most COARSE of its size
particles                   balls of their radii around them, which may be zero, without triangles
voxels                      corners of the outer faces: means of where the voxels around would put them
trees of domains            the surface, without gaps between domains
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from supple.errors import InputError
from supple.geometry import SurfaceMesh
from supple.geometry.surfaces.convex import ConvexShape
from supple.scene.mapped.mappings import FramePoints, WeightedPoints
from supple.scene.mapped.points import PointSet, WorldPoints
from supple.scene.node import Node

Array = np.ndarray
COARSE = 0.26
"""Largest edge of a rigid body's surface, over the body's size: pressure is carried at vertices."""


@dataclass(frozen=True)
class Wall:
    """In place of the node of a surface that stays where it is."""

    name: str
    is_lattice: bool = False


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
    predicate on world positions at the start (n, 3); None: all of it. Rigid bodies and voxels take predicates."""
    body: Any = node.body
    if body is None:
        raise InputError("a group has no surface", where=f"node '{node.name}'", fix="Name the bodies below it.")
    if body.kind == "rigid":
        if body.surface is None:
            raise InputError(
                "a rigid body without a surface touches nothing",
                where=f"body '{node.name}'",
                fix="Make it by RigidBody.box, .sphere or .cylinder, or leave it out of the contact.",
            )
        places, triangles = subdivided(
            np.asarray(body.surface.nodes), np.asarray(body.surface.triangles, dtype=np.int64)
        )
        found = _reduced(node, node.points(local=places), triangles, part)
        return found if part is not None else replace(found, shape=body.shape)
    if body.kind == "voxel":
        skin = body.skin
        corners = FramePoints.make(skin.local, skin.voxel)
        rest = node.placement.apply(np.asarray(body.positions)[skin.voxel] + skin.local)
        carried = PointSet(node, corners, rest, f"{node.name} corners")
        points = carried.mapped(WeightedPoints(skin.weights), label=f"{node.name} surface")
        return _reduced(node, points, np.asarray(skin.triangles, dtype=np.int64), part)
    if body.kind == "tree":
        triangles, nodes = np.asarray(body.skin.triangles, dtype=np.int64), np.arange(body.skin.count)
    elif hasattr(getattr(body, "mesh", None), "boundary"):
        triangles, nodes = np.asarray(body.mesh.boundary.triangles), np.asarray(body.mesh.boundary.node_indices)
    else:
        chosen = node.indices(part)
        radius = np.asarray(body.radius)[chosen] if body.kind == "particles" else 0.0
        return BodySurface(node, node.points(chosen), np.zeros((0, 3), dtype=np.int64), chosen, radius)
    if part is not None:
        names = part if isinstance(part, list | tuple) and all(isinstance(p, str) for p in part) else [part]
        chosen = np.unique(np.concatenate([node.indices(name) for name in names]))
        triangles = triangles[np.isin(triangles, chosen).all(axis=1)]
        nodes = np.unique(triangles)
    return BodySurface(node, node.points(nodes), np.searchsorted(nodes, triangles).astype(np.int64), nodes)


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


def subdivided(nodes: Array, triangles: Array) -> tuple[Array, Array]:
    """Every triangle cut into four at its middles, until the longest edge is COARSE of the size (n, 3) of the nodes."""
    longest = COARSE * float(np.ptp(nodes, axis=0).max())
    while True:
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        if np.linalg.norm(nodes[edges[:, 0]] - nodes[edges[:, 1]], axis=1).max() <= longest:
            return nodes, triangles
        ends, number = np.unique(edges, axis=0, return_inverse=True)
        ab, bc, ca = (len(nodes) + number.reshape(-1, 3)).T
        a, b, c = triangles.T
        nodes = np.concatenate([nodes, nodes[ends].mean(axis=1)])
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = np.concatenate([np.stack(part, axis=1) for part in parts])
