"""Points, loads, springs, joints and filters as tables of a scene file."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from supple.bodies.floating.points import FloatingPoints
from supple.bodies.layered.points import LayeredPoints
from supple.bodies.mappings import FramePoints, WeightedPoints
from supple.bodies.point_mass import PointMass
from supple.bodies.rigid import RigidBody
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.bodies.voxel import VoxelBody
from supple.errors import InputError
from supple.files.scenes.writing.values import Table, in_time, one_or_each, plain
from supple.interaction.springs import SpringForce
from supple.scene import (
    BallJoint,
    FixedAxes,
    FixedJoint,
    FixedPoints,
    HingeJoint,
    Load,
    Node,
    PrescribedMotion,
    Pressure,
    SliderJoint,
    SlidingPlane,
    Wind,
    World,
    Wrench,
)
from supple.scene.mapped.points import JoinedPoints, Points, PointSet, WorldPoints
from supple.scene.scene import Acting


def describe_points(points: Any) -> Table:
    """The table of a point set."""
    if isinstance(points, Node):
        return {"body": points.name}
    if isinstance(points, WorldPoints):
        return {"world": plain(points.rest)}
    if isinstance(points, JoinedPoints):
        return {"join": [describe_points(part) for part in points.parts]}
    if isinstance(points, PointSet):
        if points.mapping is None:
            return describe_points(points.parent)
        if isinstance(points.mapping, FramePoints) and isinstance(points.parent, Node):
            return _frame_points(points.parent, points.mapping, points.label)
        numbers = points.mapping.indices if isinstance(points.mapping, DomainPoints) else None
        if numbers is not None and isinstance(points.parent, Node):
            return _tree_points(points.parent, numbers)
        if isinstance(points.mapping, FloatingPoints | LayeredPoints) and isinstance(points.parent, Node):
            return _shaped_points(points.parent, points.mapping, points.label)
        if isinstance(points.mapping, WeightedPoints):
            return _weighted_points(points, points.mapping)
    raise InputError("points by a mapping of your own cannot be saved", where=getattr(points, "label", None))


def _frame_points(node: Node, mapping: FramePoints, label: str) -> Table:
    if isinstance(node.body, VoxelBody):
        return _voxel_points(node, mapping, label)
    surface = node.body.surface if isinstance(node.body, RigidBody) else None
    if surface is not None and np.array_equal(surface.nodes, mapping.local):
        return {"body": node.name}
    return {"body": node.name, "local": plain(mapping.local)}


def _voxel_points(node: Node, mapping: FramePoints, label: str) -> Table:
    """Centres of voxels by their layer's name or their numbers, other points by their place."""
    if mapping.local.any():
        return {"body": node.name, "local": plain(node.held_body.rest_points[mapping.frame] + mapping.local)}
    layer = label.removeprefix(f"{node.name}.")
    if layer != label and np.array_equal(node.indices(layer), mapping.frame):
        return {"body": node.name, "region": layer}
    if np.array_equal(mapping.frame, np.arange(len(node.held_body.rest_points))):
        return {"body": node.name}
    return {"body": node.name, "numbers": plain(mapping.frame)}


def _tree_points(node: Node, numbers: np.ndarray) -> Table:
    if np.array_equal(numbers, np.arange(len(node.held_body.rest_points))):
        return {"body": node.name}
    return {"body": node.name, "numbers": plain(numbers)}


def _shaped_points(node: Node, mapping: FloatingPoints | LayeredPoints, label: str) -> Table:
    """Nodes of a floating or layered body by their numbers, other points by their place."""
    body: Any = node.body
    X = body.model.X
    numbers = KDTree(X).query(mapping.local)[1]
    if not np.array_equal(X[numbers], mapping.local):
        return {"body": node.name, "local": plain(mapping.local + body.origin)}
    if np.array_equal(numbers, np.arange(len(X))):
        return {"body": node.name}
    return _selection(node, label, numbers)


def _weighted_points(points: PointSet, mapping: WeightedPoints) -> Table:
    W = mapping.weights
    base = describe_points(points.parent)
    lengths, n = np.diff(W.indptr), W.shape[1]
    whole = set(base) == {"body"}
    if (lengths == 1).all() and (W.data == 1).all():
        index = W.indices
        if not whole:
            return {"of": base, "numbers": plain(index)}
        return _selection(_body_of(points), points.label, index)
    if W.shape[0] == 1 and np.array_equal(W.indices, np.arange(n)) and (W.data == 1 / n).all() and "join" not in base:
        return (base if "centroid" not in base else {"of": base}) | {"centroid": True}
    width = lengths.max()
    starts, within = W.indptr[:-1, None], np.arange(width)
    entry = np.minimum(starts + within, W.indptr[1:, None] - 1)
    weights = np.where(within < lengths[:, None], W.data[entry], 0.0)
    return (base if whole else {"of": base}) | {"nodes": plain(W.indices[entry]), "weights": plain(weights)}


def _body_of(points: PointSet) -> Node:
    parent = points.parent
    while isinstance(parent, PointSet):
        parent = parent.parent
    assert isinstance(parent, Node)
    return parent


def _selection(node: Node, label: str, index: Any) -> Table:
    """Numbers of a body's points, by the name of the region where there is one."""
    region = label.removeprefix(f"{node.name}.")
    mesh = getattr(node.body, "mesh", None)
    if mesh is None:
        return {"body": node.name, "numbers": plain(index)}
    if region != label and _is_region(mesh, region, index):
        return {"body": node.name, "region": region}
    if (np.diff(index) > 0).all():
        return {"body": node.name, "numbers": plain(index)}
    return {"of": {"body": node.name}, "numbers": plain(index)}


def _is_region(mesh: Any, name: str, index: Any) -> bool:
    try:
        return np.array_equal(mesh.node_region(name), index)
    except InputError:
        return False


def describe_force(acting: Acting) -> tuple[str, Table]:
    """The list a force stands in, and its table."""
    force, on, label = acting.force, acting.on, acting.label
    default = type(force).__name__.lower()
    if type(force) is Load:
        kind = "loads"
        table = {"on": describe_points(on), "force": in_time(force.force, f"the load '{label}'")}
    elif type(force) is Pressure:
        kind = "loads"
        selection = _selector(force.node, force.region)
        table = {
            "on": {"body": force.node.name} | selection,
            "pressure": in_time(force.pressure, f"'{label}'"),
        }
    elif type(force) is Wrench:
        kind = "loads"
        table = {"on": {"body": force.node.name} | _selector(force.node, force.selector)}
        table |= {name: in_time(getattr(force, name), f"the wrench '{label}'") for name in ("force", "torque")}
    elif type(force) is SpringForce and _is_pairwise(force, on):
        kind, default = "springs", "springs"
        table = {"a": describe_points(on.parts[0]), "b": describe_points(on.parts[1])}
        table |= {"stiffness": one_or_each(force.stiffness), "rest_length": one_or_each(force.rest_length)}
        table |= {"damping": one_or_each(force.damping)} if force.damping.any() else {}
    elif type(force) is Wind:
        kind, table = "wind", describe_wind(force)
    else:
        raise InputError(
            "a force of your own cannot be saved",
            where=f"force '{label}'",
            value=type(force).__name__,
            fix="Save the scene without it and add it after loading, or keep the scene as a .py file.",
        )
    return kind, ({} if label == default else {"name": label}) | table


def describe_wind(wind: Wind) -> Table:
    """The table of a wind; without bodies where it blows on all of them."""
    table: Table = {"velocity": plain(wind.velocity)}
    if wind.nodes is not None:
        nodes = [wind.nodes] if isinstance(wind.nodes, Node) else list(wind.nodes)
        table = {"on": [node.name for node in nodes]} | table
    first = ("nodes", "velocity", "speed")
    changed = {f.name: getattr(wind, f.name) for f in fields(Wind) if f.name not in first}
    return table | {key: plain(v) for key, v in changed.items() if v != getattr(Wind, key)}


def describe_mass(acting: Acting) -> Table:
    """The table of point masses on points."""
    if type(acting.force) is not PointMass or not acting.force.is_lumped:
        raise InputError("a mass of your own cannot be saved", where=f"mass '{acting.label}'")
    table: Table = {"on": describe_points(acting.on), "mass": one_or_each(acting.force.m)}
    return ({} if acting.label == PointMass.__name__ else {"name": acting.label}) | table


def _is_pairwise(force: SpringForce, on: Any) -> bool:
    if not isinstance(on, JoinedPoints) or len(on.parts) != 2:
        return False
    n = on.parts[0].count
    return np.array_equal(force.pairs, np.stack([np.arange(n), n + np.arange(n)], axis=1))


def _selector(node: Node, selector: Any) -> Table:
    if selector is None or node.is_frame:
        return {}
    return {"region": selector} if isinstance(selector, str) else {"numbers": plain(node.indices(selector))}


def describe_joint(joint: Any, name: str) -> Table:
    """The table of a joint."""
    kinds = {BallJoint: "ball", HingeJoint: "hinge", SliderJoint: "slider", FixedJoint: "fixed"}
    if type(joint) not in kinds:
        raise InputError("a joint of your own cannot be saved", value=type(joint).__name__)
    table: Table = {"kind": kinds[type(joint)], "name": name, "a": _side(joint.a)}
    if isinstance(joint, BallJoint) and joint.at is None and joint.b is World and isinstance(joint.a, Points):
        table["b"] = {"world": plain(joint.a.rest)}
    elif joint.b is not World and joint.b is not None:
        table["b"] = _side(joint.b)
    for key in ("at", "axis", "limits"):
        if getattr(joint, key, None) is not None:
            table[key] = plain(np.asarray(getattr(joint, key), dtype=float))
    for key, node in (("patch_a", joint.a), ("patch_b", joint.b)):
        patch = getattr(joint, key, None)
        if isinstance(patch, str | int | float):
            table[key] = patch if isinstance(patch, str) else float(patch)
        elif patch is not None:
            table[key] = plain(node.indices(patch))
    return table | _motor(joint)


def _motor(joint: Any) -> Table:
    if getattr(joint, "motor_speed", None) is None:
        return {}
    table: Table = {"motor_speed": in_time(joint.motor_speed, "the motor's speed")}
    largest = "motor_torque" if isinstance(joint, HingeJoint) else "motor_force"
    return table | ({largest: float(value)} if np.isfinite(value := getattr(joint, largest)) else {})


def _side(side: Any) -> Any:
    if side is World or side is None:
        return World.name
    return side.name if isinstance(side, Node) else describe_points(side)


def describe_filter(given: Any) -> Table:
    """The table of a filter."""
    kinds = {FixedPoints: "fixed", FixedAxes: "axes", SlidingPlane: "plane", PrescribedMotion: "motion"}
    if type(given) not in kinds:
        raise InputError("a filter of your own cannot be saved", value=type(given).__name__)
    node = given.target
    table: Table = {"kind": kinds[type(given)], "body": node.name, **_selector(node, given.selector)}
    if isinstance(given, FixedPoints):
        return table | ({} if given.rotation else {"rotation": False})
    if isinstance(given, FixedAxes):
        return table | {"axes": given.axes} | ({"rotation": True} if given.rotation else {})
    if isinstance(given, SlidingPlane):
        return table | {"normal": plain(np.asarray(given.normal, dtype=float))}
    what = f"the motion of '{node.name}'"
    moves = {"displacement": given.displacement, "rotation": given.rotation}
    return table | {name: in_time(move, what) for name, move in moves.items() if move is not None}
