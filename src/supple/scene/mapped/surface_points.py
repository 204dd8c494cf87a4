"""The surface of a body of any kind, as points that follow it and the triangles between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.errors import InputError
from supple.scene.mapped.layered_points import points_in_frame
from supple.scene.mapped.mappings import FramePoints, WeightedPoints
from supple.scene.mapped.points import PointSet
from supple.scene.node import Node

Array = np.ndarray


def surface_points(node: Any) -> tuple[PointSet, Array]:
    """Points on the surface of a node's body, and outward triangles (t, 3) of them.

    Of a tree of domains: a few flat triangles a domain that stand for it, see
    `supple.bodies.tree.surface.wind_patches`.
    """
    if not isinstance(node, Node) or node.body is None:
        raise InputError("a surface needs a node of the scene", value=type(node).__name__)
    body, label = node.body, f"surface of {node.name}"
    if body.kind == "tree":
        points, triangles = body.wind_patches
        return PointSet(node, points, node.placement.apply(points.apply(body.rest_coordinates)), label), triangles
    if body.kind == "voxel":
        skin = body.skin
        rest = node.rest[skin.voxel] + node.placement.apply(skin.local) - node.placement.at
        carried = PointSet(node, FramePoints.make(skin.local, skin.voxel), rest, label)
        return PointSet(carried, WeightedPoints(skin.weights), skin.weights @ rest, label), skin.triangles
    if body.kind == "rigid" and body.surface is not None:
        return node.points(), np.asarray(body.surface.triangles, dtype=np.int64)
    if not hasattr(getattr(body, "mesh", None), "boundary"):
        raise InputError("this body has no surface", where=f"node '{node.name}'", value=body.kind)
    seen = np.asarray(body.mesh.boundary.node_indices)
    triangles = np.searchsorted(seen, body.mesh.boundary.triangles).astype(np.int64)
    if node.is_floating:
        return PointSet(node, points_in_frame(*body.node_shapes(seen)), node.rest[seen], label), triangles
    return PointSet(node, WeightedPoints.subset(seen, len(node.rest)), node.rest[seen], label), triangles


def render_points(node: Node) -> PointSet:
    """The vertices of the surface that a tree of domains shows, to be pulled at."""
    body = node.body
    if getattr(body, "kind", None) != "tree" or body.surface is None:
        raise InputError(
            "this body was given no surface", where=f"node '{node.name}'", fix="Use TreeBody(..., surface=)."
        )
    points = body.seen.points
    return PointSet(node, points, node.placement.apply(points.apply(body.rest_coordinates)), f"surface of {node.name}")
