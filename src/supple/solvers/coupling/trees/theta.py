"""Where in a step the equations of coupled trees hold: theta of each of them.

    1                 in contact: implicit Euler, which lets nothing ring, and in which a contact dissipates
    PULLED, 0.55      springs, and joints with bodies that implicit Euler steps
    its own, 1/2      joints with trees and the world alone: nothing is damped, see `projection`

Trees that joints hold together take the largest of theirs.
"""

from __future__ import annotations

from supple.bodies.tree.dynamics import PULLED
from supple.scene.slots import Slot
from supple.solvers.coupling.across import bodies_of
from supple.solvers.coupling.meeting import Meeting
from supple.solvers.coupling.trees.touch import TreeTouch

EULER = 1.0


def thetas(slots: list[Slot], touches: dict[str, TreeTouch], meeting: Meeting) -> dict[str, float]:
    """theta of each tree that is coupled, by name."""
    found, groups = {}, [set(names) for names in _joined(meeting)]
    for slot in slots:
        if slot.name in touches:
            touch, own = touches[slot.name], slot.node.body.settings.theta
            found[slot.name] = EULER if touch.is_touching else max(own, PULLED if touch.is_pulled else 0.0)
    for group in groups:
        if not group <= found.keys():  # with bodies of other parts
            found |= {name: max(found[name], PULLED) for name in group & found.keys()}
    for _ in groups:
        for group in groups:
            together = group & found.keys()
            found |= dict.fromkeys(together, max(found[name] for name in together))
    return found


def _joined(meeting: Meeting) -> list[list[str]]:
    joints = [] if meeting.joints is None else meeting.joints.joints
    return [[body.name for body in bodies_of(joint.slot)] for joint in joints]
