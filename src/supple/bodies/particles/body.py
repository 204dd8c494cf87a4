"""Particles: point masses, with springs between them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_array, check_whole
from supple.bodies.body_protocol import Method, Numbers
from supple.bodies.changing import Adjustment
from supple.bodies.coordinates import Points
from supple.bodies.mappings import WeightedPoints
from supple.bodies.placement import Placement
from supple.bodies.point_mass import PointMass
from supple.bodies.protocols import PlacedBody
from supple.bodies.selecting import check_numbers
from supple.bodies.surfaces import NumberedSurface, PointSkin, RenderSurface
from supple.errors import InputError
from supple.interaction.springs import SpringForce

Array = np.ndarray


CHANGEABLE = ("mass", "stiffness", "damping", "rest_length")
"""What can change while they run."""


@dataclass(frozen=True, eq=False)
class Particles:
    """Point masses at positions (n, 3) [m] with mass (n,) or one for all [kg].

    radius [m], (n,) or one for all: of the balls around them that touch other bodies; balls do not turn. Without a
    radius a particle touches surfaces by its point, and no other particle without one.
    springs: pairs of particles (s, 2), with stiffness [N/m], damping [N s/m] and rest_length [m] (default: the
    distance at rest), each one number or one a spring.

    >>> import numpy as np
    >>> chain = Particles(np.c_[np.arange(4.0), np.zeros((4, 2))], 0.1, springs=[(0, 1), (1, 2), (2, 3)], stiffness=50)
    >>> len(chain.positions)
    4
    """

    positions: ArrayLike
    mass: ArrayLike
    radius: ArrayLike = field(default=0.0, kw_only=True)
    springs: ArrayLike = field(default=(), kw_only=True)
    stiffness: ArrayLike = field(default=0.0, kw_only=True)
    damping: ArrayLike = field(default=0.0, kw_only=True)
    rest_length: ArrayLike | None = field(default=None, kw_only=True)
    kind = "particles"
    method = Method.IMPLICIT

    def __post_init__(self) -> None:
        X = np.atleast_2d(check_array(self.positions, name="positions", where="particles")).copy()
        if X.ndim != 2 or X.shape[1] != 3 or not len(X) or not np.isfinite(X).all():
            raise InputError("positions are not (n, 3) finite numbers, n >= 1", where="particles", value=X.shape)
        m = check_array(self.mass, name="mass", where="particles")
        if m.shape not in ((), (len(X),)):
            raise InputError(
                "there is not one mass a particle", where="particles", value=m.shape, allowed=f"({len(X)},)"
            )
        m = np.broadcast_to(m, len(X)).copy()
        if not (np.isfinite(m).all() and (m > 0).all()):
            raise InputError("a particle's mass is not positive", where="particles", allowed="> 0 kg")
        r = check_array(self.radius, name="radius", where="particles")
        if r.shape not in ((), (len(X),)):
            raise InputError(
                "there is not one radius a particle", where="particles", value=r.shape, allowed=f"({len(X)},)"
            )
        r = np.broadcast_to(r, len(X)).copy()
        if not (np.isfinite(r).all() and (r >= 0).all()):
            raise InputError("a particle's radius is negative", where="particles", allowed=">= 0 m")
        pairs = check_whole(self.springs, name="springs", where="particles")
        if pairs.size and (pairs.ndim != 2 or pairs.shape[1] != 2):
            raise InputError(
                "springs are not pairs of particles", where="particles", value=pairs.shape, allowed="(n, 2)"
            )
        pairs = pairs.reshape(-1, 2)
        strangers = pairs[(pairs < 0) | (pairs >= len(X))]
        if strangers.size:
            raise InputError(
                "a spring names a particle that does not exist", where="particles", value=int(strangers[0])
            )
        if (pairs[:, 0] == pairs[:, 1]).any():
            raise InputError("a spring joins a particle to itself", where="particles")
        for name, value in (("positions", X), ("mass", m), ("radius", r), ("springs", pairs)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        _ = self.spring_force

    def changed(self, values: dict[str, Any], *, where: str) -> Particles:
        """With another mass [kg], or stiffness [N/m], damping [N s/m], rest_length [m] of the springs; one number, or
        one a particle or spring."""
        if others := [name for name in values if name not in CHANGEABLE]:
            raise InputError("this cannot be changed", where=where, value=others[0], allowed=", ".join(CHANGEABLE))
        return replace(self, **values)

    def adjustments(self) -> list[Adjustment]:
        """Stiffness and damping of its springs, where all have the same."""
        found = {key: np.unique(np.asarray(getattr(self, key), dtype=float)) for key in ("stiffness", "damping")}
        has_springs = np.size(self.springs) > 0
        return [Adjustment(key, float(one[0])) for key, one in found.items() if has_springs and len(one) == 1]

    @cached_property
    def spring_force(self) -> SpringForce:
        """The springs as a force."""
        X, pairs = np.asarray(self.positions), np.asarray(self.springs)
        rest = np.linalg.norm(X[pairs[:, 1]] - X[pairs[:, 0]], axis=1) if self.rest_length is None else self.rest_length
        return SpringForce.make(pairs, self.stiffness, rest, self.damping, where="particles")  # type: ignore[arg-type]

    def place(self, placement: Placement) -> PlacedBody:
        """The particles in the world."""
        x = placement.apply(np.asarray(self.positions))
        forces = (("springs", self.spring_force),) if np.asarray(self.springs).size else ()
        mass = PointMass(np.asarray(self.mass))
        return PlacedBody(self.coordinates, x, placement.point_velocities(x), (mass,), forces)

    @property
    def coordinates(self) -> Points:
        """Positions of the particles."""
        return Points(len(self.rest_points))

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return float(np.sum(self.mass))

    @property
    def rest_points(self) -> Array:
        """The particles, (n, 3) [m]."""
        return np.asarray(self.positions)

    def point_numbers(self, selector: Numbers) -> Array:
        """Numbers of particles; they have no regions."""
        if isinstance(selector, str):
            raise InputError("particles have no named regions", value=selector)
        return check_numbers(selector, len(self.rest_points))

    def point_mapping(self, numbers: Array | None) -> WeightedPoints | None:
        """The particles are the coordinates; some of them are a subset."""
        return None if numbers is None else WeightedPoints.subset(numbers, len(self.rest_points))

    def embed(self, local: Array) -> NoReturn:
        """Refused: there is nothing between particles."""
        raise InputError("particles fill no space to embed points in")

    def contact_surface(self) -> NumberedSurface:
        """Balls of their radii around all particles."""
        return NumberedSurface(np.arange(len(self.rest_points)), radius=np.asarray(self.radius))

    def render_surface(self) -> RenderSurface:
        """The particles, with springs as lines."""
        numbers = np.arange(len(self.rest_points))
        lines = np.asarray(self.springs, dtype=np.int64).reshape(-1, 2)
        return RenderSurface(PointSkin(numbers), lines=lines, vertices=numbers[:, None])

    def point_masses(self) -> Array:
        """Of the particles, (n,) [kg]."""
        return np.asarray(self.mass)

    def point_word(self) -> str:
        """What a point is called."""
        return "particle"
