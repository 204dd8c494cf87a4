"""Points, loads, springs, joints and filters from a scene file."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.mappings import WeightedPoints
from supple.bodies.point_mass import PointMass
from supple.errors import InputError
from supple.files.scenes.schema import acting as schema
from supple.files.scenes.section import nearest
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
    Scene,
    SliderJoint,
    SlidingPlane,
    Springs,
    Wind,
    World,
    Wrench,
    join,
)
from supple.scene.mapped.points import PointSet, WorldPoints


def find_body(scene: Scene, name: str) -> Node:
    """The body of a name; an error names the nearest."""
    for node in scene.nodes:
        if node.name == name:
            return node
    names = [node.name for node in scene.nodes]
    near = nearest(name, names)
    fix = f"Did you mean '{near}'?" if near else f"Bodies: {', '.join(names[:20]) or 'none'}."
    raise InputError(f"no body is called '{name}'", fix=fix)


def build_points(section: schema.Points, scene: Scene) -> Any:
    """The points of a table."""
    points = _points(section, scene)
    if section.nodes is not None and section.weights is not None:
        points = _weighted(points, section.nodes, section.weights)
    return points.centroid() if section.centroid else points


def _points(section: schema.Points, scene: Scene) -> Any:
    if section.world is not None:
        return World.points(section.world)
    if section.join is not None:
        joined = join(*(build_points(part, scene) for part in section.join))
        if not section.centroid:
            return joined
        raise InputError("joined points have no centroid", fix="Give weights.")
    if section.of is not None:
        inner = build_points(section.of, scene)
        if isinstance(inner, WorldPoints):
            raise InputError("points of the world are given by position", fix="Use world = [...] itself.")
        return inner if section.numbers is None else inner.subset(section.numbers)
    assert section.body is not None
    node = find_body(scene, section.body)
    if section.at is not None or section.local is not None:
        return node.points(at=section.at, local=section.local)
    return node.points(section.region if section.region is not None else section.numbers)


def _weighted(points: Any, nodes: Any, weights: Any) -> PointSet:
    """Points that are weighted sums of given ones, row by row."""
    if nodes.min() < 0 or nodes.max() >= points.count:
        raise InputError("a point's number is out of range", value=int(nodes.max()), allowed=f"0..{points.count - 1}")
    mapping = WeightedPoints.barycentric(nodes, weights, points.count)
    return PointSet(points, mapping, mapping.apply(points.rest), f"points of {points.label}")


def build_load(section: schema.Load, scene: Scene) -> Load | Pressure | Wrench:
    """The load, wrench or pressure of a table."""
    if section.torque is not None:
        assert section.on.body is not None
        node = find_body(scene, section.on.body)
        selector = section.on.region if section.on.region is not None else section.on.numbers
        if node.is_frame and selector is not None:
            raise InputError("a rigid body takes a torque as a whole", fix="Leave out region and numbers.")
        return Wrench(node, selector, **section.given("force", "torque"))
    if section.pressure is not None:
        assert section.on.body is not None
        region = section.on.region if section.on.region is not None else section.on.numbers
        return Pressure(find_body(scene, section.on.body), region, _constant(section.pressure))
    return Load(build_points(section.on, scene), section.force)


def _constant(value: Any) -> Any:
    return value if callable(value) else float(value)


def build_springs(section: schema.Springs, scene: Scene) -> Springs:
    """The springs of a table."""
    a, b = build_points(section.a, scene), build_points(section.b, scene)
    return Springs(a, b, section.stiffness, **section.given("damping", "rest_length"))


def build_wind(section: schema.Wind, scene: Scene) -> Wind:
    """The wind of a table."""
    nodes = None if section.on is None else [find_body(scene, name) for name in section.on]
    keys = ("intensity", "length", "density", "drag", "two_sided", "modes", "seed")
    return Wind(nodes[0] if nodes is not None and len(nodes) == 1 else nodes, section.velocity, **section.given(*keys))


def add_mass(section: schema.Mass, scene: Scene) -> None:
    """Give a scene the point masses of a table."""
    points = build_points(section.on, scene)
    if section.mass.ndim and len(section.mass) != points.count:
        raise InputError("there is not one mass a point", value=len(section.mass), allowed=str(points.count))
    mass = PointMass(np.broadcast_to(section.mass, (points.count,)).copy())
    scene.add(mass, on=points, **section.given("name"))


def build_joint(section: Any, scene: Scene) -> Any:
    """The joint of a table."""
    kinds: dict[str, Any] = {"ball": BallJoint, "hinge": HingeJoint, "slider": SliderJoint, "fixed": FixedJoint}
    more = {k: v for k, v in section if k not in ("kind", "name", "a", "b") and v is not None}
    if "limits" in more:
        more["limits"] = tuple(more["limits"].tolist())
    if "motor_speed" in more:
        more["motor_speed"] = _constant(more["motor_speed"])
    a, b = _side(section.a, scene), World if section.b is None else _side(section.b, scene)
    return kinds[section.kind](a, b, **more)


def _side(given: Any, scene: Scene) -> Any:
    if isinstance(given, schema.Points):
        return build_points(given, scene)
    return World if given == World.name else find_body(scene, given)


def build_filter(section: Any, scene: Scene) -> Any:
    """The filter of a table."""
    node = find_body(scene, section.body)
    if node.is_frame and (section.region is not None or section.numbers is not None):
        raise InputError("a rigid body is fixed as a whole", fix="Leave out region and numbers.")
    selector = section.region if section.region is not None else section.numbers
    if isinstance(section, schema.FixedPoints):
        return FixedPoints(node, selector, **section.given("rotation"))
    if isinstance(section, schema.FixedAxes):
        return FixedAxes(node, selector, section.axes, **section.given("rotation"))
    if isinstance(section, schema.SlidingPlane):
        return SlidingPlane(node, selector, section.normal)
    return PrescribedMotion(node, selector, **_motions(section))


def _motions(section: schema.PrescribedMotion) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in section.given("displacement", "rotation").items():
        if not callable(value):
            raise InputError(f"{name} is not a function of time", fix="Give a sine or a table.")
        out[name] = value
    return out
