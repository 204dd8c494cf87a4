"""Breaking a body, such as a tree of domains, in a running scene.

There is a new scene, and a state of it, in which the branch is a body of its own. The rest keeps the body's name.
Everything else stays: other bodies with their states, forces and what they act on. Points on the branch go with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.bodies.capabilities import Breaking
from supple.bodies.placement import Placement
from supple.errors import InputError
from supple.scene.mapped.points import JoinedPoints, PointSet, join
from supple.scene.node import Node
from supple.scene.scene import Acting, Scene
from supple.scene.state import State

Array = np.ndarray


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
    if scene.filters or scene.joints or scene.masses:
        raise InputError("a scene with filters, joints or added masses cannot break a tree", where="break_off")
    before = scene.compile()
    slot = before.body(body)
    parts = old.body.broken(slot.view_x(state.x), slot.view_v(state.v), domain)
    rest = Node(body, parts[0].body, old.placement, old.children)
    branch = Node(name or f"{body}-{parts[1].label}", parts[1].body, Placement())
    after = replace(scene, root=_replaced(scene.root, old, [rest, branch]), forces=[], filters=[], joints=[], masses=[])
    if len({node.name for node in after.root.walk()}) < len(list(after.root.walk())):
        raise InputError("the name is already used", where="break_off", value=branch.name, fix="Give name=.")
    moved = _Moved(old, [rest, branch], [part.points for part in parts])
    after.contacts = [_divided(contact, old, [rest, branch]) for contact in scene.contacts]
    after.forces = [Acting(a.force, moved.handle(a.on), a.label) for a in scene.forces]
    system = after.compile()
    out = system.initial_state()
    out.t = state.t
    for kept in before.bodies:
        if kept.name != body:
            there = system.body(kept.name)
            there.view_x(out.x)[:], there.view_v(out.v)[:] = kept.view_x(state.x), kept.view_v(state.v)
    out.memory = {key: a.copy() for key, a in state.memory.items() if not key.startswith(f"{body}/")}
    for node, part in zip((rest, branch), parts):
        there = system.body(node.name)
        there.view_x(out.x)[:], there.view_v(out.v)[:] = part.x, part.v
    return BrokenScene(after, out, rest, branch)


def _divided(contact: Any, old: Node, new: list[Node]) -> Any:
    """A contact with both parts where it names the old tree: they touch what the tree touched, and each other."""

    def nodes(given: Any) -> Any:
        return None if given is None else [n for node in given for n in (new if node is old else [node])]

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

    old: Node
    new: list[Node]
    points: list[Array]

    def __post_init__(self) -> None:
        self.found: dict[int, Any] = {}

    def handle(self, given: Any) -> Any:
        """The same points in the new scene."""
        if id(given) not in self.found:
            self.found[id(given)] = self._find(given)
        return self.found[id(given)]

    def _find(self, given: Any) -> Any:
        if given is self.old:
            raise InputError("a force acts on the tree as a whole", where="break_off", fix="Let it act on points.")
        if isinstance(given, JoinedPoints):
            return JoinedPoints(tuple(self.handle(part) for part in given.parts))
        if not isinstance(given, PointSet):
            return given
        if given.parent is self.old:
            return self._points(np.asarray(given.mapping.indices))  # type: ignore[union-attr]
        return replace(given, parent=self.handle(given.parent))

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
