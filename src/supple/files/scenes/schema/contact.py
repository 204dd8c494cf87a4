"""Contact in a scene file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator

from supple.files.scenes.schema.voxels import Box, Floor, HeightField, Plane, Sphere
from supple.files.scenes.section import Section, by_kind, check_table, complaint, shorten
from supple.files.scenes.values import Name, Number, Vector

MAX_ITERATIONS = 1000
"""Obstacles, names and pairs of one contact."""


class Capsule(Section):
    """All points within a radius of a line [m]."""

    kind: Literal["capsule"]
    start: Vector
    end: Vector
    radius: Number


ContactObstacle = Annotated[
    Floor | Plane | Sphere | Box | HeightField | Capsule,
    by_kind({"floor": Floor, "plane": Plane, "sphere": Sphere, "box": Box, "ground": HeightField, "capsule": Capsule}),
]


def _parts(value: Any) -> dict[str, list[str]]:
    """By a body's name, regions of its surface."""
    out = {}
    for name, regions in check_table(value).items():
        given = regions if isinstance(regions, list) else [regions]
        if not given or not all(isinstance(region, str) for region in given):
            raise complaint("is not a region or a list of regions", key=name, value=shorten(regions))
        out[name] = given
    return out


class Friction(Section):
    """Coulomb's coefficient between two names; an obstacle's name is its kind, a floor's "plane"."""

    between: Annotated[list[Name], Field(min_length=2, max_length=2)]
    friction: Number


class Contact(Section):
    """Bodies that may touch each other, and obstacles; keys as in `Contact`."""

    bodies: Annotated[list[Name], Field(max_length=MAX_ITERATIONS)] | None = None
    obstacles: Annotated[list[ContactObstacle], Field(max_length=MAX_ITERATIONS)] = Field(default_factory=list)
    friction: Number | None = None
    frictions: Annotated[list[Friction], Field(max_length=MAX_ITERATIONS)] = Field(default_factory=list)
    stiffness: Number | None = None
    damping: Number | None = None
    tangential_stiffness: Number | None = None
    self_contact: Annotated[list[Name], Field(max_length=MAX_ITERATIONS)] = Field(default_factory=list)
    parts: Annotated[Any, PlainValidator(_parts)] = None
    margin: Number | None = None
    overlap: Literal["push", "refuse"] | None = None
    push_speed: Number | None = None
