"""The world of a scene as tables of a scene file: obstacles and a fluid."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from supple.contact import Box, Capsule, HeightField, MeshObstacle, Obstacle, Plane, Sphere
from supple.errors import InputError
from supple.files.scenes.writing.values import Table, plain
from supple.interaction.fluid import Fluid
from supple.interaction.motion import Motion
from supple.scene import Scene


def describe_world(scene: Scene) -> Table:
    """The tables of the obstacles and the fluid."""
    data: Table = {"obstacles": [describe_obstacle(o, name) for name, o in scene.obstacles.items()]}
    if scene.fluid is not None:
        data["fluid"] = {"density": float(scene.fluid.density)} | _changed(scene.fluid, Fluid(scene.fluid.density))
    return data


def describe_obstacle(obstacle: Obstacle, name: str) -> Table:
    """The table of an obstacle."""
    table = _shape(obstacle, name)
    if obstacle.motion is not None:
        given = {f.name: getattr(obstacle.motion, f.name) for f in fields(Motion)}
        table["motion"] = {key: plain(value) for key, value in given.items() if value is not None and np.any(value)}
    for key in ("friction", "static_friction", "restitution"):
        value = getattr(obstacle, key)
        if value is not None:
            table[key] = float(value)
    return table | {"name": name}


def _shape(obstacle: Obstacle, name: str) -> Table:
    if isinstance(obstacle, Plane):
        if plain(obstacle.normal) == [0.0, 0.0, 1.0]:
            return {"kind": "floor"} | ({"height": float(obstacle.offset)} if obstacle.offset else {})
        return {"kind": "plane", "normal": plain(obstacle.normal), "offset": float(obstacle.offset)}
    if isinstance(obstacle, Sphere):
        return {"kind": "sphere", "centre": plain(obstacle.centre), "radius": float(obstacle.radius)}
    if isinstance(obstacle, Capsule):
        ends = {end: plain(getattr(obstacle, end)) for end in ("start", "end")}
        return {"kind": "capsule", **ends, "radius": float(obstacle.radius)}
    if isinstance(obstacle, Box):
        table = {"kind": "box", "centre": plain(obstacle.centre), "edges": plain(obstacle.edges)}
        turned = plain(obstacle.rotation)
        return table | ({} if turned == [1.0, 0.0, 0.0, 0.0] else {"rotation": turned})
    if isinstance(obstacle, HeightField):
        keys = ("heights", "origin", "spacing")
        return {"kind": "height_field"} | {key: plain(getattr(obstacle, key)) for key in keys}
    if isinstance(obstacle, MeshObstacle):
        mesh = obstacle.mesh
        return {"kind": "mesh", "surface": {"nodes": plain(mesh.nodes), "triangles": plain(mesh.triangles)}}
    raise InputError("an obstacle of your own cannot be saved", where=f"obstacle '{name}'", fix="Use a .py file.")


def _changed(thing: Any, default: Any) -> Table:
    return {
        f.name: plain(value)
        for f in fields(thing)
        if not np.array_equal(value := getattr(thing, f.name), getattr(default, f.name))
    }
