"""A rigid body: mass, inertia, and a surface to look at and to attach to. Its frame sits at the centre of mass."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_array, check_vector
from supple.bodies.body_protocol import Embedding, Method, Numbers
from supple.bodies.coordinates import Frames
from supple.bodies.mappings import FramePoints
from supple.bodies.placement import Placement
from supple.bodies.protocols import PlacedBody
from supple.bodies.rigid.mass import FrameMass
from supple.bodies.rigid.refining import subdivided
from supple.bodies.surfaces import FrameSkin, MappedSurface, RenderSurface
from supple.errors import InputError, check_number, is_finite, is_number
from supple.geometry import SurfaceMesh, box_hexes, cylinder_tets, sphere_tets
from supple.geometry.surfaces.convex import ConvexShape

Array = np.ndarray
LARGEST = 1e60
"""[m], so that moments of inertia are finite."""


def surface_of(mesh: object) -> SurfaceMesh:
    """The boundary of a solid mesh as a surface of its own, centred on the origin."""
    boundary = mesh.boundary  # type: ignore[attr-defined]
    used, triangles = np.unique(boundary.triangles, return_inverse=True)
    nodes = mesh.nodes[used]  # type: ignore[attr-defined]
    return SurfaceMesh(nodes - (nodes.min(axis=0) + nodes.max(axis=0)) / 2, triangles.reshape(-1, 3))


@dataclass(frozen=True, eq=False)
class RigidBody:
    """A rigid body. mass [kg]; inertia [kg m²] about the centre of mass in body axes, (3,) principal or (3, 3).

    surface: to draw and to attach to, in body axes with the centre of mass at the origin. convex: the shape with which
    it touches other rigid bodies, where that is not its surface, such as a ball's.

    >>> ball = RigidBody.sphere(0.1, density=1000)
    >>> round(ball.mass, 4)
    4.1888
    """

    mass: float
    inertia: ArrayLike
    surface: SurfaceMesh | None = field(default=None, kw_only=True)
    convex: ConvexShape | None = field(default=None, kw_only=True)
    kind = "rigid"
    method = Method.IMPLICIT
    coordinates = Frames(1)

    def __post_init__(self) -> None:
        if not (is_number(self.mass) and is_finite(self.mass) and self.mass > 0):
            raise InputError("the mass is not positive", where="rigid body", value=self.mass, allowed="> 0 kg")
        I = check_array(self.inertia, name="inertia", where="rigid body")
        I = np.diag(I) if I.shape == (3,) else I.copy()
        if I.shape != (3, 3) or not np.isfinite(I).all() or not np.allclose(I, I.T, rtol=1e-9, atol=0):
            raise InputError("the inertia is not a symmetric 3x3 matrix", where="rigid body", value=self.inertia)
        principal = np.linalg.eigvalsh(I)
        if principal[0] <= 0 or principal[2] > (principal[0] + principal[1]) * (1 + 1e-9):
            raise InputError(
                "no body has these principal moments of inertia",
                where="rigid body",
                value=principal.tolist(),
                allowed="all positive, the largest at most the sum of the others",
            )
        I.setflags(write=False)
        object.__setattr__(self, "inertia", I)

    @classmethod
    def box(cls, size: ArrayLike, *, density: float) -> RigidBody:
        """A solid box with edges size (3,) [m] and density [kg/m³]."""
        s = _positive(check_vector(size, name="size", where="rigid box"), "size")
        m = _positive(density, "density") * s.prod()
        surface = surface_of(box_hexes(size=tuple(s), cells=(1, 1, 1)))
        return cls(float(m), m / 12 * (np.sum(s**2) - s**2), surface=surface, convex=ConvexShape.box(s))

    @classmethod
    def sphere(cls, radius: float, *, density: float, cells: int = 8) -> RigidBody:
        """A solid sphere: radius [m], density [kg/m³]. cells: along an edge of the cube that its surface is made from;
        on soft bodies more of them roll more smoothly and touch in more points."""
        r = _length(radius, "radius")
        m = _positive(density, "density") * 4 / 3 * pi * r**3
        surface = surface_of(sphere_tets(radius=float(r), cells=cells))
        return cls(float(m), np.full(3, 0.4 * m * r**2), surface=surface, convex=ConvexShape.ball(float(r)))

    @classmethod
    def cylinder(cls, radius: float, height: float, *, density: float) -> RigidBody:
        """A solid cylinder along z: radius, height [m], density [kg/m³]."""
        r, h = _length(radius, "radius"), _length(height, "height")
        m = _positive(density, "density") * pi * r**2 * h
        side = m * (3 * r**2 + h**2) / 12
        surface = surface_of(cylinder_tets(radius=float(r), height=float(h), cells=(6, 1)))
        return cls(float(m), np.array([side, side, m * r**2 / 2]), surface=surface)

    def changed(self, values: dict[str, Any], *, where: str) -> RigidBody:
        """With mass and inertia times density_factor > 0; velocities stay as they are."""
        if others := [name for name in values if name != "density_factor"]:
            raise InputError("this cannot be changed", where=where, value=others[0], allowed="density_factor")
        factor = check_number(values["density_factor"], name="density_factor", where=where, above=0.0)
        return replace(self, mass=self.mass * factor, inertia=np.asarray(self.inertia) * factor)

    @cached_property
    def shape(self) -> ConvexShape | None:
        """The convex shape with which it touches other rigid bodies; None where its surface is not convex."""
        if self.convex is not None or self.surface is None:
            return self.convex
        return ConvexShape.of(self.surface)

    def convex_shape(self) -> ConvexShape | None:
        """See `shape`."""
        return self.shape

    def place(self, placement: Placement) -> PlacedBody:
        """The body's frame in the world."""
        from supple.algebra.dense import rotations

        x = np.concatenate([placement.at, placement.rotation])[None]
        w_body = rotations.rotate(rotations.conjugate(placement.rotation), placement.spin)
        v = np.concatenate([placement.velocity, w_body])[None]
        mass = FrameMass(np.array([float(self.mass)]), np.asarray(self.inertia)[None])
        return PlacedBody(self.coordinates, x, v, (mass,), ())

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return float(self.mass)

    def frame_origin(self) -> Array:
        """The centre of mass is the origin of its axes."""
        return np.zeros(3)

    @property
    def rest_points(self) -> Array:
        """Points of its surface, or its origin where it has none, (n, 3) [m]."""
        return np.zeros((1, 3)) if self.surface is None else np.asarray(self.surface.nodes)

    def point_numbers(self, selector: Numbers) -> Array:
        """None: a rigid body has no nodes that a person numbers."""
        raise InputError("a rigid body's points are given by position", fix="Use at= or local=.")

    def point_mapping(self, numbers: Array | None) -> FramePoints:
        """Points of its surface."""
        if self.surface is None:
            raise InputError("a rigid body's points are given by position", fix="Use at= or local=.")
        return FramePoints.make(self.rest_points if numbers is None else self.rest_points[numbers])

    def embed(self, local: Array) -> Embedding:
        """Any places (k, 3) [m] in its axes."""
        return Embedding(FramePoints.make(local))

    def contact_surface(self) -> MappedSurface:
        """Its surface, with triangles of at most COARSE of its size."""
        if self.surface is None:
            raise InputError(
                "a rigid body without a surface touches nothing",
                fix="Make it by RigidBody.box, .sphere or .cylinder, or leave it out of the contact.",
            )
        places, triangles = subdivided(self.rest_points, np.asarray(self.surface.triangles, dtype=np.int64))
        return MappedSurface((FramePoints.make(places),), places, triangles)

    def wind_surface(self) -> MappedSurface:
        """Its surface as it is given."""
        if self.surface is None:
            raise InputError("this body has no surface", value=self.kind)
        nodes, triangles = self.rest_points, np.asarray(self.surface.triangles, dtype=np.int64)
        return MappedSurface((FramePoints.make(nodes),), nodes, triangles)

    def render_surface(self) -> RenderSurface:
        """Its surface, or its origin."""
        skin = FrameSkin(self.rest_points)
        if self.surface is None:
            return RenderSurface(skin, vertices=np.zeros((1, 1), dtype=np.int64))
        return RenderSurface(skin, np.asarray(self.surface.triangles, dtype=np.int64))


def _length(value: float, name: str) -> float:
    return check_number(value, name=name, where="rigid body", above=0.0, most=LARGEST)


def _positive(value: ArrayLike, name: str) -> Array:
    array = check_array(value, name=name, where="rigid body")
    if name == "density" and array.ndim:
        raise InputError("the density is not a number", where="rigid body", value=value)
    if not np.isfinite(array).all() or (array <= 0).any():
        raise InputError(f"{name} is not positive", where="rigid body", value=value, allowed="> 0")
    return array
