"""The joint of a scene as one that can be read: whose points it has, and in which order its rows are."""

from __future__ import annotations

from supple.interaction.protocol import PointConditions
from supple.scene.joints.joints import Joint
from supple.scene.joints.readings import MeasuredJoint
from supple.scene.mapped.points import Points, World
from supple.scene.parts import nodes_of
from supple.scene.slots import Slot


def measure_joint(name: str, joint: Joint, slot: Slot) -> MeasuredJoint:
    """A compiled joint, on the slot of its points."""
    first, second = joint.points.parts
    rows: list[PointConditions] = [joint.rows]
    if joint.extra is not None:
        rows.append(joint.extra)
    return MeasuredJoint(name, (_body(first), _body(second)), slot, first.count, joint.origins, rows, joint.coordinate)


def _body(side: Points) -> str:
    """The name of the body that a side is of; of several, all of them."""
    return " + ".join(sorted(node.name for node in nodes_of(side))) or World.name
