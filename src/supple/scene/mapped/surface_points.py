"""The surface of a body of any kind, as points that follow it and the triangles between them."""

from __future__ import annotations

import numpy as np

from supple.bodies.capabilities import Shown
from supple.bodies.surfaces import NumberedSurface
from supple.errors import InputError
from supple.scene.mapped.points import PointSet
from supple.scene.node import Node

Array = np.ndarray


def surface_points(node: Node) -> tuple[PointSet, Array]:
    """Points on the surface of a node's body that the wind blows on, and outward triangles (t, 3) of them."""
    if not isinstance(node, Node) or node.body is None:
        raise InputError("a surface needs a node of the scene", value=type(node).__name__)
    surface = node.wind_surface()
    if not len(surface.triangles):
        raise InputError("this body has no surface", where=f"node '{node.name}'", value=node.body.kind)
    triangles = surface.own_triangles if isinstance(surface, NumberedSurface) else surface.triangles
    return node.surface_points(surface, f"surface of {node.name}"), triangles


def render_points(node: Node) -> PointSet:
    """The vertices of the finer surface that a body shows, to be pulled at."""
    if not isinstance(node.body, Shown):
        raise InputError("this body was given no surface", where=f"node '{node.name}'")
    return node.surface_points(node.body.shown_surface(), f"surface of {node.name}")
