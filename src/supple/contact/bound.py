"""`BoundContact`: a contact on the slots of a compiled scene: what is near, what is remembered, what is reported."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.bodies.body_protocol import Body
from supple.bodies.capabilities import ContactConstants, ExplicitContact
from supple.contact.contact_set import ContactForces, ContactSet
from supple.contact.detect import Detector
from supple.contact.moving import MovingSides
from supple.contact.narrow.area_kernels import compute_facing_areas
from supple.contact.notices import depth_notice, stiffness_notice
from supple.contact.pairs import BALL_TRIANGLE, EDGE_EDGE, VERTEX_TRIANGLE
from supple.contact.rigid_sides import RigidSides
from supple.contact.shape import Sides
from supple.contact.sticking import LET_GO, frictions, loosened
from supple.contact.stopping import Stopping
from supple.contact.surface import ContactSurface, extent
from supple.contact.surfaces import BodySurface, Wall
from supple.errors import ContactWarning, InputError
from supple.interaction.contact_kernels import OPEN
from supple.interaction.obstacles import MeshObstacle, Obstacle
from supple.scene.kinematics import Kinematics
from supple.scene.slot_values import SlotArrays
from supple.scene.slots import Slot

if TYPE_CHECKING:
    from supple.contact.contact import Contact

Array = np.ndarray
USUAL = ContactConstants(sinks=1e-4)
"""With no stiffness given a body sinks by this part of its size under its own weight, on a sixth of its surface."""
NEAR = 0.25
"""Part of the length of an edge within which surfaces are looked at."""
ANEW = "anew"
"""In a state's memory: bodies may touch that might not before."""
DEEP = 0.02
"""Part of the length of an edge beyond which bodies count as overlapping at the start."""


class Touching(NamedTuple):
    """Contacts that push: names of the two sides, place (k, 3) [m], normal (k, 3), force (k, 3) [N] on the first."""

    bodies: list[tuple[str, str]]
    place: Array
    normal: Array
    force: Array


@dataclass(eq=False)
class BoundContact:
    """See the module. obstacles: with formulas; names: of bodies, then obstacles; slots: of the bodies' surface
    points, numbers: of these among all points of a body, where known.

    starts (bodies + 1,): first vertices; modulus (bodies,): pressure a depth [N/m³]; dash (bodies, 2): see
    `ContactConstants`, nan where a body has none. excluded (names, names): pairs that never touch by this contact;
    rough, hold (names, names): kinetic and static friction; bounce (names, names): restitution, nan: none. gravity
    [m/s²]. stopping: how stiff what meets at speed is. moving: obstacles that move. rigid: those sides that touch each
    other by convex shapes, where there are such. prefix: of what it remembers in a state.
    """

    contact: Contact
    obstacles: list[Obstacle]
    names: list[str]
    slots: list[Slot]
    numbers: list[Array]
    starts: Array
    surface: ContactSurface
    modulus: Array
    dash: Array
    detector: Detector
    excluded: Array
    rough: Array
    hold: Array
    bounce: Array
    gravity: float
    stopping: Stopping
    moving: MovingSides
    rigid: RigidSides | None = None
    prefix: str = "contact:0/"
    has_warned: bool = False

    @classmethod
    def make(
        cls,
        contact: Contact,
        surfaces: Sequence[BodySurface],
        slots: list[Slot],
        obstacles: Mapping[str, Obstacle],
        own: list[bool],
        touching: list[bool],
        held: Sequence[Any],
        gravity: Array,
    ) -> BoundContact:
        """Join the surfaces, bodies first, then meshes of obstacles. own: bodies that touch obstacles by this one;
        touching: surfaces that touch themselves; held: nodes that filters or joints hold."""
        formulas = {name: o for name, o in obstacles.items() if not isinstance(o, MeshObstacle)}
        names = [s.node.name for s in surfaces] + list(formulas)
        parts = [
            ContactSurface.of((s.points.rest, s.triangles), radius=s.radius, fixed=isinstance(s.node, Wall))
            for s in surfaces
        ]
        joined = ContactSurface.joined(parts)
        starts = np.concatenate([[0], np.cumsum([s.points.count for s in surfaces])]).astype(np.int64)
        margin = contact.margin if contact.margin is not None else NEAR * element_size(joined)
        excluded, count = _excluded(contact, names, own, len(surfaces)), len(surfaces)
        moving = MovingSides.of(names, obstacles, starts)
        rigid = RigidSides.of(surfaces, slots, list(formulas.values()), excluded, margin, moving)
        by_surface = excluded if rigid is None else excluded | rigid.is_found(len(names))
        detector = Detector(
            joined,
            margin=margin,
            self_contact=[itself and s.shape is None for itself, s in zip(touching, surfaces)],
            exclude=[(int(a), int(b)) for a, b in np.argwhere(np.triu(by_surface[:count, :count], 1))],
        )
        g = float(np.linalg.norm(gravity)) or 9.81
        modulus = [
            np.nan if isinstance(s.node, Wall) else contact.stiffness or own_modulus(s.node.held_body, part, g)
            for s, part in zip(surfaces, parts)
        ]
        dash = np.array([USUAL.dash if isinstance(s.node, Wall) else own_constants(s.node.body).dash for s in surfaces])
        numbers = [s.numbers for s in surfaces]
        return cls(
            contact,
            list(formulas.values()),
            names,
            slots,
            numbers,
            starts,
            joined,
            np.array(modulus),
            dash.reshape(-1, 2),
            detector,
            excluded,
            *frictions(contact, names, obstacles),
            _restitution(contact, names, obstacles),
            float(np.linalg.norm(gravity)),
            Stopping.of(surfaces, joined, list(formulas.values()), held),
            moving,
            rigid,
        )

    # what is near

    def vertices(self, values: SlotArrays) -> Array:
        """Positions or velocities of all vertices (n, 3), from those of every slot."""
        return np.concatenate([values[slot.index] for slot in self.slots])

    def find(
        self, kin: Kinematics, h: float, memory: dict[str, Array], *, leaving: frozenset[tuple[str, str]] = frozenset()
    ) -> ContactSet:
        """The contacts that may push during a step of h [s] from this instant.

        leaving: names of bodies and obstacles that meet by another method.
        """
        if not self.touches_surfaces:
            return self.find_shapes(kin.flat_x, kin.flat_v, h, memory, kin.t)
        found = self._of_surfaces(self.vertices(kin.x), self.vertices(kin.v), h, memory, leaving, kin.t)
        if self.rigid is not None:
            shapes = self._of_shapes(self.rigid, kin.flat_x, kin.flat_v, h, memory, kin.t)
            found = ContactSet(*(np.concatenate(part) for part in zip(found, shapes)))
        return self._recalled(found, h, memory)

    def find_shapes(self, x: Array, v: Array, h: float, memory: dict[str, Array], t: float = 0.0) -> ContactSet:
        """The same of shapes alone, from flat positions and velocities. t [s]: now, where obstacles move."""
        found = ContactSet.empty() if self.rigid is None else self._of_shapes(self.rigid, x, v, h, memory, t)
        return self._recalled(found, h, memory)

    @cached_property
    def touches_surfaces(self) -> bool:
        """Whether anything may touch by its surface."""
        return self.detector.finds_any or bool(self._surface_obstacles)

    @cached_property
    def _surface_obstacles(self) -> list[tuple[int, Obstacle, Array]]:
        """Numbers of obstacles that surfaces meet, and of the bodies that never touch them so."""
        out = []
        by_shape = np.zeros((len(self.names), len(self.names)), dtype=bool)
        if self.rigid is not None:
            by_shape = self.rigid.is_found(len(self.names))
        for number, obstacle in enumerate(self.obstacles, start=len(self.slots)):
            apart = [k for k in range(len(self.slots)) if by_shape[k, number] or self.excluded[k, number]]
            if len(apart) < len(self.slots):
                out.append((number, obstacle, np.array(apart, dtype=np.int64)))
        return out

    def _of_shapes(
        self, rigid: RigidSides, x: Array, v: Array, h: float, memory: dict[str, Array], t: float
    ) -> ContactSet:
        """Contacts of convex shapes, from flat positions and velocities."""
        points = rigid.find(x, v, h, t)
        k = len(points.gap)
        drift = np.zeros((k, 3))
        for number in self.moving.motions:
            mine = points.sides[:, 1] == number
            drift[mine] = self.moving.drift(t, h, number, points.place[mine])
        features = np.column_stack([points.sides, points.feature, np.full(k, -2)])
        return self._with_law(
            ContactSet.bare(np.full((k, 4), -1), np.zeros((k, 4)), points.normal, points.gap, points.sides)._replace(
                place=points.place,
                key=_mixed_keys(features),
                carrier=points.carrier,
                core=points.core,
                shift=points.shift,
                drift=drift,
            ),
            points.area,
            points.speed,
            h,
            memory,
        )

    def _with_law(self, found: ContactSet, area: Array, speed: Array, h: float, memory: dict[str, Array]) -> ContactSet:
        """With what the law needs of contacts that stand for areas (k,) [m²]; speed (k,) [m/s]: of their gaps."""
        modulus, relax = (table[found.body[:, 0], found.body[:, 1]] for table in self._constants)
        group, raised = np.zeros(found.size, dtype=np.int64), np.zeros(found.size)
        if self.contact.stiffness is None:
            none = np.zeros(0, dtype=np.int64), np.zeros(0)
            known = memory.get(f"{self.prefix}group", none[0]), memory.get(f"{self.prefix}raised", none[1])
            group, raised = self.stopping.raised(found, area, speed, h, modulus, known)
        elif not self.has_warned:
            given = self.contact.stiffness
            self._warn(stiffness_notice(self.stopping, self.names, found, given, area, speed, h))
        stiff = raised > 0
        if stiff.any():
            modulus, relax[stiff] = np.maximum(modulus, raised), self._relaxation(found.body[stiff], raised[stiff])
        stiffness = area * modulus
        tangential = self.contact.tangential_stiffness * stiffness
        return found._replace(
            stiffness=stiffness,
            tangential_stiffness=tangential,
            dashpot=relax * stiffness,
            tangential_dashpot=relax * tangential,
            friction=self.hold[found.body[:, 0], found.body[:, 1]],
            group=group,
            raised=raised,
            **self._rebound(found),
        )

    def _rebound(self, found: ContactSet) -> dict[str, Array]:
        """Restitution and mass of contacts, where bodies do not deform."""
        if not self.has_restitution:
            return {}
        mass = self.stopping.pair_mass(found)
        known = np.isfinite(mass)
        bounce = self.bounce[found.body[:, 0], found.body[:, 1]]
        return {"restitution": np.where(known, bounce, np.nan), "mass": np.where(known, mass, 0.0)}

    @cached_property
    def has_restitution(self) -> bool:
        """Whether any pair has a restitution."""
        return not bool(np.isnan(self.bounce).all())

    @cached_property
    def has_static_friction(self) -> bool:
        """Whether any pair has one that is larger than its kinetic friction."""
        return bool((self.hold > self.rough).any())

    def _warn(self, sentence: str | None) -> None:
        """Say what there is to say, once for this contact."""
        if sentence is not None and not self.has_warned:
            self.has_warned = True
            warnings.warn(sentence, ContactWarning, stacklevel=7)

    def _of_surfaces(
        self, x: Array, v: Array, h: float, memory: dict[str, Array], leaving: frozenset[tuple[str, str]], t: float
    ) -> ContactSet:
        """Contacts of surfaces, from positions and velocities of all vertices (n, 3)."""
        self.detector.sides = Sides.of_array(memory.get(f"{self.prefix}sides"))
        walls = self.moving.place_meshes(t, h, x)
        pairs = self.detector.find(x, v + walls, h)
        self._watch(v + walls, h)
        other = np.where(pairs.kind == EDGE_EDGE, pairs.points[:, 2], pairs.points[:, 1])
        sides = np.stack([self.owner(pairs.points[:, 0]), self.owner(other)], axis=1)
        key = pairs.points[:, 0] * len(self.names) + sides[:, 1]
        hashed = pairs.kind != VERTEX_TRIANGLE
        hashed |= np.isin(key, key[pairs.kind == BALL_TRIANGLE])  # which one is nearest may change
        key[hashed] = _mixed_keys(pairs.points[hashed])
        bare = ContactSet.bare(pairs.points, pairs.weights, pairs.normal, pairs.gap, sides)
        parts: list[tuple[Array, ...]] = [(*bare[:5], pairs.area, key, -bare.relative(walls))]
        for number, obstacle, apart in self._surface_obstacles:
            left = [k for k in range(len(self.slots)) if (self.names[k], self.names[number]) in leaving]
            parts.append(self._on_obstacle(obstacle, number, np.append(apart, left), x, v, h, t))
        points, weights, normal, gap, sides, area, key, drift = (np.concatenate(part) for part in zip(*parts))
        bare = ContactSet.bare(points, weights, normal, gap, sides)._replace(key=key, drift=drift)
        speed = np.einsum("ki,ki->k", normal, bare.relative(v) - drift)
        found = self._with_law(bare, area, speed, h, memory)
        approaching = gap + h * speed < self.detector.margin
        found = found.chosen(approaching | (gap < self.detector.margin))
        first = found.points[:, 0]
        return found._replace(place=x[first] - self.surface.vertex_radius[first, None] * found.normal)

    def _watch(self, v: Array, h: float) -> None:
        """Warn once where bodies that come near each other move further in a step than is certainly found."""
        if self.has_warned or len(self.slots) < 2:
            return
        fastest = np.array([np.abs(v[a:b]).max(initial=0.0) for a, b in zip(self.starts, self.starts[1:])])
        least = self.detector.largest_safe_travel
        if 2 * np.sqrt(3) * h * fastest.max() <= least:
            return
        box, mean = self.detector.boxes, [v[a:b].mean(axis=0) for a, b in zip(self.starts, self.starts[1:])]
        for one in np.flatnonzero(np.sqrt(3) * h * fastest > 0.5 * least).tolist():
            meets = (box[one, :3] <= box[:, 3:]).all(axis=1) & (box[:, :3] <= box[one, 3:]).all(axis=1)
            for two in np.flatnonzero(meets & (np.arange(len(box)) != one)).tolist():
                relative = v[self.starts[one] : self.starts[one + 1]] - mean[two]
                travel, safe = h * float(np.linalg.norm(relative, axis=1).max()), self.detector.safe_travel(one, two)
                if travel > safe:
                    warnings.warn(
                        f"'{self.names[one]}' moves {travel:.3g} m past '{self.names[two]}' in a step, more than the "
                        f"{safe:.3g} m (two elements, or balls) within which contact is certain; use a step of at most "
                        f"{h * safe / travel:.2g} s.",
                        ContactWarning,
                        stacklevel=6,
                    )
                    self.has_warned = True
                    return

    def _on_obstacle(
        self, obstacle: Any, number: int, apart: Array, x: Array, v: Array, h: float, t: float
    ) -> tuple[Array, ...]:
        gap, normal, drift = self.moving.distance(obstacle, t, h, x, v, self.surface.vertex_radius)
        speed = np.einsum("ki,ki->k", normal, v - drift)
        near = np.flatnonzero(gap + np.minimum(0.0, h * speed) < self.detector.margin)
        near = near[~np.isin(self.owner(near), apart)]
        points = np.full((len(near), 4), -1)
        points[:, 0] = near
        weights = np.zeros((len(near), 4))
        weights[:, 0] = 1.0
        sides = np.stack([self.owner(near), np.full(len(near), number)], axis=1)
        key = near * len(self.names) + number
        area = self.surface.vertex_area[near]
        faced = ~self.surface.is_points[self.owner(near)]
        if faced.any():
            start, around = self._around
            facing = np.empty(faced.sum())
            compute_facing_areas(x, self.surface.triangles, start, around, near[faced], normal[near[faced]], facing)
            area[faced] = facing
        return points, weights, normal[near], gap[near], sides, area, key, drift[near]

    @cached_property
    def _around(self) -> tuple[Array, Array]:
        """The triangles around each vertex, as `compute_facing_areas` reads them."""
        corners = self.surface.triangles.ravel()
        order = np.argsort(corners, kind="stable")
        return np.searchsorted(corners[order], np.arange(self.surface.count + 1)), order // 3

    def owner(self, vertex: Array) -> Array:
        """Numbers of the bodies that vertices belong to."""
        return np.searchsorted(self.starts, vertex, side="right") - 1

    @cached_property
    def _constants(self) -> tuple[Array, Array]:
        """Of every two names (n, n): pressure a depth, the stiffer side's, but the softer one's where voxels touch,
        whose small steps could not carry more; dashpot over spring, by default the mean of the lattices'."""
        n, fixed = len(self.names), len(self.obstacles)
        sides = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), axis=-1)
        own = np.append(self.modulus, np.full(fixed, np.nan))[sides]
        lattices = np.append(~np.isnan(self.dash[:, 0]), np.zeros(fixed, dtype=bool))[sides].any(axis=2)
        modulus = np.where(lattices, np.fmin(*np.moveaxis(own, 2, 0)), np.fmax(*np.moveaxis(own, 2, 0)))
        return modulus, self._relaxation(sides, modulus)

    def _relaxation(self, sides: Array, modulus: Array) -> Array:
        """Dashpot over spring (...) [s] of sides (..., 2) that touch with a pressure a depth (...) [N/m³]."""
        if self.contact.damping is not None:
            return np.full(modulus.shape, self.contact.damping)
        dash = np.concatenate([self.dash, np.full((len(self.obstacles), 2), np.nan)])[sides]
        each = np.minimum(dash[..., 0] / np.sqrt(modulus)[..., None], dash[..., 1] / modulus[..., None])
        return np.asarray(np.nansum(each, axis=-1) / np.maximum((~np.isnan(each)).sum(axis=-1), 1))

    # what is remembered

    def _recalled(self, found: ContactSet, h: float, memory: dict[str, Array]) -> ContactSet:
        """With what is known of contacts, and gaps as seen while bodies that overlapped are pushed apart."""
        known = memory.get(f"{self.prefix}key")
        if known is None:
            memory[f"{self.prefix}key"] = found.key
            memory[f"{self.prefix}slip"] = memory[f"{self.prefix}push"] = found.slip
            memory[f"{self.prefix}offset"] = self._start(found)
            known = found.key
        elif memory.pop(f"{self.prefix}{ANEW}", None) is not None:
            known = self._begin_more(found, known, memory)
        order = np.argsort(known, kind="stable")
        at = np.minimum(np.searchsorted(known[order], found.key), max(len(known) - 1, 0))
        if not len(known):
            return found
        same = known[order[at]] == found.key
        slip = np.where(same[:, None], memory[f"{self.prefix}slip"][order[at]], 0.0)
        before = memory.get(f"{self.prefix}push", np.zeros((len(known), 3)))  # an older record has none
        push = np.where(same[:, None], before[order[at]], 0.0)
        offset = np.where(same, memory[f"{self.prefix}offset"][order[at]], 0.0)
        gap = found.gap + np.maximum(0.0, offset - self.contact.push_speed * h)
        if self.has_static_friction:
            before = memory.get(f"{self.prefix}loose", np.zeros(len(known)))
            loose = np.where(same, before[order[at]], 0.0)
            slides = self.rough[found.body[:, 0], found.body[:, 1]]
            found = found._replace(loose=loose, friction=np.where(loose < LET_GO, found.friction, slides))
        return found._replace(slip=slip, gap=gap, push=push)

    def look_anew(self, memory: dict[str, Array]) -> None:
        """Bodies may touch from now on that might not before: where they overlap, they are pushed apart as at the
        start."""
        if f"{self.prefix}key" in memory:
            memory[f"{self.prefix}{ANEW}"] = np.ones(1)

    def _begin_more(self, found: ContactSet, known: Array, memory: dict[str, Array]) -> Array:
        """Remember contacts that are new beside those that are known; the keys of all."""
        new = found.chosen(~np.isin(found.key, known))
        start = {"key": new.key, "slip": new.slip, "push": new.slip, "offset": self._start(new)}
        start |= {"loose": np.zeros(new.size)} if f"{self.prefix}loose" in memory else {}
        for name, values in start.items():
            memory[f"{self.prefix}{name}"] = np.concatenate([memory[f"{self.prefix}{name}"], values])
        return memory[f"{self.prefix}key"]

    def _start(self, found: ContactSet) -> Array:
        """How deep contacts begin, where that is more than touching; says so, or refuses."""
        depth = -found.gap
        deep = depth > DEEP * element_size(self.surface)
        if not deep.any():
            return np.zeros(found.size)
        worst = int(np.argmax(depth))
        one, two = (self.names[k] for k in found.body[worst])
        place = ", ".join(f"{c:.4g}" for c in found.place[worst])
        what = f"'{one}' and '{two}' overlap at the start, by {depth[worst]:.3g} m at ({place})"
        if self.contact.overlap == "refuse":
            raise InputError(what, where="Contact", fix="Move them apart, or use overlap='push'.")
        warnings.warn(
            f"{what}; overlapping bodies are pushed apart at {self.contact.push_speed:g} m/s.",
            ContactWarning,
            stacklevel=6,
        )
        return np.where(deep, depth, 0.0)

    def remember(
        self, contacts: ContactSet, forces: ContactForces, u: Array, h: float, memory: dict[str, Array]
    ) -> None:
        """Keep slips, offsets and forces of a step that has been taken. Open contacts forget theirs. u (k, 3) [m/s]:
        relative velocities at its end."""
        p, offset = self.prefix, np.zeros(contacts.size)
        if f"{p}key" in memory and memory[f"{p}offset"].any():
            old = dict(zip(memory[f"{p}key"].tolist(), memory[f"{p}offset"].tolist()))
            before = np.array([old.get(key, 0.0) for key in contacts.key.tolist()])
            offset = np.maximum(0.0, before - self.contact.push_speed * h)
        pushing = (forces.mode != OPEN) | forces.force.any(axis=1)  # a lattice may have parted from it within the step
        kept = pushing | (offset > 0)
        memory[f"{p}key"], memory[f"{p}offset"] = contacts.key[kept], offset[kept]
        memory[f"{p}slip"], memory[f"{p}push"] = forces.slip[kept], forces.force[kept]
        if self.has_static_friction:
            memory[f"{p}loose"] = loosened(contacts, forces, u, h)[kept]
        memory[f"{p}sides"] = self.detector.sides.to_array()
        memory[f"{p}body"], memory[f"{p}place"] = contacts.body[pushing], contacts.place[pushing]
        memory[f"{p}normal"], memory[f"{p}force"] = contacts.normal[pushing], forces.force[pushing]
        if not self.has_warned:
            self._warn(depth_notice(self.stopping, self.names, contacts, forces))
        stiff = pushing & (contacts.raised > 0)
        memory[f"{p}group"], memory[f"{p}raised"] = contacts.group[stiff], contacts.raised[stiff]

    def touching(self, memory: dict[str, Array]) -> Touching:
        """The contacts that pushed in the last step, from a state's memory."""
        p = self.prefix
        if f"{p}force" not in memory:
            return Touching([], np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)))
        names = [(self.names[a], self.names[b]) for a, b in memory[f"{p}body"].tolist()]
        return Touching(names, memory[f"{p}place"], memory[f"{p}normal"], memory[f"{p}force"])


def _excluded(contact: Contact, names: list[str], own: list[bool], count: int) -> Array:
    """Which of the names never touch, (n, n). names: bodies, meshes of obstacles, up to `count` of them, then obstacles
    with formulas. own: bodies that touch obstacles."""
    table = np.array([[contact.is_excluded(a, b) for b in names] for a in names], dtype=bool).reshape(len(names), -1)
    bodies, others = np.arange(len(names)) < len(own), np.flatnonzero(~np.array(own, dtype=bool))
    if not contact.between_bodies:
        table |= np.outer(bodies, bodies) & ~np.eye(len(names), dtype=bool)
    table[np.ix_(others, ~bodies)] = True
    table[np.ix_(~bodies, others)] = True
    return table


def _restitution(contact: Contact, names: list[str], obstacles: Mapping[str, Obstacle]) -> Array:
    """Speed after an impact over that before of every two names, (n, n); nan where none is given."""
    usual = np.nan if contact.restitution is None else contact.restitution
    table = np.full((len(names), len(names)), usual)
    for k, name in enumerate(names):
        own = obstacles[name].restitution if name in obstacles else None
        if own is not None:
            table[k, :] = table[:, k] = own
    return table


def element_size(surface: ContactSurface) -> float:
    """The smallest mean edge of the bodies, or diameter of points [m]."""
    size = surface.element_size[surface.element_size > 0]
    return float(size.min()) if len(size) else 1.0


def _mixed_keys(points: Array) -> Array:
    """Negative numbers that tell pairs of edges, and of points, apart."""
    mixed = np.zeros(len(points), dtype=np.uint64)
    for column in range(4):
        mixed = (mixed ^ points[:, column].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return -1 - (mixed >> np.uint64(2)).astype(np.int64)


def own_constants(body: Body | None) -> ContactConstants:
    """The contact constants of a body."""
    return body.contact_constants() if isinstance(body, ExplicitContact) else USUAL


def own_modulus(body: Body, surface: ContactSurface, g: float) -> float:
    """Pressure a depth [N/m³] that carries a body's weight on a sixth of its surface, and is not more than it bears."""
    own = own_constants(body)
    weight, area = body.total_mass * g, float(surface.vertex_area.sum())
    if surface.is_points[0] and surface.radius[0] > 0:  # each ball under its own weight, mean by mean
        return min(own.modulus, weight / (area * own.sinks * float(surface.element_size[0])))
    return min(own.modulus, 6 * weight / (area * own.sinks * extent(surface.rest)))
