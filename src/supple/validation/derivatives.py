"""Every force, tangent, mapping and constraint against differences, at deformed and turning states."""

from __future__ import annotations

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.fem import FemBody
from supple.bodies.mappings import FramePoints, WeightedPoints
from supple.bodies.particles import Particles
from supple.bodies.placement import Placement
from supple.bodies.rigid import RigidBody
from supple.geometry import box_hexes, box_tets
from supple.material import Law, Material
from supple.scene import BallJoint, FixedJoint, HingeJoint, Load, Pressure, Scene, SliderJoint, Springs, System
from supple.scene.derivatives import check_derivatives
from supple.validation.row import Row, bounded

SOURCE = "central differences, extrapolated"
LIMIT = 1e-7


def element_laws() -> list[Row]:
    """The four laws on tets and hexes, strained by about 10 % and rotated."""
    rng = np.random.default_rng(1)
    material = Material(young=1e3, poisson=0.3, density=1.0)
    rows = []
    for make in (box_tets, box_hexes):
        mesh = make(size=(1.0, 1.0, 1.0), cells=(2, 2, 2))
        for law in Law:
            placed = FemBody(mesh, material, law=law).place(Placement())
            turned = mesh.nodes @ rotations.to_matrix(rotations.exp([0.4, -0.8, 0.3])).T
            x = turned + 0.03 * rng.normal(size=turned.shape)
            report = check_derivatives(placed.forces[0][1], x)
            rows += [
                bounded("fem/derivatives", f"{law.label} {mesh.kind}: {name}", error, LIMIT, source=SOURCE)
                for name, error in report.errors.items()
            ]
    return rows


def everything() -> System:
    """A small scene with every kind of body, mapping, force and joint in it."""
    scene = Scene(gravity=(0.3, -0.2, -9.81))
    rubber = Material(young=1e4, poisson=0.3, density=1000.0)
    soft = scene.add(FemBody(box_tets(size=(0.4, 0.2, 0.2), cells=(2, 1, 1)), rubber), name="soft")
    plate = scene.add(RigidBody.box((0.2, 0.1, 0.05), density=500), at=(0.5, 0, 0), name="plate")
    ball = scene.add(RigidBody.sphere(0.05, density=800), at=(0.7, 0.1, 0), name="ball")
    string = scene.add(
        Particles(np.eye(3) + 1.0, 0.1, springs=[(0, 1), (1, 2)], stiffness=30.0, damping=0.4), name="string"
    )
    ends = soft.points("x_max")
    scene.add(Springs(ends, plate.points(at=ends.rest + 0.1), stiffness=80.0, damping=2.0))
    inside = soft.points(at=[[0.15, 0.03, -0.02], [0.3, -0.05, 0.04]])
    scene.add(Springs(inside, string.points([0, 2]), stiffness=5.0, damping=0.1))
    scene.add(Load(ends.centroid(), (1.0, 2.0, 3.0)))
    scene.add(Pressure(soft, "z_max", 500.0))
    scene.add(BallJoint(plate, soft, at=(0.4, 0.0, 0.0)))
    scene.add(HingeJoint(plate, ball, at=(0.6, 0.05, 0), axis=(0, 1, 1)))
    scene.add(SliderJoint(ball, at=(0.7, 0.1, 0), axis=(1, 0, 1)))
    scene.add(FixedJoint(plate, ball, at=(0.6, 0.0, 0)))
    return scene.compile()


def scene_derivatives() -> list[Row]:
    """Mappings alone, and the whole of `everything` at a disturbed, moving state."""
    rng = np.random.default_rng(2)
    frames = np.hstack([rng.normal(size=(2, 3)), rotations.normalise(rng.normal(size=(2, 4)))])
    rigid = check_derivatives(
        FramePoints.make(rng.normal(size=(5, 3)), [0, 1, 1, 0, 1]), frames, rng.normal(size=(2, 6))
    )
    nodes, weights = np.array([[0, 1, 2, 3], [1, 2, 3, 4]]), rng.random((2, 4))
    weighted = check_derivatives(
        WeightedPoints.barycentric(nodes, weights, 5), rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    )
    system = everything()
    x = system.retract(system.x0, 0.02 * rng.normal(size=system.v_size))
    whole = check_derivatives(system, x, rng.normal(size=system.v_size))
    rows = []
    for label, report in (("points on frames", rigid), ("weighted points", weighted), ("scene", whole)):
        rows += [
            bounded("scene/derivatives", f"{label}: {name}", error, LIMIT, source=SOURCE)
            for name, error in report.errors.items()
        ]
    return rows


CASES = {"fem/derivatives": element_laws, "scene/derivatives": scene_derivatives}
