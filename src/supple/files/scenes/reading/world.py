"""The world of a scene file: obstacles and a fluid."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.contact import Box, Capsule, Floor, HeightField, MeshObstacle, Obstacle, Plane, Sphere
from supple.files.scenes.places import Place
from supple.files.scenes.reading.bodies import build_surface
from supple.files.scenes.schema import world as schema
from supple.interaction.fluid import Fluid
from supple.interaction.motion import Motion
from supple.scene import Scene

Array = np.ndarray
UNIT_TOLERANCE = 1e-15  # a direction this near to unit length is taken as written, so that a saved one comes back


def build_world(scene: Scene, document: Any, place: Place) -> None:
    """Give the scene its obstacles and its fluid."""
    for k, section in enumerate(document.obstacles):
        with place.at(f"obstacles[{k}]").guarded():
            scene.add(build_obstacle(section, place.at(f"obstacles[{k}]")))
    if document.fluid is not None:
        with place.at("fluid").guarded():
            scene.add(Fluid(**{name: value for name, value in document.fluid if value is not None}))


def build_obstacle(section: Any, place: Place) -> Obstacle:
    """The obstacle of a table."""
    own = section.given("friction", "static_friction", "restitution", "name")
    if section.motion is not None:
        own["motion"] = Motion(**section.motion.given(*schema.Motion.model_fields))
    if isinstance(section, schema.Floor):
        return Floor(section.height or 0.0, **own)
    if isinstance(section, schema.Plane):
        plane = Plane(section.normal, **section.given("offset"), **own)
        return _as_written(plane, "normal", section.normal)
    if isinstance(section, schema.Sphere):
        return Sphere(section.centre, section.radius, **own)
    if isinstance(section, schema.Capsule):
        return Capsule(section.start, section.end, section.radius, **own)
    if isinstance(section, schema.Box):
        block = Box(section.centre, section.edges, section.rotation, **own)
        given = section.rotation
        return block if given is None or given.shape != (4,) else _as_written(block, "rotation", given)
    if isinstance(section, schema.MeshObstacle):
        surface = build_surface(section.surface, place)
        assert surface is not None
        return MeshObstacle(surface, **own)
    return HeightField(section.heights, **section.given("origin", "spacing"), **own)


def _as_written(thing: Any, name: str, given: Array) -> Any:
    if abs(np.linalg.norm(given) - 1) <= UNIT_TOLERANCE:
        object.__setattr__(thing, name, given)
    return thing
