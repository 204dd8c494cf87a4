"""What the world does to the surfaces of all bodies: the scene says it once, each body gets a force of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.bodies.surfaces import NumberedSurface
from supple.scene.acting.ball_fluid import BallFluid
from supple.scene.acting.fluid_force import FluidForce
from supple.scene.node import Node
from supple.scene.scene import Scene


class WorldForce(NamedTuple):
    """A force on points of one body."""

    label: str
    on: Any
    force: Any


def world_forces(scene: Scene) -> list[WorldForce]:
    """The winds and the fluid on every body with a surface."""
    found: list[WorldForce] = []
    for name, wind in scene.winds.items():
        blown = [node for node in scene.nodes if len(node.wind_surface().triangles)]
        bound = ((node, wind.on_node(node)) for node in blown)
        found += [WorldForce(f"{name} on {node.name}", force.on, force) for node, force in bound]
    if scene.fluid is not None:
        wet = (_fluid_on(node, scene) for node in scene.nodes)
        found += [force for force in wet if force is not None]
    return found


def _fluid_on(node: Node, scene: Scene) -> WorldForce | None:
    """The fluid on the surface of a body, or on its balls; None for a body that fills no space."""
    assert scene.fluid is not None
    gravity, label = np.asarray(scene.gravity, dtype=float), f"fluid on {node.name}"
    surface = node.held_body.contact_surface()
    points = node.surface_points(surface, f"wet surface of {node.name}")
    if len(surface.triangles):
        triangles = surface.own_triangles if isinstance(surface, NumberedSurface) else surface.triangles
        return WorldForce(label, points, FluidForce(scene.fluid, np.asarray(triangles, dtype=np.int64), gravity))
    radius = np.broadcast_to(np.asarray(getattr(surface, "radius", 0.0), dtype=float), (points.count,))
    return WorldForce(label, points, BallFluid(scene.fluid, radius, gravity)) if radius.any() else None
