"""Part of a scene as a scene of its own: some of its bodies, with what acts on them alone."""

from __future__ import annotations

from collections.abc import Iterator

from supple.bodies.traits import is_load
from supple.errors import InputError
from supple.scene.mapped.points import JoinedPoints, PointSet, WorldPoints
from supple.scene.node import Node
from supple.scene.scene import Acting, Scene


class _Flat(Node):
    """A root whose nodes are its children alone."""

    def walk(self) -> Iterator[Node]:
        """This node and its children."""
        yield self
        yield from self.children


def nodes_of(handle: object) -> set[Node]:
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


def restricted(acting: Acting, inside: set[Node]) -> Acting:
    """A load on several bodies as one on those inside, where it can be split by its points; anything else as it is.

    No body feels another by a load, so that each part may carry its own.
    """
    if not (can_be_split(acting) and nodes_of(acting.on) & inside):
        return acting
    chosen = [k for k, part in enumerate(acting.on.parts) if nodes_of(part) <= inside]
    force = acting.force.restricted(chosen)
    return Acting(force, force.on, acting.label)


def can_be_split(acting: Acting) -> bool:
    """Whether a load acts on joined points, each part of which is of one body."""
    if not is_load(acting.force) or not hasattr(acting.force, "restricted"):
        return False
    return isinstance(acting.on, JoinedPoints) and all(len(nodes_of(part)) <= 1 for part in acting.on.parts)


def part_of(scene: Scene, nodes: list[Node], without: frozenset[int] = frozenset()) -> Scene:
    """The scene of these nodes alone, without contacts and obstacles.

    without: ids of the scene's forces and joints that are left out. Else what joins them to other bodies is refused.
    """
    inside = set(nodes) | {old for old, new in scene.renewed.values() if new in nodes}

    def belongs(handle: object, label: str) -> bool:
        owners = nodes_of(handle)
        if owners & inside and owners - inside:
            names = sorted(node.name for node in owners)
            raise InputError(
                f"'{label}' acts on bodies that are stepped by different methods",
                where="Partitioned",
                value=", ".join(names),
                fix="Let it act on each body by itself; springs and joints couple bodies of all kinds.",
            )
        return bool(owners & inside)

    part = Scene(scene.gravity, name=scene.name, is_part=True)
    part.fluid, part.winds, part.renewed = scene.fluid, scene.winds, scene.renewed
    part.root = _Flat("root", children=list(nodes))
    forces = [restricted(f, inside) for f in scene.forces if id(f) not in without]
    part.forces = [f for f in forces if belongs(f.on, f.label)]
    part.masses = [m for m in scene.masses if belongs(m.on, m.label)]
    part.filters = [f for f in scene.filters if belongs(f.target, type(f).__name__)]
    joints = [j for j in scene.joints if id(j) not in without]
    part.joints = [j for j in joints if belongs(j.joint().points, j.joint().label)]
    return part
