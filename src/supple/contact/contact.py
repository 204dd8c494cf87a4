"""`Contact`: which bodies of a scene may touch each other and its obstacles, how stiff and how rough they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from supple.contact.bound import BoundContact
from supple.contact.surfaces import surface_of, wall
from supple.errors import (
    InputError,
    check_choice,
    check_flag,
    check_instance,
    check_number,
    check_real,
    check_row,
    is_finite,
    is_number,
)
from supple.interaction.obstacles import MeshObstacle, check_static_friction
from supple.scene.node import Node
from supple.scene.world import register_contact

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Contact:
    """Contact between bodies, and of bodies with the obstacles of the scene.

    bodies: the nodes that may touch; None: all bodies of the scene. Of several contacts the first that has a body
    holds for it and the obstacles. between_bodies: False where bodies touch obstacles alone, as in a scene that has
    obstacles and no contact.
    friction: Coulomb's coefficient; frictions: of pairs of names, where another one holds. An obstacle's own friction
    holds before `friction`, and so does that of a voxel's material on obstacles. static_friction: of contacts that do
    not slide, at least `friction`; None: the same.
    stiffness: pressure a depth [N/m³]; None: such that a body sinks by a ten-thousandth of its size under its own
    weight on a face, and bodies that meet at speed by about a twentieth of the smaller width. damping [s]:
    the dashpot beside a spring k is damping k; its force is at most the spring's. None: none, but that of the
    material's contact_damping where voxels touch. tangential_stiffness: tangential stiffness over normal stiffness, of
    contacts that stick.
    restitution: speed after an impact over that before, 0 to 1, of rigid bodies and balls that meet faster than gravity
    moves them in two steps; None: as the springs have it. An obstacle's own holds before it.
    self_contact: bodies that may touch themselves, True: all. exclude: pairs of names that never touch. enabled: False
    where nothing touches, until `system.change(state, "contact", enabled=True)`. parts: by name
    of a body, what of its surface may touch (see `surface_of`), where not all of it matters. margin [m]: how near
    surfaces are looked at; None: from the size of the triangles.
    overlap: what to do with bodies that overlap at the start: "push" them apart at `push_speed` [m/s] and say so, or
    "refuse".

    >>> import supple as sp
    >>> scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(0.005))
    >>> box = scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 0, 0.06))
    >>> floor = scene.add(sp.Floor(friction=0.4))
    >>> run = sp.run(scene, until=0.5)
    >>> bool(abs(run.state.x[2] - 0.05) < 1e-3)
    True
    """

    bodies: Sequence[Node] | None = None
    between_bodies: bool = field(default=True, kw_only=True)
    friction: float = field(default=0.5, kw_only=True)
    static_friction: float | None = field(default=None, kw_only=True)
    frictions: Mapping[tuple[str, str], float] = field(default_factory=dict, kw_only=True)
    stiffness: float | None = field(default=None, kw_only=True)
    damping: float | None = field(default=None, kw_only=True)
    tangential_stiffness: float = field(default=0.5, kw_only=True)
    restitution: float | None = field(default=None, kw_only=True)
    self_contact: Sequence[Node] | bool = field(default=(), kw_only=True)
    exclude: Sequence[tuple[str, str]] = field(default=(), kw_only=True)
    enabled: bool = field(default=True, kw_only=True)
    parts: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    margin: float | None = field(default=None, kw_only=True)
    overlap: Literal["push", "refuse"] = field(default="push", kw_only=True)
    push_speed: float = field(default=0.1, kw_only=True)

    def __post_init__(self) -> None:
        names = ("stiffness", "damping", "tangential_stiffness", "restitution", "margin", "push_speed")
        check_real("Contact", **{name: getattr(self, name) for name in names})
        self._check_who()
        for value in (self.friction, *self.frictions.values()):
            if not (is_number(value) and is_finite(value) and value >= 0):
                raise InputError(
                    "friction is a finite number",
                    where="Contact",
                    value=value,
                    allowed=">= 0",
                    fix="For surfaces that never slide, use a large number, such as 100.",
                )
        check_static_friction(self.static_friction, self.friction, "Contact")
        for name in ("stiffness", "margin", "tangential_stiffness", "push_speed"):
            value = getattr(self, name)
            if value is not None and not (is_finite(value) and value > 0):
                raise InputError(f"{name} is not positive", where="Contact", value=value, allowed="> 0")
        if self.damping is not None and not (is_finite(self.damping) and self.damping >= 0):
            raise InputError("damping is negative", where="Contact", value=self.damping, allowed=">= 0 s")
        if self.restitution is not None:
            check_number(self.restitution, name="restitution", where="Contact", least=0.0, most=1.0)
        for pair in (*self.exclude, *self.frictions):
            if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
                raise InputError("a pair is two names of bodies or obstacles", where="Contact", value=pair)
        check_choice(self.overlap, ("push", "refuse"), "choice", where="Contact, overlap")

    def _check_who(self) -> None:
        """Refuse what names no bodies or pairs."""
        for name, given in (("bodies", self.bodies), ("self_contact", self.self_contact)):
            if not (isinstance(given, bool) and name == "self_contact") and not (given is None and name == "bodies"):
                check_row(given, Node, "nodes of the scene", where=f"Contact, {name}")
        if self.bodies is not None and not len(self.bodies):
            raise InputError("nothing may touch", where="Contact, bodies", fix="Leave bodies out for all of the scene.")
        for name in ("between_bodies", "enabled"):
            check_flag(getattr(self, name), name=name, where="Contact")
        for name in ("frictions", "parts"):
            check_instance(getattr(self, name), Mapping, "a table", where=f"Contact, {name}")
        check_row(self.exclude, (list, tuple), "pairs of names", where="Contact, exclude")

    def friction_of(self, one: str, other: str) -> float:
        """Coulomb's coefficient of two names."""
        given = self.pair_friction(one, other)
        return self.friction if given is None else given

    def pair_friction(self, one: str, other: str) -> float | None:
        """Coulomb's coefficient given for two names, None where none is."""
        return self.frictions.get((one, other), self.frictions.get((other, one)))

    def is_excluded(self, one: str, other: str) -> bool:
        """Whether two names never touch."""
        return not self.enabled or (one, other) in self.exclude or (other, one) in self.exclude

    def bind_contact(self, scene: Any, slot_of: Callable[[Any], Any]) -> BoundContact:
        """The contact on the slots of a compiled scene."""
        nodes = self.nodes(scene)
        surfaces = [surface_of(node, self.parts.get(node.name)) for node in nodes]
        names = {s.node.name for s in surfaces} | set(scene.obstacles)
        for name in {name for pair in [*self.exclude, *self.frictions] for name in pair} - names:
            raise InputError(
                "nothing of that name may touch", where="Contact", value=name, allowed=", ".join(sorted(names))
            )
        before = scene.contacts[: scene.contacts.index(self)] if self in scene.contacts else []
        taken = {id(node) for contact in before for node in contact.nodes(scene)}
        own = [id(node) not in taken for node in nodes]
        surfaces += [wall(name, o.mesh) for name, o in scene.obstacles.items() if isinstance(o, MeshObstacle)]
        slots = [slot_of(s.points) for s in surfaces]
        alone = {id(node) for node in self.self_touching(scene)} if self.enabled else set()
        touching = [id(s.node) in alone for s in surfaces]
        held = held_nodes(scene)
        return BoundContact.make(self, surfaces, slots, scene.obstacles, own, touching, held, np.asarray(scene.gravity))

    def self_touching(self, scene: Any) -> list[Node]:
        """The nodes that may touch themselves."""
        if isinstance(self.self_contact, bool):
            return self.nodes(scene) if self.self_contact else []
        return [scene.node_now(node) for node in self.self_contact]

    def nodes(self, scene: Any) -> list[Node]:
        """The nodes that may touch."""
        return list(scene.nodes) if self.bodies is None else [scene.node_now(node) for node in self.bodies]


def held_nodes(scene: Any) -> list[Node]:
    """The nodes that filters or joints hold."""
    left: list[Any] = [f.target for f in scene.filters] + [given.joint().points for given in scene.joints]
    held: list[Node] = []
    while left:
        handle = left.pop()
        if isinstance(handle, Node):
            held.append(scene.node_now(handle))
        else:
            left += list(getattr(handle, "parts", ())) + [p for p in [getattr(handle, "parent", None)] if p is not None]
    return held


register_contact(partial(Contact, between_bodies=False))
