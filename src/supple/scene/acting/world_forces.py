"""What the world does to the surfaces of all bodies: the scene says it once, each body gets a force of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.bodies.surfaces import NumberedSurface
from supple.scene.acting.ball_fluid import BallFluid
from supple.scene.acting.ball_wind import BallWind
from supple.scene.acting.fluid_force import FluidForce
from supple.scene.mapped.points import PointSet
from supple.scene.node import Node
from supple.scene.scene import Scene

Array = np.ndarray


class WorldForce(NamedTuple):
    """A force on points of one body."""

    label: str
    on: Any
    force: Any


def world_forces(scene: Scene) -> list[WorldForce]:
    """The winds and the fluid on every body with a surface."""
    found: list[WorldForce] = []
    for name, wind in scene.winds.items():
        blown = (_wind_on(node, f"{name} on {node.name}", wind) for node in scene.nodes)
        found += [force for force in blown if force is not None]
    if scene.fluid is not None:
        wet = (_fluid_on(node, scene) for node in scene.nodes)
        found += [force for force in wet if force is not None]
    return found


def _wind_on(node: Node, label: str, wind: Any) -> WorldForce | None:
    """A wind on the surface of a body, or on its balls; None for a body that fills no space."""
    if len(node.wind_surface().triangles):
        force = wind.on_node(node)
        return WorldForce(label, force.on, force)
    points, radius = _balls(node)
    return WorldForce(label, points, BallWind(wind, radius)) if radius.any() else None


def _balls(node: Node) -> tuple[PointSet, Array]:
    """The points of a body and the radii (n,) [m] of balls around them, 0: none."""
    surface = node.held_body.contact_surface()
    points = node.surface_points(surface, f"balls of {node.name}")
    return points, np.broadcast_to(np.asarray(getattr(surface, "radius", 0.0), dtype=float), (points.count,))


def _fluid_on(node: Node, scene: Scene) -> WorldForce | None:
    """The fluid on the surface of a body, or on its balls; None for a body that fills no space."""
    assert scene.fluid is not None
    gravity, label = np.asarray(scene.gravity, dtype=float), f"fluid on {node.name}"
    surface = node.held_body.contact_surface()
    if len(surface.triangles):
        points = node.surface_points(surface, f"wet surface of {node.name}")
        triangles = surface.own_triangles if isinstance(surface, NumberedSurface) else surface.triangles
        return WorldForce(label, points, FluidForce(scene.fluid, np.asarray(triangles, dtype=np.int64), gravity))
    points, radius = _balls(node)
    return WorldForce(label, points, BallFluid(scene.fluid, radius, gravity)) if radius.any() else None
