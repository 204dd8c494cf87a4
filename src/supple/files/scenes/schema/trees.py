"""Trees of reduced domains in a scene file: a folder of a saved tree, or a mesh with a rule to cut it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import PlainValidator, model_validator

from supple.files.scenes.schema.shapes import Mesh, Surface
from supple.files.scenes.section import Section, check_table, complaint, shorten
from supple.files.scenes.values import Name, Number, NumberEach

MAX_LABELS = 2_000_000


class Budget(Section):
    """A total number of coordinates to be shared out; keys as in `ModeBudget`."""

    total: int
    by: Literal["elements", "logarithm"] | None = None
    minimum: int | None = None
    rigid: list[str] | None = None


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _modes(value: Any) -> Any:
    """A number, a table from domain to number, or a budget."""
    if _is_whole(value):
        return value
    if isinstance(value, dict) and "total" in value:
        return Budget.model_validate(value)
    if isinstance(value, dict) and value and all(_is_whole(v) for v in value.values()):
        return value
    raise complaint(
        "is not a number of modes",
        value=shorten(value),
        allowed="a whole number from 0, a table from domain to number, or a table with 'total'",
    )


def _labels(value: Any) -> Any:
    """A whole number or a name of each element."""
    if not isinstance(value, list) or not value or len(value) > MAX_LABELS:
        raise complaint("is not a list of labels", value=shorten(value), allowed="one an element")
    if all(_is_whole(v) for v in value) or all(isinstance(v, str) for v in value):
        return value
    raise complaint("the labels are not all whole numbers from 0, or all names", value=shorten(value))


def _regions(value: Any) -> Any:
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value) and len(set(value)) == len(value):
        return value
    raise complaint("is not a list of names of regions", value=shorten(value), allowed="each name once")


def _stuff(value: Any) -> Any:
    if isinstance(value, str) or (check_table(value) and all(isinstance(v, str) for v in value.values())):
        return value
    raise complaint(
        "is not a material", value=shorten(value), allowed="a material's name, or a table from domain or region to name"
    )


class Settings(Section):
    """How steps are taken; keys as in `TreeSettings`."""

    theta: Number | None = None
    passes: int | None = None
    renew_forces: bool | None = None
    converge: bool | None = None
    epsilon: Number | None = None
    max_iterations: int | None = None


CUTTING = ("labels", "regions", "parts", "rest", "modes", "material", "root", "weights", "cycles", "patches", "thin")


class TreeKeys(Section):
    """What a tree is made of, how its domains act on each other, and how it is damped."""

    tree: Name | None = None
    mesh: Mesh | None = None
    material: Annotated[Any, PlainValidator(_stuff)] = None
    modes: Annotated[Any, PlainValidator(_modes)] = None
    labels: Annotated[Any, PlainValidator(_labels)] = None
    regions: Annotated[Any, PlainValidator(_regions)] = None
    parts: int | None = None
    rest: Name | None = None
    root: Name | None = None
    weights: Literal["area", "volume"] | None = None
    cycles: Literal["refuse", "break"] | None = None
    patches: Literal["refuse", "join"] | None = None
    thin: Literal["refuse", "thicken"] | None = None
    pieces: Literal["refuse", "split"] | None = None
    coupling: Literal["articulated", "composite", "centroid", "lumped"] | None = None
    torque: bool | None = None
    mass_damping: NumberEach | None = None
    stiffness_damping: NumberEach | None = None
    settings: Settings | None = None
    grown: bool | None = None
    statics: bool | None = None
    surface: Surface | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.choose("tree", "mesh") == "tree":
            others = self.given(*CUTTING, "pieces", "fix")
            if others:
                raise complaint(f"'{next(iter(others))}' does not go with 'tree': the saved tree has its own")
            return self
        for name in ("material", "modes"):
            if getattr(self, name) is None:
                raise complaint("the key is missing", key=name)
        if self.choose("labels", "regions", "parts") != "regions" and self.rest is not None:
            raise complaint("'rest' goes with 'regions'")
        return self
