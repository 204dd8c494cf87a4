"""What acts on bodies, in a scene file: points, loads, springs, joints, filters."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import PlainValidator, model_validator

from supple.files.scenes.section import Section, by_kind, complaint, shorten
from supple.files.scenes.values import (
    ForceInTime,
    IndexRows,
    Name,
    Number,
    NumberEach,
    NumberInTime,
    Numbers,
    OnePosition,
    Pair,
    Vector,
    VectorInTime,
    WeightRows,
)

MAX_NAMES = 10_000
"""Bodies that one wind blows on."""


class Points(Section):
    """Points of a body, of the world, of other points, or of several joined."""

    body: Name | None = None
    world: OnePosition | None = None
    of: Points | None = None
    join: list[Points] | None = None
    region: Name | None = None
    numbers: Numbers | None = None
    at: OnePosition | None = None
    local: OnePosition | None = None
    nodes: IndexRows | None = None
    weights: WeightRows | None = None
    centroid: bool = False

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        source = self.choose("body", "world", "of", "join")
        chosen = self.choose("region", "numbers", "at", "local", "nodes", needed=False)
        allowed = {
            "body": ("region", "numbers", "at", "local", "nodes"),
            "of": ("numbers", "nodes"),
            "join": ("nodes",),
        }
        if chosen is not None and chosen not in allowed.get(source or "", ()):
            raise complaint(f"'{chosen}' does not go with '{source}'")
        if (self.nodes is None) != (self.weights is None):
            raise complaint("'nodes' and 'weights' need each other")
        if self.nodes is not None and self.weights is not None and self.nodes.shape != self.weights.shape:
            raise complaint("'nodes' and 'weights' have different shapes")
        if self.centroid and source == "world":
            raise complaint("a point of the world is its own centroid")
        return self


def _side(value: Any) -> Any:
    """A body's name, "world", or points."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return Points.model_validate(value)
    raise complaint("is not a side of a joint", value=shorten(value), allowed="a body's name, 'world', or points")


def _bodies(value: Any) -> list[str]:
    """A body's name, or a list of them."""
    names = value if isinstance(value, list) else [value]
    if not names or len(names) > MAX_NAMES or not all(isinstance(name, str) for name in names):
        raise complaint("does not name bodies", value=shorten(value), allowed="a body's name, or a list of them")
    return names


def _patch(value: Any) -> Any:
    """A region's name, a radius, or numbers of points."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    if isinstance(value, list) and value and all(type(number) is int for number in value):
        return np.array(value, dtype=np.int64)
    raise complaint(
        "is not a patch of a body", value=shorten(value), allowed="a region's name, a radius, or numbers of points"
    )


Patch = Annotated[Any, PlainValidator(_patch)]


class Load(Section):
    """A force on points, a force and torque on voxels, a rigid body or a section, or a pressure on boundary faces."""

    name: Name | None = None
    on: Points
    force: ForceInTime = None
    torque: VectorInTime = None
    pressure: NumberInTime = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.torque is not None:
            self.choose("torque", "pressure")
            if not self._on_a_body:
                what = "a torque acts on voxels, on a section of a solid or on a rigid body"
                raise complaint(what, allowed="on = { body = ... }")
        elif self.choose("force", "pressure") == "pressure" and (
            not self._on_a_body or self.on.choose("region", "numbers", needed=False) is None
        ):
            raise complaint("a pressure acts on a region of a body", allowed="on = { body = ..., region = ... }")
        return self

    @property
    def _on_a_body(self) -> bool:
        placed = self.on.choose("at", "local", "nodes", needed=False)
        return self.on.body is not None and placed is None and not self.on.centroid


class Springs(Section):
    """Springs between the points of two sides, point by point."""

    name: Name | None = None
    a: Points
    b: Points
    stiffness: NumberEach
    damping: NumberEach | None = None
    rest_length: NumberEach | None = None


class Wind(Section):
    """Wind on the surfaces of bodies, of all of them where none is named; keys as in `Wind`."""

    name: Name | None = None
    on: Annotated[Any, PlainValidator(_bodies)] = None
    velocity: Vector
    intensity: Number | None = None
    length: Number | None = None
    density: Number | None = None
    drag: Number | None = None
    two_sided: bool | None = None
    modes: int | None = None
    seed: int | None = None

    @model_validator(mode="after")
    def _few_waves(self) -> Self:
        for name, most in (("modes", 3000), ("seed", 2**31)):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= most:
                raise complaint("is out of range", key=name, value=shorten(value), allowed=f"0..{most}")
        return self


class Mass(Section):
    """Point masses on points, one for all or one each [kg]."""

    name: Name | None = None
    on: Points
    mass: NumberEach


class BallJoint(Section):
    """Points of two sides that stay together."""

    kind: Literal["ball"]
    name: Name | None = None
    a: Annotated[Any, PlainValidator(_side)]
    b: Annotated[Any, PlainValidator(_side)] = None
    at: Vector | None = None


class Sides(Section):
    """Two bodies, or a body and the world, at a place, and what part of each is held there."""

    name: Name | None = None
    a: Name
    b: Name | None = None
    at: Vector | None = None
    patch_a: Patch = None
    patch_b: Patch = None


class HingeJoint(Sides):
    """Two sides that turn about a common axis."""

    kind: Literal["hinge"]
    axis: Vector | None = None
    limits: Pair | None = None
    motor_speed: NumberInTime = None
    motor_torque: Number | None = None


class SliderJoint(Sides):
    """Two sides that slide along a common axis."""

    kind: Literal["slider"]
    axis: Vector | None = None
    limits: Pair | None = None
    motor_speed: NumberInTime = None
    motor_force: Number | None = None


class FixedJoint(Sides):
    """Two sides that are held fast to each other."""

    kind: Literal["fixed"]


Joint = Annotated[
    BallJoint | HingeJoint | SliderJoint | FixedJoint,
    by_kind({"ball": BallJoint, "hinge": HingeJoint, "slider": SliderJoint, "fixed": FixedJoint}),
]


class _Filter(Section):
    """What every filter has: a body, and a region or numbers of its points; without them, all of it."""

    body: Name
    region: Name | None = None
    numbers: Numbers | None = None

    @model_validator(mode="after")
    def _one_selection(self) -> Self:
        self.choose("region", "numbers", needed=False)
        return self


class FixedPoints(_Filter):
    """Points that stay in place."""

    kind: Literal["fixed"]
    rotation: bool | None = None


class FixedAxes(_Filter):
    """Points that keep some of their coordinates."""

    kind: Literal["axes"]
    axes: str
    rotation: bool | None = None


class SlidingPlane(_Filter):
    """Points that slide in a plane."""

    kind: Literal["plane"]
    normal: Vector


class PrescribedMotion(_Filter):
    """Points that move as told."""

    kind: Literal["motion"]
    displacement: VectorInTime = None
    rotation: VectorInTime = None


Filter = Annotated[
    FixedPoints | FixedAxes | SlidingPlane | PrescribedMotion,
    by_kind({"fixed": FixedPoints, "axes": FixedAxes, "plane": SlidingPlane, "motion": PrescribedMotion}),
]
