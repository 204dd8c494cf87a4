"""How stiff contacts must be to stop what meets at speed, from the energy at the first touch.

    K = m v² / d²,   d = SINKS w        m: the smaller mass of both sides, v: speed of approach, w: the smaller width
    K = m v min(v / D², 1 / (d h))      where voxels touch, in a step of h;  D = SWEPT w

A spring K takes up the energy m v²/2 within d. K is that of a pair of bodies, shared by the area of its contacts;
each ball has its own. It is known as long as the contact lasts: a spring that became softer would give back less than
it took, and one that became stiffer more. Bodies that deform count with all their mass. Voxels take h² K/m small steps
beside a body m whose step h is long. It moves at v less h F/m while they do, see `slow_step`: the second spring stops
it within d too, in h v/d small steps. They may sink deeper than others, since stiffness costs them small steps; and
their contacts are at most STIFFEST times as stiff as they bear at rest: a softer lattice yields before they do. And
they share K anew as their area grows: a box that comes down on a corner and falls flat onto voxels would else be held
by K of the corner times its face over the corner. They share no less where it shrinks, which would give back more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from supple.bodies.capabilities import Convex, ExplicitContact, Massed
from supple.contact.contact_set import ContactSet
from supple.contact.rigid_sides import obstacle_shape
from supple.contact.surface import ContactSurface
from supple.contact.surfaces import BodySurface, Wall
from supple.interaction.obstacles import Obstacle

Array = np.ndarray
SINKS = 0.05
"""Part of the smaller width by which an impact may sink."""
SWEPT = 0.15
"""The same where voxels touch."""
STIFFEST = 4.0
"""Largest pressure a depth of voxels that are hit, over what they bear at rest."""
PAIRS = 1 << 62
"""Groups of contacts from this number on are pairs of bodies; below are keys of single contacts."""


class StoppingArrays(NamedTuple):
    """What kernels read of `Stopping`."""

    mass: Array
    width: Array
    is_balls: Array
    ball_mass: Array
    ball_width: Array


class Raised(NamedTuple):
    """group (k,): of contacts that stop together; modulus (k,) [N/m³]: their pressure a depth; K (k,) [N/m]: of all of
    a group; both 0 where the usual ones are enough."""

    group: Array
    modulus: Array
    K: Array

    @classmethod
    def none(cls, k: int) -> Raised:
        """Of k contacts that need not be stiffer."""
        return cls(np.zeros(k, dtype=np.int64), np.zeros(k), np.zeros(k))


@dataclass(frozen=True, eq=False)
class Stopping:
    """mass (names, 2) [kg]: what has to be stopped, infinite where a body is held, and its own; infinite of obstacles.
    deforms (names,) bool; bears (names,) [N/m³]: the largest pressure a depth of those that take small steps, infinite
    of others. width (names,) [m]; is_balls (names,) bool; ball_mass, ball_width (vertices,): of the vertices that are
    balls."""

    mass: Array
    deforms: Array
    bears: Array
    width: Array
    is_balls: Array
    ball_mass: Array
    ball_width: Array

    @classmethod
    def of(
        cls,
        surfaces: Sequence[BodySurface],
        surface: ContactSurface,
        obstacles: Sequence[Obstacle],
        held: Sequence[Any],
    ) -> Stopping:
        """Of the surfaces of bodies and obstacles with formulas. held: nodes that filters or joints hold."""
        mass, deforms, bears, width, ball_mass = [], [], [], [], []
        for s, closed in zip(surfaces, surface.closed):
            own, each, w = np.inf, np.full(s.points.count, np.inf), np.inf
            if not isinstance(s.node, Wall):
                body = s.node.held_body
                own = float(body.total_mass)
                w = _width(s, closed) if s.shape is None else s.shape.width
                if _is_balls(s):
                    each, w = _ball_masses(s, body), np.inf
            mass.append((np.inf if any(s.node is node for node in held) else own, own))
            deforms.append(not isinstance(s.node, Wall) and not isinstance(s.node.held_body, Convex))
            bears.append(np.inf if isinstance(s.node, Wall) else _bears(s.node.held_body))
            width.append(w)
            ball_mass.append(each)
        for o in obstacles:
            placed = obstacle_shape(o)
            mass.append((np.inf, np.inf))
            width.append(np.inf if placed is None or placed[0] is None else placed[0].width)
        balls = [_is_balls(s) for s in surfaces]
        return cls(
            np.array(mass).reshape(-1, 2),
            np.array([d and not ball for d, ball in zip(deforms, balls)] + [False] * len(obstacles), dtype=bool),
            np.array(bears + [np.inf] * len(obstacles)),
            np.array(width),
            np.array(balls + [False] * len(obstacles), dtype=bool),
            np.concatenate([*ball_mass, np.zeros(0)]),
            np.where(surface.vertex_radius > 0, 2 * surface.vertex_radius, np.inf),
        )

    @cached_property
    def arrays(self) -> StoppingArrays:
        """As kernels take them."""
        return StoppingArrays(self.mass, self.width, self.is_balls, self.ball_mass, self.ball_width)

    def pair_mass(self, found: ContactSet) -> Array:
        """The smaller mass of both sides (k,) [kg], of held bodies only where both are; nan where a side deforms."""
        return np.where(self.deforms[found.body].any(axis=1), np.nan, self.stopped_mass(found))

    def stopped_mass(self, found: ContactSet) -> Array:
        """The same of all bodies."""
        sides = self.mass[found.body]
        for side in range(2):
            balls = self.is_balls[found.body[:, side]]
            sides[balls, side] = self.ball_mass[found.points[balls, side]][:, None]
        free, own = sides.min(axis=1).T
        return np.where(np.isinf(free), own, free)

    def pair_width(self, found: ContactSet) -> Array:
        """The smaller width of both sides (k,) [m]."""
        sides = self.width[found.body]
        for side in range(2):
            balls = self.is_balls[found.body[:, side]]
            sides[balls, side] = self.ball_width[found.points[balls, side]]
        return np.asarray(sides.min(axis=1, initial=np.inf))

    def groups(self, found: ContactSet) -> Array:
        """Numbers of what stops together (k,): a pair of bodies, or the contact of a ball."""
        pair = PAIRS + found.body[:, 0] * len(self.mass) + found.body[:, 1]
        return np.where(self.is_balls[found.body].any(axis=1), found.key, pair)

    def resting_depth(self, found: ContactSet, g: float) -> Array:
        """How deep contacts sink (k,) [m] under the weight of what has to be stopped; g [m/s²]."""
        each, at = np.unique(self.groups(found), return_inverse=True)
        K = np.bincount(at, weights=found.stiffness, minlength=len(each))
        return np.asarray(g * self.stopped_mass(found) / np.maximum(K[at], np.finfo(float).tiny))

    def energy(self, found: ContactSet, speed: Array) -> Array:
        """Twice the energy of approach (k,) [J], zero of obstacles; speed (k,) [m/s]: of the gap."""
        mass = self.stopped_mass(found)
        return np.where(np.isfinite(mass), mass, 0.0) * np.minimum(speed, 0.0) ** 2

    def raised(self, found: ContactSet, area: Array, speed: Array, h: float, usual: Array, known: Raised) -> Raised:
        """Of contacts with areas (k,) [m²], 0 where the usual pressure a depth (k,) [N/m³] is enough; h [s]: the step;
        known: what there was before."""
        d = SINKS * self.pair_width(found)
        K = self.energy(found, speed) / d**2
        bears = self.bears[found.body].min(axis=1)
        swept = np.isfinite(bears)
        if swept.any():
            K[swept] *= np.minimum((SINKS / SWEPT) ** 2, d[swept] / np.maximum(-h * speed[swept], d[swept]))
        if not len(known.group) and (usual * area >= K).all():
            return Raised.none(found.size)
        group = self.groups(found)
        each, at = np.unique(group, return_inverse=True)
        largest, whole = np.zeros(len(each)), np.zeros(len(each))
        np.maximum.at(largest, at, K)
        np.add.at(whole, at, area)
        before, K_before = np.zeros(len(each)), np.zeros(len(each))
        if len(each):
            place = np.minimum(np.searchsorted(each, known.group), len(each) - 1)
            same = each[place] == known.group
            np.maximum.at(before, place[same], known.modulus[same])
            np.maximum.at(K_before, place[same], known.K[same])
        shared, needed = (np.divide(k, whole, out=np.zeros(len(each)), where=whole > 0) for k in (K_before, largest))
        kept = np.where(swept, np.minimum(before, shared)[at], before[at])
        most = np.minimum(np.maximum(needed[at], kept), bears)
        stiff = most > usual
        return Raised(group, np.where(stiff, most, 0.0), np.where(stiff, np.maximum(largest, K_before)[at], 0.0))


def _bears(body: object) -> float:
    """The largest pressure a depth [N/m³] of contacts of a body that is hit."""
    return STIFFEST * body.contact_constants().modulus if isinstance(body, ExplicitContact) else np.inf


def _width(surface: BodySurface, closed: bool) -> float:
    """How thick a body is [m]: the smallest extent at rest; of one with an inside at most 6 V/A, the edge of a cube,
    the diameter of a ball and three times the thickness of a plate, however it is turned. Infinite of a flat one."""
    x = surface.points.rest
    extent = float(np.ptp(x, axis=0).min()) or np.inf
    if not closed:
        return extent
    a, b, c = (x[surface.triangles[:, k]] - x[0] for k in range(3))
    area = float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2
    return min(extent, float(np.einsum("ka,ka->", a, np.cross(b, c))) / area)


def _ball_masses(surface: BodySurface, body: Any) -> Array:
    """Of the points of a body (points,) [kg]; equal parts of one that does not tell them."""
    if isinstance(body, Massed):
        return np.asarray(body.point_masses()[surface.numbers])
    return np.full(surface.points.count, body.total_mass / surface.points.count)


def _is_balls(surface: BodySurface) -> bool:
    """Whether a body touches by balls around its points."""
    return not isinstance(surface.node, Wall) and not len(surface.triangles)
