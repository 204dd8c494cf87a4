"""Bodies in a scene file, by kind: fem, rigid, particles, voxel, tree, floating, layered, and groups of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, PlainValidator, model_validator

from supple.files.scenes.kinds import PLACED, registered_kinds
from supple.files.scenes.schema.framed import FloatingKeys, LayeredKeys
from supple.files.scenes.schema.shapes import BoxShape, CylinderShape, Mesh, SphereShape, Surface
from supple.files.scenes.schema.trees import TreeKeys
from supple.files.scenes.schema.voxels import VoxelKeys
from supple.files.scenes.section import Section, by_kind, complaint, shorten
from supple.files.scenes.values import Inertia, Name, Number, NumberEach, Pairs, Positions, Rotation, Vector


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in value) and bool(value)


def _fix(value: Any) -> Any:
    if value is True or isinstance(value, str) or _texts(value):
        return value
    raise complaint("is not what stays in place", value=shorten(value), allowed="a region, a list of regions, true")


def _fixed_regions(value: Any) -> Any:
    if isinstance(value, str) or _texts(value):
        return value
    raise complaint("is not what stays in place", value=shorten(value), allowed="a region, a list of regions")


def _material(value: Any) -> Any:
    if isinstance(value, str) or (
        isinstance(value, dict) and value and all(isinstance(v, str) for v in value.values())
    ):
        return value
    raise complaint(
        "is not a material", value=shorten(value), allowed="a material's name, or a table from region to name"
    )


def _not_the_world(value: str) -> str:
    if value == "world":
        raise complaint("'world' is the name of the world itself", fix="Choose another name.")
    return value


BodyName = Annotated[Name, AfterValidator(_not_the_world)]


class Material(Section):
    """An elastic material: young [Pa], poisson, density [kg/m³], Rayleigh damping [1/s], [s]."""

    young: Number
    poisson: Number
    density: Number
    mass_damping: Number | None = None
    stiffness_damping: Number | None = None
    colour: str | None = None


class Placed(Section):
    """What every body has: a name, a place and a velocity at the start, regions that stay."""

    name: BodyName | None = None
    under: Name | None = None
    at: Vector | None = None
    rotation: Rotation | None = None
    velocity: Vector | None = None
    spin: Vector | None = None
    colour: str | None = None


class FemBody(Placed):
    """A soft body of finite elements."""

    kind: Literal["fem"]
    mesh: Mesh
    material: Annotated[Any, PlainValidator(_material)]
    law: str | None = None
    mass: Literal["lumped", "consistent"] | None = None
    fix: Annotated[Any, PlainValidator(_fix)] = None


class RigidBody(Placed):
    """A rigid body: a shape with a density, or mass and inertia with an optional shape or surface."""

    kind: Literal["rigid"]
    box: BoxShape | None = None
    sphere: SphereShape | None = None
    cylinder: CylinderShape | None = None
    density: Number | None = None
    mass: Number | None = None
    inertia: Inertia | None = None
    surface: Surface | None = None
    fix: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_description(self) -> Self:
        shape = self.choose("box", "sphere", "cylinder", "surface", needed=False)
        if self.choose("density", "mass") == "density":
            if shape in (None, "surface"):
                raise complaint("a density needs a shape", allowed="box, sphere or cylinder")
            if self.inertia is not None:
                raise complaint("'density' and 'inertia' exclude each other", fix="Give mass and inertia.")
        elif self.inertia is None:
            raise complaint("a rigid body with a mass needs its inertia", fix="Give inertia, or a density.")
        return self


class Particles(Placed):
    """Point masses with springs between them, and balls around them that touch."""

    kind: Literal["particles"]
    positions: Positions
    mass: NumberEach
    radius: NumberEach | None = None
    springs: Pairs | None = None
    stiffness: NumberEach | None = None
    damping: NumberEach | None = None
    rest_length: NumberEach | None = None
    fix: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        if self.mass.ndim and len(self.mass) != len(self.positions):
            raise complaint("there is not one mass a particle", key="mass", value=len(self.mass))
        if self.radius is not None and self.radius.ndim and len(self.radius) != len(self.positions):
            raise complaint("there is not one radius a particle", key="radius", value=len(self.radius))
        springs = 0 if self.springs is None else len(self.springs)
        for name, value in self.given("stiffness", "damping", "rest_length").items():
            if value.ndim and len(value) != springs:
                raise complaint("there is not one value a spring", key=name, value=len(value))
        return self


class VoxelBody(Placed, VoxelKeys):
    """A soft body of voxels."""

    kind: Literal["voxel"]
    fix: Annotated[Any, PlainValidator(_fix)] = None


class TreeBody(Placed, TreeKeys):
    """A tree of reduced domains. fix: regions of the mesh whose nodes hold the root."""

    kind: Literal["tree"]
    fix: Annotated[Any, PlainValidator(_fixed_regions)] = None


class FloatingBody(Placed, FloatingKeys):
    """A body of small deformations in a frame that moves freely."""

    kind: Literal["floating"]
    fix: Literal[True] | None = None


class LayeredBody(Placed, LayeredKeys):
    """A rigid core with a soft layer around it."""

    kind: Literal["layered"]
    fix: Literal[True] | None = None


class OwnBody(Placed):
    """A body of a kind that was registered by its user. own: the keys that its reader takes."""

    kind: str
    fix: Annotated[Any, PlainValidator(_fix)] = None
    own: dict[str, Any]


def _own_body(data: dict[str, Any]) -> OwnBody | None:
    """The table of a registered kind; None where nobody registered it."""
    if data["kind"] not in registered_kinds():
        return None
    own = {key: value for key, value in data.items() if key not in PLACED}
    return OwnBody.model_validate({key: data[key] for key in data if key in PLACED} | {"own": own})


class Group(Section):
    """A node that groups the bodies that name it in `under`."""

    kind: Literal["group"]
    name: BodyName
    under: Name | None = None


Body = Annotated[
    FemBody | RigidBody | Particles | VoxelBody | TreeBody | FloatingBody | LayeredBody | OwnBody | Group,
    by_kind(
        {
            "fem": FemBody,
            "rigid": RigidBody,
            "particles": Particles,
            "voxel": VoxelBody,
            "tree": TreeBody,
            "floating": FloatingBody,
            "layered": LayeredBody,
            "group": Group,
        },
        other=_own_body,
        fix="A kind of your own is registered before the file is loaded: supple.register_kind(Class, read=, write=).",
    ),
]
