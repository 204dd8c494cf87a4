"""A scene file as a whole. Version 1; nothing in it is ever executed."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, model_validator

from supple.files.scenes.schema.acting import Filter, Joint, Load, Mass, Springs, Wind
from supple.files.scenes.schema.bodies import Body, Material
from supple.files.scenes.schema.contact import Contact
from supple.files.scenes.schema.events import MAX_EVENTS, Event
from supple.files.scenes.schema.solver import Solver
from supple.files.scenes.schema.voxels import VoxelMaterial
from supple.files.scenes.schema.world import Fluid, Obstacle
from supple.files.scenes.section import Section, check_table, complaint
from supple.files.scenes.values import Name, Number, Vector

VERSION = 1
MAX_ENTRIES = 10_000  # of each list: a hostile file must not keep the reader busy for hours

WITH_EXAMPLE = {"supple", "example", "name", "run", "events"}

Entry = TypeVar("Entry")
Entries = Annotated[list[Entry], Field(max_length=MAX_ENTRIES)]


class RunKeys(Section):
    """How long and how finely the scene is run: until [s], dt [s], record_every [s]."""

    until: Number | None = None
    dt: Number | None = None
    record_every: Number | None = None

    @model_validator(mode="after")
    def _positive(self) -> Self:
        for name, value in self.given("until", "dt", "record_every").items():
            if value <= 0:
                raise complaint("is not positive", key=name, value=value, allowed="> 0 s")
        return self


class Document(Section):
    """The tables of a scene file."""

    supple: Literal[1]
    name: Name | None = None
    gravity: Vector | None = None
    materials: dict[str, Material] = Field(default_factory=dict)
    voxel_materials: dict[str, VoxelMaterial] = Field(default_factory=dict)
    example: Name | None = None
    bodies: Entries[Body] = Field(default_factory=list)
    loads: Entries[Load] = Field(default_factory=list)
    springs: Entries[Springs] = Field(default_factory=list)
    wind: Entries[Wind] = Field(default_factory=list)
    masses: Entries[Mass] = Field(default_factory=list)
    joints: Entries[Joint] = Field(default_factory=list)
    filters: Entries[Filter] = Field(default_factory=list)
    contact: Entries[Contact] = Field(default_factory=list)
    obstacles: Entries[Obstacle] = Field(default_factory=list)
    fluid: Fluid | None = None
    force_order: list[str] | None = None
    solver: Solver = None
    run: RunKeys = RunKeys()
    events: Annotated[list[Event], Field(max_length=MAX_EVENTS)] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _version_and_kinds(cls, data: Any) -> Any:
        table = check_table(data)
        if "supple" not in table:
            raise complaint("the key 'supple' is missing", fix=f"Begin the file with: supple = {VERSION}")
        version = table["supple"]
        if version is not True and isinstance(version, int) and version != VERSION:
            raise complaint(
                "this version of scene files is not read",
                key="supple",
                value=version if abs(version) < 1e9 else None,
                allowed=str(VERSION),
            )
        return data

    @model_validator(mode="after")
    def _bodies_or_example(self) -> Self:
        given = self.model_fields_set
        if self.example is None and "bodies" not in given:
            raise complaint("the key is missing", key="bodies")
        if self.example is not None and (others := given - WITH_EXAMPLE):
            raise complaint(
                "does not go with 'example'", key=min(others), allowed=", ".join(sorted(WITH_EXAMPLE)),
                fix="The built-in scene has its own.",
            )  # fmt: skip
        return self

    @model_validator(mode="after")
    def _ordered_events(self) -> Self:
        for number, (one, two) in enumerate(pairwise(self.events)):
            if two.step < one.step:
                raise complaint(
                    "the events go backwards",
                    key=f"events[{number + 1}].step",
                    value=two.step,
                    allowed=f">= {one.step}",
                )
        return self

    @model_validator(mode="after")
    def _ordered_forces(self) -> Self:
        if self.force_order is not None:
            every = {f"{kind}[{k}]" for kind in ("loads", "springs", "wind") for k in range(len(getattr(self, kind)))}
            if len(self.force_order) != len(every) or set(self.force_order) != every:
                raise complaint("does not name each load, spring and wind once", key="force_order")
        return self
