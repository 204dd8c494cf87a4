"""Laws that every interaction keeps: joints as conditions on points, springs as forces on them, all obstacles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.geometry import box_tets
from supple.interaction.obstacles import Obstacle, distance
from supple.interaction.protocol import Interaction, PointConditions
from supple.scene.derivatives import differentiate, relative_error

AT, AXIS = (0.05, 0.02, -0.01), (0.2, 1.0, -0.4)
JOINTS: dict[str, Any] = {
    "ball": lambda a, b: sp.BallJoint(a, b, at=AT),
    "hinge": lambda a, b: sp.HingeJoint(a, b, at=AT, axis=AXIS),
    "hinge with limits and a motor": lambda a, b: sp.HingeJoint(
        a, b, at=AT, axis=AXIS, limits=(-1.0, 1.0), motor_speed=2.0, motor_torque=3.0
    ),
    "slider": lambda a, b: sp.SliderJoint(a, b, at=AT, axis=AXIS),
    "fixed": lambda a, b: sp.FixedJoint(a, b, at=AT),
}
every_joint = pytest.mark.parametrize("name", list(JOINTS))


def joined(name: str) -> tuple[sp.System, list[tuple[Any, PointConditions]]]:
    """Two boxes with a joint between them: the system, and its rows with their slots."""
    scene = sp.Scene()
    a = scene.add(sp.RigidBody.box((0.1, 0.08, 0.06), density=900.0), name="a")
    b = scene.add(sp.RigidBody.box((0.05, 0.07, 0.09), density=700.0), at=(0.1, 0.03, 0.0), name="b")
    scene.add(JOINTS[name](a, b))
    system = scene.compile()
    return system, [(slot, rows) for _, slot, rows in system.joints]


def moved(system: sp.System, size: float) -> np.ndarray:
    """Positions off those at the start."""
    return system.retract(system.x0, size * np.random.default_rng(2).normal(size=system.v_size))


@every_joint
def test_each_row_says_what_it_is(name: str) -> None:
    for _, rows in joined(name)[1]:
        assert rows.count > 0
        for each in (rows.names, rows.units, rows.rates, rows.meets, *rows.bounds):
            assert len(each) == rows.count
        low, high = rows.bounds
        assert np.all(low <= high)


@every_joint
def test_a_joint_is_closed_where_the_bodies_were_placed_and_opens_where_they_part(name: str) -> None:
    system, rows = joined(name)
    start = system.propagate(0.0, system.x0, system.v0)
    system.begin_joints(start, 0.01, 0.01)
    asks = np.concatenate([np.isinf(r.bounds[0]) & np.isinf(r.bounds[1]) for _, r in rows])  # no motors, no limits
    assert np.abs(system.violation(start)[asks]).max() < 1e-14
    apart = system.propagate(0.0, moved(system, 0.05), system.v0)
    assert np.abs(system.violation(apart)[asks]).max() > 1e-3


@every_joint
def test_jacobians_are_slopes_of_the_violation(name: str) -> None:
    system, joints = joined(name)
    kin = system.propagate(0.0, moved(system, 0.02), system.v0)
    system.begin_joints(kin, 0.01, 0.01)
    for slot, rows in joints:
        x = kin.x[slot.index]
        d = np.random.default_rng(4).normal(size=x.shape)
        slope = differentiate(lambda e, x=x, d=d, rows=rows: rows.violation(x + e * d), 1e-5)
        assert relative_error(rows.jacobian(x) @ d.ravel(), slope) < 1e-7


@every_joint
def test_second_derivatives_are_slopes_of_the_force(name: str) -> None:
    system, joints = joined(name)
    kin = system.propagate(0.0, moved(system, 0.02), system.v0)
    system.begin_joints(kin, 0.01, 0.01)
    rng = np.random.default_rng(6)
    for slot, rows in joints:
        x, lam = kin.x[slot.index], rng.normal(size=rows.count)
        d = rng.normal(size=x.shape)
        slope = differentiate(lambda e, x=x, d=d, rows=rows, lam=lam: lam @ rows.jacobian(x + e * d), 1e-5)
        product = np.einsum("abij,bj->ai", rows.second(lam, x), d).ravel()
        assert relative_error(product, slope, floor=1e-3 * float(np.linalg.norm(lam))) < 1e-6


@every_joint
def test_forces_of_a_closed_joint_are_equal_and_opposite(name: str) -> None:
    """On the whole they have no force, and no moment about the origin."""
    system, joints = joined(name)
    x = moved(system, 0.0)
    turn = rotations.exp(np.array([0.3, -0.5, 0.8]))
    for slot in system.bodies:  # both bodies turned together: the joint stays closed
        view = slot.view_x(x)
        view[0, :3] = rotations.rotate(turn, view[0, :3])
        view[0, 3:7] = rotations.multiply(turn, view[0, 3:7])
    kin = system.propagate(0.0, x, system.v0)
    system.begin_joints(kin, 0.01, 0.01)
    rng = np.random.default_rng(8)
    for slot, rows in joints:
        points = kin.x[slot.index]
        f = (rng.normal(size=rows.count) @ rows.jacobian(points)).reshape(-1, 3)
        scale = np.abs(f).sum()
        assert np.abs(f.sum(axis=0)).max() < 1e-12 * scale
        assert np.abs(np.cross(points, f).sum(axis=0)).max() < 1e-12 * scale


def test_springs_keep_the_contract_and_the_momentum() -> None:
    scene = sp.Scene()
    a = scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=900.0))
    b = scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=900.0), at=(0.3, 0, 0))
    springs = sp.Springs(a.points(at=[(0.05, 0.01, 0)]), b.points(at=[(0.25, 0, 0.02)]), 40.0, 2.0, rest_length=0.1)
    assert isinstance(springs, Interaction)
    rng = np.random.default_rng(1)
    x, v = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    f = np.zeros((2, 3))
    springs.force.add_force(LocalState(0.0, x, v), f)
    assert np.abs(f).max() > 1.0
    assert np.abs(f.sum(axis=0)).max() < 1e-12
    assert np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-12
    assert sp.check_derivatives(springs.force, x, v).is_ok


def hills(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Heights of waves [m]."""
    return 0.05 * np.sin(3 * x) * np.cos(2 * y)


def surface_of(mesh: Any) -> sp.SurfaceMesh:
    """The boundary of a solid as a mesh of its own."""
    boundary = mesh.boundary
    numbers = boundary.node_indices
    return sp.SurfaceMesh(mesh.nodes[numbers], np.searchsorted(numbers, boundary.triangles))


GRID = np.meshgrid(np.linspace(-1, 1, 21), np.linspace(-1, 1, 21), indexing="ij")
OBSTACLES: dict[str, Any] = {
    "floor": lambda: sp.Floor(0.1),
    "plane": lambda: sp.Plane((0.1, 0.2, 1.0), 0.05),
    "sphere": lambda: sp.Sphere((0.1, 0.0, -0.2), 0.3),
    "box": lambda: sp.Box((0.0, 0.1, 0.0), (0.4, 0.3, 0.2), rotation=(0.1, 0.5, -0.2)),
    "capsule": lambda: sp.Capsule((-0.2, 0, 0), (0.3, 0.1, 0.1), 0.1),
    "height field": lambda: sp.HeightField(hills(*GRID), origin=(-1.0, -1.0), spacing=0.1),
    "mesh": lambda: sp.MeshObstacle(surface_of(box_tets(size=(0.5, 0.4, 0.3), cells=(2, 2, 2)))),
}
every_obstacle = pytest.mark.parametrize("name", list(OBSTACLES))


@every_obstacle
def test_an_obstacle_has_friction_restitution_and_a_kind(name: str) -> None:
    thing: Obstacle = OBSTACLES[name]()
    assert thing.kind
    assert thing.same_place(OBSTACLES[name]())


@pytest.mark.parametrize("name", [n for n in OBSTACLES if n != "mesh"])  # has no formula, its triangles are searched
def test_its_distance_is_that_to_a_surface(name: str) -> None:
    """The gradient is the normal where it is smooth, and a step along it changes the distance by its length."""
    thing = OBSTACLES[name]()
    x = np.random.default_rng(9).uniform(-0.25, 0.25, size=(40, 3))
    gap, normal = distance(thing, x)
    assert np.abs(np.linalg.norm(normal, axis=1) - 1.0).max() < 1e-9
    step = 1e-6
    ahead = distance(thing, x + step * normal)[0]
    tolerance = 0.02 if name == "height field" else 1e-4  # heights along z are no distances
    is_smooth = np.abs((ahead - gap) / step - 1.0) < tolerance
    assert is_smooth.mean() > 0.9


@every_obstacle
def test_scenes_take_it_once(name: str) -> None:
    scene = sp.Scene()
    scene.add(OBSTACLES[name]())
    assert [o.kind for o in scene.obstacles.values()] == [OBSTACLES[name]().kind]
