"""Contact in a scene file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator

from supple.files.scenes.section import Section, check_table, complaint, shorten
from supple.files.scenes.values import Name, Number

MAX_NAMES = 1000
"""Names and pairs of one contact."""


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
    """Coulomb's coefficient between two names, of bodies or obstacles."""

    between: Annotated[list[Name], Field(min_length=2, max_length=2)]
    friction: Number


class Contact(Section):
    """Bodies that may touch each other and the obstacles; keys as in `Contact`."""

    bodies: Annotated[list[Name], Field(max_length=MAX_NAMES)] | None = None
    name: Name | None = None
    between_bodies: bool | None = None
    enabled: bool | None = None
    friction: Number | None = None
    static_friction: Number | None = None
    frictions: Annotated[list[Friction], Field(max_length=MAX_NAMES)] = Field(default_factory=list)
    stiffness: Number | None = None
    damping: Number | None = None
    tangential_stiffness: Number | None = None
    restitution: Number | None = None
    self_contact: Annotated[list[Name], Field(max_length=MAX_NAMES)] = Field(default_factory=list)
    exclude: Annotated[list[Annotated[list[Name], Field(min_length=2, max_length=2)]], Field(max_length=MAX_NAMES)] = (
        Field(default_factory=list)
    )
    parts: Annotated[Any, PlainValidator(_parts)] = None
    margin: Number | None = None
    overlap: Literal["push", "refuse"] | None = None
    push_speed: Number | None = None
