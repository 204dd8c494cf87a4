"""Breaking a body, such as a tree of domains, in a running scene.

There is a new scene, and a state of it, in which the branch is a body of its own. The rest keeps the body's name.
Everything else stays: other bodies with their states, forces and what they act on. Points on the branch go with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.capabilities import Breaking, BrokenPart
from supple.bodies.placement import Placement
from supple.errors import InputError
from supple.scene.changing.present import PresentNode
from supple.scene.joints.joints import FixedJoint, HingeJoint, Jointed, SliderJoint
from supple.scene.mapped.patch_frame import PatchFrame
from supple.scene.mapped.points import JoinedPoints, PointSet, join
from supple.scene.node import Node
from supple.scene.scene import Acting, Scene
from supple.scene.state import State

Array = np.ndarray
SIDES = ("a", "b")


Then = Callable[[Array], list[Array]]
"""Coordinates of the parts of a body from those of the whole."""


def parts_then(body: Breaking, place: int | str) -> Then:
    """Of a body that breaks at a place, at coordinates x that it had at some time."""

    def coordinates(x: Array) -> list[Array]:
        v = np.zeros((len(x), body.coordinates.v_width))  # type: ignore[attr-defined]
        return [part.x for part in body.broken(x, v, place)]

    return coordinates


@dataclass(frozen=True, eq=False)
class BrokenScene:
    """The scene after a break with its state, and the nodes of the rest and of the branch."""

    scene: Scene
    state: State
    rest: Node
    branch: Node


def break_off(scene: Scene, state: State, body: str, domain: int | str, *, name: str | None = None) -> BrokenScene:
    """Break a domain, with all below it, off the tree `body` at a state of the scene. name: of the new body.

    >>> import supple as sp
    >>> from supple.validation.tree.coupling import beam_domain_tree
    >>> scene = sp.Scene(gravity=(0, 0, -9.81))
    >>> _ = scene.add(sp.TreeBody(beam_domain_tree(4, 6)), name="branch")
    >>> run = sp.run(scene, until=0.1, dt=1 / 60)
    >>> broken = break_off(scene, run.state, "branch", 2, name="twig")
    >>> system, stride = broken.scene.compile(), sp.TreeSolver(1 / 60)
    >>> for _ in range(6):
    ...     report = stride.step(system, broken.state)
    >>> bool(system.positions(broken.state, "twig")[0, 2] < -0.1)
    True
    """
    old = scene.node(body)
    if not isinstance(old.body, Breaking):
        raise InputError(
            "only a body of parts, such as a tree of domains, can break",
            where=f"body '{body}'",
            value=type(old.body).__name__,
        )
    before = scene.compile()
    slot = before.body(body)
    parts = old.body.broken(slot.view_x(state.x), slot.view_v(state.v), domain)
    after, (rest, branch) = broken_scene(scene, old, parts, name, parts_then(old.body, domain))
    system = after.compile()
    out = system.initial_state()
    out.t = state.t
    for kept in before.bodies:
        if kept.name != body:
            there = system.body(kept.name)
            there.view_x(out.x)[:], there.view_v(out.v)[:] = kept.view_x(state.x), kept.view_v(state.v)
    out.memory = {key: a.copy() for key, a in state.memory.items() if not is_lost(key, body)}
    for node, part in zip((rest, branch), parts):
        there = system.body(node.name)
        there.view_x(out.x)[:], there.view_v(out.v)[:] = part.x, part.v
    return BrokenScene(after, out, rest, branch)


def is_lost(key: str, body: str) -> bool:
    """Whether what a state remembers is forgotten where a body breaks: what is the body's own, and contacts, whose
    points have other numbers from then on."""
    return key.startswith((f"{body}/", "contact:"))


def broken_scene(
    scene: Scene, old: Node, parts: Sequence[BrokenPart], name: str | None, then: Then
) -> tuple[Scene, tuple[Node, Node]]:
    """The scene with two nodes in the place of one, and these. name: of the second. then: see `Then`."""
    rest = Node(old.name, parts[0].body, old.placement, old.children, old.colour)
    placed = _placed(old.placement, parts[1].frame)
    branch = Node(name or f"{old.name}-{parts[1].label}", parts[1].body, placed, colour=old.colour)
    taken = {node.name for node in scene.root.walk()} | {node.name for node in scene.nodes} | set(scene.obstacles)
    if branch.name in taken:
        raise InputError("the name is already used", where="break_off", value=branch.name, fix="Give name=.")
    after = moved_scene(scene, old, [rest, branch], [part.points for part in parts], then)
    after.contacts, names = [], after.contact_names
    for contact in scene.contacts:
        after.contacts.append(_divided(contact, scene, old, [rest, branch]))
        names[id(after.contacts[-1])] = scene.contact_name(contact)
    return after, (rest, branch)


def _placed(whole: Placement, frame: Array | None) -> Placement:
    """Where a part of a body was when time started, by its frame in the whole."""
    if frame is None:
        return Placement()
    return Placement(whole.apply(frame[None, :3])[0], rotations.multiply(whole.rotation, frame[3:]))


def moved_scene(scene: Scene, old: Node, new: list[Node], points: list[Array], then: Then | None = None) -> Scene:
    """The scene with other nodes in the place of one, and all that acts on it moved there. points: numbers of its
    points in each. then: of parts; None: the node stays one."""
    after = scene.snapshot()
    if scene.kept_nodes is None:
        after.root, after.kept_nodes = _replaced(scene.root, old, new), None
    else:
        after.renew(old, new[0])
        nodes = [n for node in after.nodes for n in (new if node is new[0] else [node])]
        after.kept_nodes = tuple(nodes)
    moved = _Moved(scene, old, new, points, then)
    if any(scene.node_now(f.target) is old for f in scene.filters):
        raise InputError("a filter holds the body", where=f"body '{old.name}'")
    after.forces = [moved.acting(acting) for acting in scene.forces]
    after.masses = [Acting(m.force, moved.handle(m.on), m.label) for m in scene.masses]
    after.joints = []
    for joint in scene.joints:
        after.joints.append(moved.joint(joint))
        after.joint_names[id(after.joints[-1])] = scene.joint_name(joint)
    return after


def _divided(contact: Any, scene: Scene, old: Node, new: list[Node]) -> Any:
    """A contact with both parts where it names the old tree: they touch what the tree touched, and each other."""

    def nodes(given: Any) -> Any:
        if given is None or isinstance(given, bool):
            return given
        return [n for node in given for n in (new if scene.node_now(node) is old else [node])]

    def named(pair: tuple[str, str]) -> list[tuple[str, str]]:
        names = [[n.name for n in new] if name == old.name else [name] for name in pair]
        return [(a, b) for a in names[0] for b in names[1]]

    exclude = [p for pair in contact.exclude for p in named(pair)]
    frictions = {p: value for pair, value in contact.frictions.items() for p in named(pair)}
    return replace(
        contact,
        bodies=nodes(contact.bodies),
        self_contact=nodes(contact.self_contact),
        exclude=exclude,
        frictions=frictions,
    )


def _held(node: Node, numbers: Array, points: PointSet) -> PointSet:
    """The points that a joint holds, on other points of a body, by their numbers."""
    around = node.points(numbers)
    if len(numbers) == 1:
        return around
    return PointSet(around, PatchFrame.make(around.rest, points.rest), points.rest, points.label)


def _replaced(root: Node, old: Node, new: list[Node]) -> Node:
    """The tree of nodes with `old` exchanged; other nodes that hold bodies stay the same objects."""
    above = {id(child): node for node in root.walk() for child in node.children}
    now = new
    while old is not root:
        parent = above[id(old)]
        children = [node for child in parent.children for node in (now if child is old else [child])]
        old, now = parent, [replace(parent, children=children)]
    return now[0]


@dataclass(eq=False)
class _Moved:
    """Finds what handles of the old scene are in the new one. points: numbers of the old body's points in each new."""

    scene: Scene
    old: Node
    new: list[Node]
    points: list[Array]
    then: Then | None

    def __post_init__(self) -> None:
        self.found: dict[int, Any] = {}

    def acting(self, given: Acting) -> Acting:
        """A force in the new scene; a wind on nodes blows on the new ones."""
        nodes = getattr(given.force, "nodes", None)
        if nodes is not None:
            listed = list(nodes) if isinstance(nodes, Sequence) else [nodes]
            if any(self._is_old(node) for node in listed):
                now = [n for node in listed for n in (self.new if self._is_old(node) else [node])]
                force = replace(given.force, nodes=now[0] if len(now) == 1 else now)
                return Acting(force, force.on, given.label)
            return given
        on = self.handle(given.on)
        return given if on is given.on else Acting(given.force, on, given.label)

    def joint(self, given: Any) -> Any:
        """A joint in the new scene, on the part that has most of the points it holds on to."""
        sides = [getattr(given, key) for key in SIDES]
        if not any(isinstance(side, Node) and self._is_old(side.whole) for side in sides):
            now = [self.handle(side) if isinstance(side, PointSet | JoinedPoints) else side for side in sides]
            return given if all(a is b for a, b in zip(now, sides)) else replace(given, **dict(zip(SIDES, now)))
        has_patches = isinstance(given, HingeJoint | SliderJoint | FixedJoint)
        changed: dict[str, Any] = {} if has_patches else {"at": None}  # its points are given then
        for key, side, points in zip(SIDES, sides, given.joint().points.parts):
            if not (isinstance(side, Node) and self._is_old(side.whole)):
                changed |= {} if has_patches else {key: points}
                continue
            k, numbers = self._part(points)
            node = self._node(side, k, given)
            changed |= {key: node, f"patch_{key}": numbers} if has_patches else {key: _held(node, numbers, points)}
        return replace(given, **changed)

    def _node(self, side: Node, k: int, joint: Jointed) -> Node:
        """A side that is the old body, as its part k; of one that was taken hold of while it ran, as it was then."""
        if isinstance(side, PresentNode):
            if self.then is None:
                raise InputError(
                    "a joint holds the body as it was", where=f"body '{self.old.name}'", value=joint.joint().label,
                    fix="Remove it before, and add it anew.",
                )  # fmt: skip
            return PresentNode.of(self.new[k], self.then(side.x)[k])
        return self.new[k]

    def _part(self, held: PointSet) -> tuple[int, Array]:
        """The part that has most of the points of the old body that carry some, and their numbers there."""
        while isinstance(held.parent, PointSet):
            held = held.parent
        indices = np.asarray(held.mapping.indices)  # type: ignore[union-attr]
        own = [np.intersect1d(indices, kept) for kept in self.points]
        k = int(np.argmax([len(numbers) for numbers in own]))
        return k, np.searchsorted(self.points[k], own[k])

    def _is_old(self, node: object) -> bool:
        return isinstance(node, Node) and self.scene.node_now(node) is self.old

    def handle(self, given: Any) -> Any:
        """The same points in the new scene."""
        if id(given) not in self.found:
            self.found[id(given)] = self._find(given)
        return self.found[id(given)]

    def _find(self, given: Any) -> Any:
        if self._is_old(given):
            raise InputError("a force acts on the tree as a whole", where="break_off", fix="Let it act on points.")
        if isinstance(given, JoinedPoints):
            parts = tuple(self.handle(part) for part in given.parts)
            return given if all(a is b for a, b in zip(parts, given.parts)) else JoinedPoints(parts)
        if not isinstance(given, PointSet):
            return given
        if self._is_old(given.parent):
            return self._points(np.asarray(given.mapping.indices))  # type: ignore[union-attr]
        parent = self.handle(given.parent)
        return given if parent is given.parent else replace(given, parent=parent)

    def _points(self, indices: Array) -> PointSet:
        """Points of the old body, in the new ones."""
        parts, order = [], []
        for node, kept in zip(self.new, self.points):
            here = np.flatnonzero(np.isin(indices, kept))
            if len(here):
                parts.append(node.points(np.searchsorted(kept, indices[here])))
                order.append(here)
        if len(parts) == 1:
            return parts[0]
        place = np.argsort(np.concatenate(order))
        both = join(*parts)
        return PointSet(both, None, both.rest, both.label).subset(place)
