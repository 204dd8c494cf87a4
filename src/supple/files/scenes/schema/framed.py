"""Floating and layered bodies in a scene file: a frame that moves freely, and shapes or a soft layer in it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import PlainValidator, model_validator

from supple.files.scenes.schema.shapes import Mesh, Surface
from supple.files.scenes.section import Section, complaint, shorten
from supple.files.scenes.values import Name, Number, NumberEach, Times, Vector, WeightRows


def _part_of_mesh(value: Any) -> Any:
    """A region's name, a list of them, or numbers."""
    if isinstance(value, str) or (isinstance(value, list) and value and all(isinstance(v, str) for v in value)):
        return value
    if isinstance(value, list) and value and all(type(v) is int and 0 <= v < 2**31 for v in value):
        return np.array(value, dtype=np.int64)
    raise complaint("is not a part of the mesh", value=shorten(value), allowed="a region, a list of regions, numbers")


def _material(value: Any) -> Any:
    names = value.values() if isinstance(value, dict) and value else [value]
    if all(isinstance(name, str) for name in names):
        return value
    raise complaint(
        "is not a material", value=shorten(value), allowed="a material's name, or a table from region to name"
    )


PartOfMesh = Annotated[Any, PlainValidator(_part_of_mesh)]
Stuff = Annotated[Any, PlainValidator(_material)]


class FloatingKeys(Section):
    """What a floating body is made of; keys as in `FloatingBody.from_solid`. basis: a file with shapes of one's own;
    matrices: a file of mass and stiffness instead of mesh and material; damping: of the modes, as a matrix."""

    mesh: Mesh | None = None
    material: Stuff = None
    mass: Literal["consistent", "lumped"] | None = None
    matrices: Name | None = None
    modes: int | None = None
    basis: Name | None = None
    fixed: PartOfMesh = None
    origin: Vector | None = None
    stiffening: bool | None = None
    cubic: bool | None = None
    mass_damping: Number | None = None
    stiffness_damping: Number | None = None
    damping_ratio: NumberEach | None = None
    damping: WeightRows | None = None
    q: Times | None = None
    q_rate: Times | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.choose("mesh", "matrices") == "matrices":
            for name in ("material", "mass", "stiffening", "cubic"):
                if getattr(self, name) is not None:
                    raise complaint(f"'{name}' does not go with 'matrices'")
        elif self.material is None:
            raise complaint("the key is missing", key="material")
        self.choose("modes", "basis", needed=False)
        if self.modes is not None and not 0 < self.modes < 10_000:
            raise complaint("is not a number of modes", key="modes", value=self.modes, allowed="1, 2, ...")
        others = self.given("mass_damping", "stiffness_damping", "damping_ratio")
        if self.damping is not None and others:
            raise complaint(f"'damping' and '{next(iter(others))}' exclude each other", fix="Give one of them.")
        return self


class LayeredKeys(Section):
    """What a layered body is made of: a mesh whose core is named, or a closed surface with the layer's thickness [m].

    Keys as in `LayeredBody.from_mesh` and `from_surface`."""

    mesh: Mesh | None = None
    surface: Surface | None = None
    material: Stuff
    core: PartOfMesh = None
    thickness: Number | None = None
    cells: int | None = None
    core_density: Number | None = None
    law: str | None = None
    origin: Vector | None = None
    mass_damping: Number | None = None
    stiffness_damping: Number | None = None
    q: Times | None = None
    q_rate: Times | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        needed, others = {"mesh": ("core", ("thickness", "cells")), "surface": ("thickness", ("core",))}[
            str(self.choose("mesh", "surface"))
        ]
        for name in others:
            if getattr(self, name) is not None:
                raise complaint(f"'{name}' does not go with '{'mesh' if self.mesh is not None else 'surface'}'")
        if getattr(self, needed) is None:
            raise complaint("the key is missing", key=needed)
        return self
