"""Which joints the sweep of lattices holds: those between voxels, of voxels with the world, and with other bodies.

Joints with limits or motors, and on voxels that filters lead or let slide take a lattice out of its sweep, as an
implicit body; and with it all that joints bind to it. Voxels that filters hold do not move for a joint. Other bodies
respond to the joint while the lattice is swept, as they do to contacts with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from supple.bodies.body_protocol import Method
from supple.bodies.mappings import FramePoints
from supple.bodies.voxel.touching.joints import JointSide, LatticeJoints
from supple.bodies.voxel.touching.springs import LatticeSprings
from supple.scene.acting.filters import PointConditions
from supple.scene.joints.joints import PointConditionRows
from supple.scene.mapped.patch_frame import PatchFrame
from supple.scene.mapped.points import PointSet, WorldPoints
from supple.scene.node import Node
from supple.scene.parts import nodes_of
from supple.scene.scene import Scene

Array = np.ndarray


def swept_joints(scene: Scene, held: Collection[str] = ()) -> frozenset[int]:
    """ids of the joints of a scene that sweeps hold; held: names of lattices that are not swept."""
    if not scene.joints:
        return frozenset()
    guided = [(f.target, f.conditions()) for f in scene.filters if nodes_of(f.target)]
    bound = [(given, given.joint()) for given in scene.joints]
    nodes = {id(given): nodes_of(joint.points) for given, joint in bound}
    taken = {node for mass in scene.masses for node in nodes_of(mass.on)}
    taken |= {node for node in scene.nodes if node.name in held}
    taken = {node for node in taken if _is_lattice(node)}
    swept = {
        id(given) for given, joint in bound if any(map(_is_lattice, nodes[id(given)])) and _is_plain(joint, guided)
    }
    while True:
        taken |= {node for key, own in nodes.items() if key not in swept for node in own if _is_lattice(node)}
        fewer = {key for key in swept if not nodes[key] & taken}
        if fewer == swept:
            return frozenset(swept)
        swept = fewer


def lattice_joints(
    joints: Sequence[Any], first: Mapping[str, int], springs: LatticeSprings | None = None
) -> LatticeJoints | None:
    """The joints that a sweep holds, and springs; first: number of the first voxel of each body. None where there are
    neither."""
    if not joints:
        return None if springs is None else LatticeJoints.of_springs(springs)
    sides: list[JointSide] = []
    meetings, angles, constants, rows = [], [], [], []
    at = 0
    for given in joints:
        joint = given.joint()
        for part in joint.points.parts:
            side = side_of(part, first)
            assert side is not None
            sides.append(side)
        meetings.append(joint.rows.meetings + at)
        angles.append(joint.rows.angles + at)
        constants.append(joint.rows.constants)
        rows.append((3 * len(joint.rows.meetings), len(joint.rows.angles)))
        at += joint.points.count
    met, turned = np.cumsum([0, *(r[0] for r in rows)]), np.cumsum([0, *(r[1] for r in rows)])
    order = [np.r_[met[k] : met[k + 1], met[-1] + turned[k] : met[-1] + turned[k + 1]] for k in range(len(rows))]
    return LatticeJoints(
        tuple(sides),
        np.concatenate(meetings),
        np.concatenate(angles),
        np.concatenate(constants),
        np.concatenate(order).astype(np.int64),
        LatticeSprings.none() if springs is None else springs,
    )


def _is_plain(joint: Any, guided: list[tuple[Node, PointConditions]]) -> bool:
    if joint.extra is not None or type(joint.rows) is not PointConditionRows:
        return False
    for part in joint.points.parts:
        side = side_of(part, None)
        if side is None:
            return False
        own = [conditions for node, conditions in guided if {node} == nodes_of(part)]
        if any(np.isin(side.voxel, conditions.indices).any() for conditions in own if not _holds(conditions)):
            return False
    return True


def _holds(conditions: PointConditions) -> bool:
    """Whether points neither move nor turn."""
    moves = conditions.path is not None or conditions.orientation is not None or np.any(conditions.projector)
    return conditions.hold_rotation and not moves


def _is_lattice(node: Node) -> bool:
    return node.held_body.method is Method.SWEEP


def side_of(part: Any, first: Mapping[str, int] | None) -> JointSide | None:
    """A side as the sweep takes it, None where it does not. first None: the voxels' numbers do not matter."""
    if isinstance(part, WorldPoints):
        return JointSide.world(part.rest)
    if not any(map(_is_lattice, nodes_of(part))):
        return JointSide.other(part.rest)
    if not isinstance(part, PointSet):
        return None
    points = part.parent if isinstance(part.mapping, PatchFrame) else part
    if not (isinstance(points, PointSet) and isinstance(points.mapping, FramePoints)):
        return None
    node = points.parent
    if not isinstance(node, Node):
        return None
    voxel = points.mapping.frame + (0 if first is None else first[node.name])
    if isinstance(part.mapping, PatchFrame):
        return JointSide.patch(voxel, points.mapping.local, part.mapping.offsets, part.mapping.local)
    return JointSide.points(voxel, points.mapping.local)
