"""What of a body can touch: points that follow its coordinates, and the triangles between them.

    finite elements, floating   nodes of the boundary
    rigid                       the surface, with triangles of at most COARSE of its size
    particles                   the particles, without triangles
    voxels                      corners of the outer faces: means of where the voxels around would put them
    trees of domains            the surface, without gaps between domains
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.errors import InputError
from supple.scene.mappings import FramePoints, WeightedPoints
from supple.scene.node import Node
from supple.scene.points import PointSet

Array = np.ndarray
COARSE = 0.26
"""Largest edge of a rigid body's surface, over the body's size: pressure is carried at vertices."""


@dataclass(frozen=True, eq=False)
class BodySurface:
    """points of a body, triangles (m, 3) between them, outward."""

    node: Node
    points: PointSet
    triangles: Array


def surface_of(node: Node) -> BodySurface:
    """The surface of a node's body."""
    body: Any = node.body
    if body is None:
        raise InputError("a group has no surface", where=f"node '{node.name}'", fix="Name the bodies below it.")
    none = np.zeros((0, 3), dtype=np.int64)
    if body.kind == "rigid":
        if body.surface is None:
            raise InputError(
                "a rigid body without a surface touches nothing",
                where=f"body '{node.name}'",
                fix="Make it by RigidBody.box, .sphere or .cylinder, or leave it out of the contact.",
            )
        places, triangles = subdivided(np.asarray(body.surface.nodes), np.asarray(body.surface.triangles, dtype=np.int64))
        return BodySurface(node, node.points(local=places), triangles)
    if body.kind == "voxel":
        skin = body.skin
        corners = FramePoints.make(skin.local, skin.voxel)
        rest = node.placement.apply(body.positions[skin.voxel] + skin.local)
        carried = PointSet(node, corners, rest, f"{node.name} corners")
        points = carried.mapped(WeightedPoints(skin.weights), label=f"{node.name} surface")
        return BodySurface(node, points, np.asarray(skin.triangles, dtype=np.int64))
    if body.kind == "substructure":
        return BodySurface(node, node.points(), np.asarray(body.skin.triangles, dtype=np.int64))
    if hasattr(getattr(body, "mesh", None), "boundary"):
        boundary = body.mesh.boundary
        nodes = np.asarray(boundary.node_indices)
        return BodySurface(node, node.points(nodes), np.searchsorted(nodes, boundary.triangles).astype(np.int64))
    return BodySurface(node, node.points(), none)


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
