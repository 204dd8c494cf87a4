"""The world of a scene file: obstacles and a fluid, for bodies of all kinds."""

from __future__ import annotations

from typing import Annotated, Literal

from supple.files.scenes.schema import shapes
from supple.files.scenes.section import Section, by_kind
from supple.files.scenes.values import HeightRows, Name, Number, OneOrTwo, Pair, Positions, Rotation, Times, Vector


class Motion(Section):
    """How an obstacle moves: by constant velocities, or through samples; keys as in `Motion`."""

    velocity: Vector | None = None
    angular_velocity: Vector | None = None
    centre: Vector | None = None
    times: Times | None = None
    positions: Positions | None = None
    rotations: Positions | None = None


class Surface(Section):
    """Keys of every obstacle: frictions and restitution of its own, how it moves, and a name."""

    friction: Number | None = None
    static_friction: Number | None = None
    restitution: Number | None = None
    motion: Motion | None = None
    name: Name | None = None


class Floor(Surface):
    """A level floor at a height [m]."""

    kind: Literal["floor"]
    height: Number | None = None


class Plane(Surface):
    """The half-space normal . x >= offset [m] is free."""

    kind: Literal["plane"]
    normal: Vector
    offset: Number | None = None


class Sphere(Surface):
    """A ball. centre, radius [m]."""

    kind: Literal["sphere"]
    centre: Vector
    radius: Number


class Capsule(Surface):
    """All points within a radius of a line [m]."""

    kind: Literal["capsule"]
    start: Vector
    end: Vector
    radius: Number


class Box(Surface):
    """A block. centre, edges [m]."""

    kind: Literal["box"]
    centre: Vector
    edges: Vector
    rotation: Rotation | None = None


class HeightField(Surface):
    """A height field [m]."""

    kind: Literal["height_field"]
    heights: HeightRows
    origin: Pair | None = None
    spacing: OneOrTwo | None = None


class MeshObstacle(Surface):
    """A closed surface."""

    kind: Literal["mesh"]
    surface: shapes.Surface


Obstacle = Annotated[
    Floor | Plane | Sphere | Capsule | Box | HeightField | MeshObstacle,
    by_kind(
        {
            "floor": Floor,
            "plane": Plane,
            "sphere": Sphere,
            "capsule": Capsule,
            "box": Box,
            "height_field": HeightField,
            "mesh": MeshObstacle,
        }
    ),
]


class Fluid(Section):
    """A fluid around bodies of all kinds."""

    density: Number
    drag: Number | None = None
    flow: Vector | None = None
    level: Number | None = None
