"""Recorded numbers of contact: obstacles and their motion, pairs of all kinds, convex shapes, friction, restitution."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.recorded.making import BODIES, GRAVITY, RUBBER, moved, random, surface
from tests.recorded.recording import Recorded, Values

import supple as sp
from supple.contact import distance
from supple.geometry.surfaces.convex import ConvexShape
from supple.geometry.surfaces.signed_distance import SignedDistance

recorded = Recorded(__name__)
GIVEN: dict[str, Any] = {"friction": 0.37, "static_friction": 0.53, "restitution": 0.23}
SAMPLED = sp.Motion(
    times=[0.0, 0.013, 0.05],
    positions=[(0, 0, 0), (0.01, -0.02, 0.005), (0.03, 0.01, 0.02)],
    rotations=[(0, 0, 0), (0.1, 0.2, -0.1), (0.2, -0.1, 0.3)],
    centre=(0.1, 0.2, -0.1),
)
TURNING = sp.Motion((0.3, 0.1, 0.2), (0.3, -0.2, 0.5), (0.1, 0.2, 0.0))
OBSTACLES: dict[str, Any] = {
    "floor": lambda **o: sp.Floor(0.03, **o),
    "plane": lambda **o: sp.Plane((0.2, -0.3, 0.9), 0.02, **o),
    "sphere": lambda **o: sp.Sphere((0.1, 0.2, -0.3), 0.3, **o),
    "capsule": lambda **o: sp.Capsule((-0.2, 0.1, -0.1), (0.3, 0.3, -0.2), 0.17, **o),
    "box": lambda **o: sp.Box((0.1, 0.2, -0.2), (0.5, 0.4, 0.2), (0.1, 0.2, 0.3), **o),
    "hills": lambda **o: sp.HeightField(
        0.05 * np.sin(np.arange(30.0)).reshape(5, 6), origin=(-0.5, -0.4), spacing=(0.27, 0.23), **o
    ),
    "mesh": lambda **o: sp.MeshObstacle(surface(4).scaled(3.0), **o),
}


@recorded.over({name: make for name, make in OBSTACLES.items() if name != "mesh"})
def obstacle(make: Any) -> Values:
    points = 0.4 * random(30, 3, seed=1)
    thing = make(motion=TURNING, **GIVEN)
    gap, normal = distance(thing, points)
    return {"gap": gap, "normal": normal, "pose": thing.pose(0.3), "velocity": thing.velocity_at(0.3, points[:4])}


MOTIONS = {"samples": SAMPLED, "velocities": TURNING}


@recorded.over(MOTIONS)
def motion(given: sp.Motion) -> Values:
    points, times = random(5, 3, seed=2), [0.0, 0.004, 0.02, 0.07]
    return {
        "poses": given.poses(times),
        "pose": [given.pose(t) for t in times],
        "velocity": [given.velocity_at(t, points) for t in times],
        "spin": [given.spin_at(t) for t in times],
        "displacement": given.displacement(0.01, 0.006, points),
    }


def gaps(thing: Any, points: np.ndarray) -> np.ndarray:
    """Distances (k,) [m]."""
    if isinstance(thing, sp.MeshObstacle):
        return SignedDistance(thing.mesh)(points)
    return distance(thing, points)[0]


def on(body: Any, thing: Any, deep: float = -0.0002, **contact: Any) -> sp.Scene:
    """A body that is in an obstacle by little, and moves into it, aslant."""
    at = np.array([0.1, 0.2, 0.6])
    start = {"rotation": (0.1, -0.07, 0.4), "velocity": (0.4, -0.2, -0.3), "spin": (0.3, 1.0, 2.0)}
    for _ in range(30):
        scene = sp.Scene(gravity=GRAVITY)
        node = scene.add(body, name="body", at=at, **start)
        at = at - (0.0, 0.0, 0.8 * (float(gaps(thing, node.rest).min()) + deep))
    scene.add(thing, name="thing")
    if contact:
        scene.add(sp.Contact(**contact))
    return scene


RESTING = ("rigid", "rigid box", "rigid ball", "rigid cylinder", "fem", "fem, hexes", "floating", "layered", "tree")


@recorded.over(
    {f"{name}, {kind}": (name, kind) for name in ("floor", "sphere", "hills") for kind in RESTING}, rtol=1e-6
)
def resting(given: tuple[str, str]) -> Values:
    return moved(on(BODIES[given[1]](), OBSTACLES[given[0]](friction=0.37)), steps=3)


@recorded.over(OBSTACLES, rtol=1e-6)
def sliding(make: Any) -> Values:
    """A soft body and a moving obstacle with friction of its own."""
    return moved(on(BODIES["fem"](), make(motion=TURNING, friction=0.3, static_friction=0.5)), steps=3)


@recorded.over(OBSTACLES, rtol=1e-6)
def rebound(make: Any) -> Values:
    """A rigid box that meets it at speed."""
    return moved(on(BODIES["rigid box"](), make(**GIVEN)), steps=4)


OPTIONS: dict[str, dict[str, Any]] = {
    "stiffness": {"stiffness": 3e6, "damping": 0.002, "tangential_stiffness": 0.3},
    "static friction": {"friction": 0.2, "static_friction": 0.7},
    "frictions": {"friction": 0.2, "frictions": {("one", "two"): 0.6, ("one", "floor"): 0.1}},
    "restitution": {"restitution": 0.4, "friction": 0.3},
    "push": {"push_speed": 0.37, "margin": 0.013},
}


def pair(one: str, two: str, **options: Any) -> sp.Scene:
    """Two bodies, the second thrown on the first, which lies on the floor."""
    scene = sp.Scene(gravity=GRAVITY)
    scene.add(sp.Floor(0.0, friction=0.43), name="floor")
    a = scene.add(BODIES[one](), name="one", at=(0.1, 0.2, 0.3), rotation=(0.03, 0.02, 0.4))
    a = _moved_node(scene, a, -float(a.rest[:, 2].min()) + 0.0003)
    b = scene.add(BODIES[two](), name="two", at=(0.1, 0.2, 0.9), rotation=(0.2, 0.5, -0.3), velocity=(0.2, 0.1, -0.9))
    shift = a.rest.mean(axis=0) - b.rest.mean(axis=0)
    b = _moved_node(scene, b, 0.0, (*shift[:2], 0.0))
    low, high = float(b.rest[:, 2].min()), float(a.rest[:, 2].max())
    _moved_node(scene, b, high - low + 0.0007)
    scene.add(sp.Contact(**{"friction": 0.37, **options}))
    return scene


def _moved_node(scene: sp.Scene, node: sp.Node, up: float, aside: Any = (0.0, 0.0, 0.0)) -> sp.Node:
    from dataclasses import replace

    node.placement = replace(node.placement, at=node.placement.at + np.asarray(aside) + (0.0, 0.0, up))
    return node


PAIRS = """rigid box/rigid ball; rigid box/rigid cylinder; rigid/rigid box; rigid box/rigid box; fem/fem, hexes;
fem/rigid box; rigid cylinder/fem; fem/particles; layered/floating; fem/layered; rigid ball/particles; tree/rigid ball;
tree/fem; fem/tree; rigid box/voxel; fem/voxel; voxel/tree; tree/tree; particles/particles"""


@recorded.over({names.strip(): names.strip().split("/") for names in PAIRS.split(";")}, rtol=1e-5)
def pairs(given: list[str]) -> Values:
    return moved(pair(*given), steps=4)


@recorded.over(
    {
        f"{name}, {b}": (name, b)
        for name in OPTIONS
        for b in ("rigid box", "fem")
        if (name, b) != ("restitution", "fem")
    },
    rtol=1e-5,
)
def options(given: tuple[str, str]) -> Values:
    return moved(pair("rigid box", given[1], **OPTIONS[given[0]]), steps=4)


@recorded.case
def found() -> Values:
    """Pairs of two surfaces that cross, with areas, depths and normals."""
    outer = surface(3)
    one, two = outer, outer.scaled(0.7).moved(at=(0.03, 0.09, 0.05), rotation=(0.9, 0.1, 0.3, 0.2))
    scene = sp.Scene()
    for name, s in (("one", one), ("two", two)):
        scene.add(sp.RigidBody(1.0, np.ones(3), surface=s), name=name)
    scene.add(sp.Contact(friction=0.3))
    return moved(scene, steps=1)


SHAPES = {
    "hull": ConvexShape.hull(0.06 * random(12, 3, seed=3)),
    "capsule": ConvexShape.capsule((-0.05, 0.01, 0.0), (0.06, 0.02, 0.03), 0.03),
    "ball": ConvexShape.ball(0.05),
    "box": ConvexShape.box((0.1, 0.07, 0.06)),
}


@recorded.over({f"{a}, {b}": (a, b) for k, a in enumerate(SHAPES) for b in list(SHAPES)[k:]}, rtol=1e-6)
def manifolds(given: tuple[str, str]) -> Values:
    """Convex shapes of rigid bodies that meet."""
    scene = sp.Scene(gravity=GRAVITY)
    for k, name in enumerate(given):
        body = sp.RigidBody(0.7 + 0.4 * k, (1e-3, 1.3e-3, 1.7e-3), convex=SHAPES[name], surface=surface(2).scaled(0.3))
        scene.add(body, at=(0.02 * k, 0.03 * k, 0.055 * k), rotation=(0.3, 0.1 + k, 0.2), velocity=(0, 0, -0.9 * k))
    scene.add(sp.Contact(friction=0.3, restitution=0.4))
    return moved(scene, steps=3, dt=0.004)


@recorded.case(rtol=1e-6)
def a_stack() -> Values:
    """Unlike boxes on a slope, in compiled loops."""
    scene = sp.Scene(gravity=GRAVITY)
    scene.add(sp.Plane((0.1, 0.05, 1.0), 0.0, friction=0.5))
    z = 0.0
    for k in range(4):
        size = (0.12 - 0.01 * k, 0.1, 0.05 + 0.01 * k)
        scene.add(
            sp.RigidBody.box(size, density=400.0 + 100 * k),
            at=(0.0, 0.0, z + size[2] / 2 + 0.004),
            rotation=(0, 0, 0.2 * k),
        )
        z += size[2] + 0.0005
    scene.add(sp.Contact(friction=0.41))
    return moved(scene, steps=8, dt=0.004)


@recorded.case(rtol=1e-5)
def self_contact() -> Values:
    """A bent strip that meets itself."""
    mesh = sp.box_tets((1.0, 0.13, 0.02), (8, 1, 1))
    x, y, z = mesh.nodes.T
    angle = 1.85 * np.pi * x
    r = 0.1 + z
    strip = sp.TetMesh(
        np.stack([r * np.cos(angle), y, r * np.sin(angle)], axis=1)[:, [0, 2, 1]] * (1, 1, 1),
        mesh.tets,
        orientation="repair",
    )
    scene = sp.Scene(gravity=GRAVITY)
    node = scene.add(sp.FemBody(strip, RUBBER), at=(0.1, 0.2, 0.3), name="strip", spin=(0.2, 0.3, -0.4))
    first, last = np.flatnonzero(x < 0.01), np.flatnonzero(x > 0.99)
    scene.add(sp.Load(node.points(first), (0.3, -3.0, 0.1)))
    scene.add(sp.Load(node.points(last), (-0.2, 5.0, 0.2)))
    scene.add(sp.Contact(friction=0.3, self_contact=True))
    return moved(scene, steps=4, dt=0.004)


test_recorded = recorded.test()
