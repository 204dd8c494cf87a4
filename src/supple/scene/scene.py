"""The scene: the tree of nodes with what acts on them. It is written by a person and compiled to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import as_quaternion, check_vector
from supple.bodies.body_protocol import Body, check_body, is_body
from supple.bodies.placement import Placement
from supple.errors import InputError, check_instance
from supple.interaction.fluid import Fluid
from supple.interaction.obstacles import Obstacle
from supple.interaction.protocol import Interaction
from supple.material.colour import Colour, check_colour
from supple.scene.acting.filters import FixedPoints
from supple.scene.joints.checks import refuse_kicks, refuse_rigid_self, refuse_self
from supple.scene.joints.joints import Jointed
from supple.scene.mapped.points import JoinedPoints, PointSet, WorldPoints
from supple.scene.node import Node
from supple.showing import mime_bundle

if TYPE_CHECKING:
    from supple.scene.acting.wind import Wind
    from supple.scene.events import Event
    from supple.scene.system import System

Array = np.ndarray
Target = Node | PointSet | WorldPoints | JoinedPoints
"""What a force or a mass acts on."""


@dataclass(frozen=True, eq=False)
class Acting:
    """A force and the points or node it acts on."""

    force: Any
    on: Any
    label: str


@dataclass(eq=False)
class Scene:
    """A scene. gravity (3,) [m/s²]; solver: how it is stepped, None: as suits what is in it; events: changes that a run
    of it makes at given steps, see `supple.scene.events`.

    The scene owns the world: obstacles and a fluid are added like bodies, and said once for all of them.

    >>> import supple as sp
    >>> scene = sp.Scene(gravity=(0, 0, -9.81))
    >>> ball = scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 0, 1), name="ball")
    >>> scene.compile().v_size
    6
    """

    gravity: ArrayLike = (0.0, 0.0, 0.0)
    solver: Any = None
    name: str = "scene"
    root: Node = field(default_factory=lambda: Node("root"))
    forces: list[Acting] = field(default_factory=list)
    filters: list[Any] = field(default_factory=list)
    joints: list[Jointed] = field(default_factory=list)
    joint_names: dict[int, str] = field(default_factory=dict)  # by the id of the joint
    masses: list[Acting] = field(default_factory=list)
    contacts: list[Any] = field(default_factory=list)
    contact_names: dict[int, str] = field(default_factory=dict)  # by the id of the contact
    obstacles: dict[str, Obstacle] = field(default_factory=dict)  # by name
    fluid: Fluid | None = None
    kept_nodes: tuple[Node, ...] | None = field(default=None, repr=False)  # of a snapshot
    winds: dict[str, Wind] = field(default_factory=dict)  # those that blow on all bodies
    is_part: bool = False  # of a larger scene, whose other bodies and couplings it leaves out
    events: list[Event] = field(default_factory=list)  # an `Event` each, in the order of their steps
    example: str | None = None  # the name of the built-in scene that it is
    renewed: dict[int, tuple[Node, Node]] = field(default_factory=dict, repr=False)  # by id of the first: see `renew`

    def __post_init__(self) -> None:
        self.gravity = check_vector(self.gravity, name="gravity", where="scene")

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """As a notebook shows it."""
        return mime_bundle(self, **options)

    @property
    def nodes(self) -> list[Node]:
        """The nodes that hold bodies, in the order they were added."""
        if self.kept_nodes is not None:
            return list(self.kept_nodes)
        return [node for node in self.root.walk() if node.body is not None]

    def snapshot(self) -> Scene:
        """The scene as it is now: what is added to this one later is not in it."""
        lists: dict[str, Any] = {}
        for name in ("forces", "filters", "joints", "masses", "contacts"):
            lists[name] = list(getattr(self, name))
        for name in ("obstacles", "winds", "joint_names", "contact_names", "renewed"):
            lists[name] = dict(getattr(self, name))
        return replace(self, **lists, kept_nodes=tuple(self.nodes))

    def renew(self, old: Node, new: Node) -> None:
        """Put a node with another body in the place of one, in a snapshot; what acts on the old one acts on it."""
        for key, (first, last) in list(self.renewed.items()):
            if last is old:
                self.renewed[key] = (first, new)
        self.renewed[id(old)] = (old, new)
        self.kept_nodes = tuple(new if node is old else node for node in self.nodes)

    def node_now(self, node: Node) -> Node:
        """The node that stands in the place of a node of the scene: itself, where its body has not changed."""
        return self.renewed[id(node)][1] if id(node) in self.renewed else node

    def node(self, name: str) -> Node:
        """The node of that name."""
        check_instance(name, str, "a name", where="Scene.node")
        for node in self.root.walk() if self.kept_nodes is None else self.kept_nodes:
            if node.name == name:
                return node
        raise InputError(
            "no node of that name", where="scene", value=name, allowed=", ".join(n.name for n in self.nodes)
        )

    def group(self, name: str, *, under: Node | None = None) -> Node:
        """A new node that groups others."""
        check_instance(name, str, "a name", where="Scene.group")
        node = Node(self._unused(name))
        if under is not None:
            check_instance(under, Node, "a node of the scene", where=f"group '{name}', under")
        (under or self.root).children.append(node)
        return node

    def add(
        self,
        thing: Any,
        *,
        at: ArrayLike = (0.0, 0.0, 0.0),
        rotation: ArrayLike | None = None,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        spin: ArrayLike = (0.0, 0.0, 0.0),
        fix: Any = None,
        name: str | None = None,
        under: Node | None = None,
        on: object = None,
        colour: Colour | None = None,
    ) -> Any:
        """Add a body (returns its node), or an obstacle, a fluid, a force, filter, joint or contact (returned as it
        is).

        at [m], rotation (quaternion or rotation vector [rad]), velocity [m/s], spin [rad/s, world axes]: where a body
        starts. fix: region or list of regions of the body, or a predicate on its world positions at the start, that
        stays in place; True for all of it. on: the node or points that a force or a mass acts on, where it does not
        say so itself. colour: of a body in pictures, "#rrggbb" or red, green, blue from 0 to 1; by default those of its
        materials.
        """
        if isinstance(thing, Obstacle):
            self._add_obstacle(thing, name)
        elif is_body(thing):
            check_body(thing)
            return self._add_body(thing, at, rotation, velocity, spin, fix, name, under, colour)
        elif isinstance(thing, Fluid):
            self._add_fluid(thing)
        elif getattr(thing, "blows_everywhere", False):
            self.winds[self._unused(name or "wind", given=name is not None)] = thing
        elif hasattr(thing, "joint"):
            joint = thing.joint()
            refuse_self(joint.points, joint.label)
            refuse_rigid_self(joint.points, joint.label)
            self.joint_names[id(thing)] = _new_name(thing, name, self.joints, self.joint_name)
            self.joints.append(thing)
        elif hasattr(thing, "bind_contact"):
            self.contact_names[id(thing)] = _new_name(thing, name, self.contacts, self.contact_name)
            self.contacts.append(thing)
        elif hasattr(thing, "conditions"):
            thing.conditions()
            self.filters.append(thing)
        elif hasattr(thing, "compute_impulse"):
            self.masses.append(Acting(thing, self._target(on, thing), name or type(thing).__name__))
        elif isinstance(thing, Interaction) and not hasattr(thing, "add_force"):
            if isinstance(thing.on, JoinedPoints) and len(thing.on.parts) == 2:
                refuse_self(thing.on, name or type(thing).__name__)
            self.forces.append(Acting(thing.force, thing.on, name or type(thing).__name__.lower()))
        elif hasattr(thing, "add_force"):
            target = self._target(on if on is not None else getattr(thing, "on", None), thing)
            self.forces.append(Acting(thing, target, name or type(thing).__name__.lower()))
        else:
            raise InputError(
                "this cannot be added to a scene",
                value=type(thing).__name__,
                allowed="a body, an obstacle, a fluid, a force (add_force), a filter, a joint, a contact, springs",
            )
        return thing

    def _add_obstacle(self, obstacle: Obstacle, name: str | None) -> None:
        given = name or obstacle.name
        name = self._unused(given or obstacle.kind.lower(), given=given is not None)
        for other, known in self.obstacles.items():
            if obstacle is known or obstacle.same_place(known):
                raise InputError("two obstacles are in one place", where="scene", value=f"'{other}' and '{name}'")
        self.obstacles[name] = obstacle

    def joint_name(self, joint: Jointed) -> str:
        """The name of a joint of the scene: as it was added, else its kind, "hinge"."""
        return self.joint_names.get(id(joint)) or joint_kind(joint)

    def contact_name(self, contact: object) -> str:
        """The name of a contact of the scene: as it was added, else "contact"."""
        return self.contact_names.get(id(contact)) or "contact"

    def _add_fluid(self, fluid: Fluid) -> None:
        if self.fluid is not None:
            raise InputError("the scene has a fluid already", where="scene", fix="Add one fluid.")
        self.fluid = fluid

    def _target(self, on: object, thing: object) -> Target:
        if not isinstance(on, Target):
            raise InputError(
                f"{type(thing).__name__} does not say what it acts on",
                value=on,
                fix="Give on=node or on=node.points(...).",
            )
        return on

    def _add_body(
        self,
        body: Body,
        at: ArrayLike,
        rotation: ArrayLike | None,
        velocity: ArrayLike,
        spin: ArrayLike,
        fix: Any,
        name: str | None,
        under: Node | None,
        colour: Colour | None,
    ) -> Node:
        if name is not None:
            check_instance(name, str, "a name", where="Scene.add, name")
        name = self._unused(name or body.kind, given=name is not None)
        where = f"body '{name}'"
        placement = Placement(
            check_vector(at, name="at", where=where),
            as_quaternion(rotation, where=where),
            check_vector(velocity, name="velocity", where=where),
            check_vector(spin, name="spin", where=where),
        )
        node = Node(name, body, placement, colour=None if colour is None else check_colour(colour, where=where))
        if fix is not None and fix is not False:
            for selector in fix if isinstance(fix, list | tuple) and all(isinstance(s, str) for s in fix) else [fix]:
                condition = FixedPoints(node, None if selector is True else selector)
                condition.conditions()
                self.filters.append(condition)
        if under is not None:
            check_instance(under, Node, "a node of the scene", where=f"{where}, under")
        (under or self.root).children.append(node)
        return node

    def _unused(self, name: str, *, given: bool = True) -> str:
        check_instance(name, str, "a name", where="scene")
        taken = {node.name for node in self.root.walk()} | set(self.obstacles) | set(self.winds)
        if name not in taken:
            return name
        if given:
            raise InputError("the name is already used", where="scene", value=name)
        return next(f"{name}-{k}" for k in range(2, len(taken) + 3) if f"{name}-{k}" not in taken)

    def compile(self) -> System:
        """Lay all coordinates into flat vectors and order the calls."""
        from supple.scene.compile import compile_scene

        if not self.is_part:
            refuse_kicks(self)
        return compile_scene(self)


def joint_kind(joint: object) -> str:
    """What a joint is called that was given no name: "hinge" for a HingeJoint."""
    name = type(joint).__name__.lower()
    return name.removesuffix("joint") or name


def _new_name(thing: object, name: str | None, known: Sequence[object], name_of: Callable[[Any], str]) -> str:
    """The name of a joint or contact that is added: as it is given, else its kind with a number."""
    taken, base = [name_of(other) for other in known], name or name_of(thing)
    if any(thing is other for other in known):
        raise InputError("this is already in the scene", where="scene", value=name_of(thing))
    if name in taken:
        raise InputError("the name is already used", where="scene", value=name)
    numbered = (f"{base}-{k}" for k in range(2, len(taken) + 3))
    return base if base not in taken else next(n for n in numbered if n not in taken)
