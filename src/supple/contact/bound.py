"""`BoundContact`: a contact on the slots of a compiled scene: what is near, what is remembered, what is reported."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.contact.binding import remembering
from supple.contact.binding.assembly_kernels import compute_law
from supple.contact.binding.pair_tables import (
    USUAL,
    element_size,
    excluded_pairs,
    own_constants,
    own_modulus,
    restitutions,
)
from supple.contact.binding.remembering import Touching
from supple.contact.binding.surface_contacts import mixed_keys, of_surfaces
from supple.contact.contact_set import ContactForces, ContactSet
from supple.contact.detect import Detector
from supple.contact.moving import MovingSides
from supple.contact.notices import stiffness_notice
from supple.contact.rigid_sides import RigidSides
from supple.contact.sticking import already_loose, frictions
from supple.contact.stopping import Raised, Stopping
from supple.contact.surface import ContactSurface
from supple.contact.surfaces import BodySurface, Wall
from supple.errors import ContactWarning
from supple.interaction.obstacles import MeshObstacle, Obstacle
from supple.scene.kinematics import Kinematics
from supple.scene.slot_values import SlotArrays
from supple.scene.slots import Slot

if TYPE_CHECKING:
    from supple.contact.contact import Contact

Array = np.ndarray
NEAR = 0.25
"""Part of the length of an edge within which surfaces are looked at."""


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
        excluded, count = excluded_pairs(contact, names, own, len(surfaces)), len(surfaces)
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
            restitutions(contact, names, obstacles),
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
        found = of_surfaces(self, self.vertices(kin.x), self.vertices(kin.v), h, memory, leaving, kin.t)
        if self.rigid is not None:
            shapes = self._of_shapes(self.rigid, kin.flat_x, kin.flat_v, h, memory, kin.t)
            if shapes.size:
                found = ContactSet(*(np.concatenate(part) for part in zip(found, shapes)))
        return remembering.recalled(self, found, h, memory)

    def find_shapes(self, x: Array, v: Array, h: float, memory: dict[str, Array], t: float = 0.0) -> ContactSet:
        """The same of shapes alone, from flat positions and velocities. t [s]: now, where obstacles move."""
        found = ContactSet.empty() if self.rigid is None else self._of_shapes(self.rigid, x, v, h, memory, t)
        return remembering.recalled(self, found, h, memory)

    @cached_property
    def touches_surfaces(self) -> bool:
        """Whether anything may touch by its surface."""
        return self.detector.finds_any or bool(self.surface_obstacles)

    @cached_property
    def surface_obstacles(self) -> list[tuple[int, Obstacle, Array]]:
        """Numbers of obstacles that surfaces meet, and which bodies never touch them so, (bodies,) bool."""
        out = []
        by_shape = np.zeros((len(self.names), len(self.names)), dtype=bool)
        if self.rigid is not None:
            by_shape = self.rigid.is_found(len(self.names))
        for number, obstacle in enumerate(self.obstacles, start=len(self.slots)):
            apart = (by_shape | self.excluded)[: len(self.slots), number]
            if not apart.all():
                out.append((number, obstacle, apart))
        return out

    def leaves_obstacle(self, number: int, leaving: frozenset[tuple[str, str]]) -> Array:
        """Which bodies meet an obstacle by another method, (bodies,) bool, of pairs of names that do."""
        key = number, leaving
        if key not in self._leaving:
            names = self.names[: len(self.slots)]
            self._leaving[key] = np.array([(name, self.names[number]) in leaving for name in names], dtype=bool)
        return self._leaving[key]

    def vertices_beside(self, apart: Array) -> Array:
        """The vertices of all bodies but some, (bodies,) bool."""
        key = apart.tobytes()
        if key not in self._beside:
            self._beside[key] = np.flatnonzero(~np.repeat(apart, np.diff(self.starts)))
        return self._beside[key]

    @cached_property
    def _leaving(self) -> dict[tuple[int, frozenset[tuple[str, str]]], Array]:
        """What `leaves_obstacle` has found."""
        return {}

    @cached_property
    def _beside(self) -> dict[bytes, Array]:
        """What `vertices_beside` has found."""
        return {}

    def _of_shapes(
        self, rigid: RigidSides, x: Array, v: Array, h: float, memory: dict[str, Array], t: float
    ) -> ContactSet:
        """Contacts of convex shapes, from flat positions and velocities."""
        points = rigid.find(x, v, h, t)
        k = len(points.gap)
        if not k:
            return ContactSet.empty()
        drift = np.zeros((k, 3))
        for number in self.moving.motions:
            mine = points.sides[:, 1] == number
            drift[mine] = self.moving.drift(t, h, number, points.place[mine])
        features = np.column_stack([points.sides, points.feature, np.full(k, -2)])
        return self.with_law(
            ContactSet.bare(np.full((k, 4), -1), np.zeros((k, 4)), points.normal, points.gap, points.sides)._replace(
                place=points.place,
                key=mixed_keys(features),
                carrier=points.carrier,
                core=points.core,
                shift=points.shift,
                drift=drift,
            ),
            points.area,
            points.speed,
            rigid.relative(points) - drift if self.has_static_friction else drift,
            h,
            memory,
        )

    def with_law(
        self, found: ContactSet, area: Array, speed: Array, u: Array, h: float, memory: dict[str, Array]
    ) -> ContactSet:
        """With what the law needs of contacts that stand for areas (k,) [m²]; speed (k,) [m/s]: of their gaps; u (k, 3)
        [m/s]: relative velocities, where a static friction asks for them."""
        modulus, relax = (table[found.body[:, 0], found.body[:, 1]] for table in self._constants)
        raised = Raised.none(found.size)
        if self.contact.stiffness is None:
            raised = self.stopping.raised(found, area, speed, h, modulus, remembering.raised(self, memory))
        elif not self.has_warned:
            given = self.contact.stiffness
            self.warn(stiffness_notice(self.stopping, self.names, found, given, area, speed, h))
        stiff = raised.modulus > 0
        if stiff.any():
            relax[stiff] = self._relaxation(found.body[stiff], raised.modulus[stiff])
            modulus = np.maximum(modulus, raised.modulus)
        law = np.empty((5, found.size))
        compute_law(found.body, area, modulus, relax, self.hold, float(self.contact.tangential_stiffness), law)
        found = found._replace(
            stiffness=law[0],
            tangential_stiffness=law[1],
            dashpot=law[2],
            tangential_dashpot=law[3],
            friction=law[4],
            group=raised.group,
            raised=raised.modulus,
            stops=raised.K,
            **self._rebound(found),
        )
        if not self.has_static_friction:
            return found
        depth = self.stopping.resting_depth(found, self.gravity)
        return found._replace(loose=already_loose(found, u, h, self.gravity, depth))

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

    def warn(self, sentence: str | None) -> None:
        """Say what there is to say, once for this contact."""
        if sentence is not None and not self.has_warned:
            self.has_warned = True
            warnings.warn(sentence, ContactWarning, stacklevel=7)

    @cached_property
    def around(self) -> tuple[Array, Array]:
        """The triangles around each vertex, as `compute_facing_areas` reads them."""
        corners = self.surface.triangles.ravel()
        order = np.argsort(corners, kind="stable")
        return np.searchsorted(corners[order], np.arange(self.surface.count + 1)), order // 3

    def owner(self, vertex: Array) -> Array:
        """Numbers of the bodies that vertices belong to."""
        return self.owners[vertex]

    @cached_property
    def owners(self) -> Array:
        """Number of the body of every vertex."""
        return np.repeat(np.arange(len(self.slots)), np.diff(self.starts))

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

    def look_anew(self, memory: dict[str, Array]) -> None:
        """Bodies may touch from now on that might not before: where they overlap, they are pushed apart as at the
        start."""
        remembering.look_anew(self, memory)

    def remember(
        self, contacts: ContactSet, forces: ContactForces, u: Array, h: float, memory: dict[str, Array]
    ) -> None:
        """Keep slips, offsets and forces of a step that has been taken. Open contacts forget theirs. u (k, 3) [m/s]:
        relative velocities at its end."""
        remembering.remember(self, contacts, forces, u, h, memory)

    def touching(self, memory: dict[str, Array]) -> Touching:
        """The contacts that pushed in the last step, from a state's memory."""
        return remembering.touching(self, memory)
