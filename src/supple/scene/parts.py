"""Part of a scene as a scene of its own: some of its bodies, with what acts on them alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from supple.errors import InputError
from supple.scene.mapped.points import JoinedPoints, PointSet, WorldPoints
from supple.scene.node import Node
from supple.scene.scene import Scene


class _Flat(Node):
    """A root whose nodes are its children alone."""

    def walk(self) -> Iterator[Node]:
        """This node and its children."""
        yield self
        yield from self.children


def nodes_of(handle: Any) -> set[Node]:
    """The bodies that a node or point set depends on."""
    if isinstance(handle, Node):
        return {handle}
    if isinstance(handle, PointSet):
        return nodes_of(handle.parent)
    if isinstance(handle, JoinedPoints):
        return {node for part in handle.parts for node in nodes_of(part)}
    if isinstance(handle, WorldPoints):
        return set()
    raise InputError("this is not a node or a point set", value=type(handle).__name__)


def part_of(scene: Scene, nodes: list[Node]) -> Scene:
    """The scene of these nodes alone, without contacts and obstacles. What joins them to other bodies is refused."""
    inside = set(nodes)

    def belongs(handle: Any, label: str) -> bool:
        owners = nodes_of(handle)
        if owners & inside and owners - inside:
            names = sorted(node.name for node in owners)
            raise InputError(
                f"'{label}' joins bodies that are stepped by different schemes",
                where="Partitioned",
                value=", ".join(names),
                fix="Bodies of different parts meet by contact alone; use ImplicitEuler for all of them otherwise.",
            )
        return bool(owners & inside)

    part = Scene(scene.gravity, name=scene.name)
    part.root = _Flat("root", children=list(nodes))
    part.forces = [f for f in scene.forces if belongs(f.on, f.label)]
    part.masses = [m for m in scene.masses if belongs(m.on, m.label)]
    part.filters = [f for f in scene.filters if belongs(f.target, type(f).__name__)]
    part.joints = [j for j in scene.joints if belongs(j.joint().points, j.joint().label)]
    return part
