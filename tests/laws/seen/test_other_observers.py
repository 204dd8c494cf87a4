"""Laws that every scene keeps: another observer, who stands aside, is turned, or has other units, sees the same motion.

Each kind of body flies, is pulled and blown at, hits obstacles of every shape, and hangs on joints; the same is written
in the other observer's numbers and run by itself. The ends are compared place by place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.laws.seen.views import ASIDE, BODIES, PLAIN, RESCALED, TURNED, View, size

import supple as sp
from supple.algebra.dense import rotations
from supple.record.measures import measure_bodies

Array = np.ndarray
STEPS, DT = 16, 1 / 240


def placed(s: View, scene: sp.Scene, kind: str, **more: Any) -> sp.Node:
    """A body off the origin, turned, that moves and spins."""
    start = {
        "at": s.at(0.1, 0.3, 0.2),
        "rotation": s.turned((0.2, 0.5, -0.3)),
        "velocity": s.vectors((0.4, -0.1, -0.6), length=1, time=-1),
        "spin": s.vectors((1.0, 2.0, -3.0), time=-1),
    }
    return scene.add(BODIES[kind](s), name="body", **(start | more))


def empty(s: View) -> sp.Scene:
    return sp.Scene(gravity=s.vectors((0.5, -1.0, -9.0), length=1, time=-2))


def point_of(s: View, node: sp.Node) -> Any:
    """A point of the body off its middle."""
    if node.held_body.kind == "particles":
        return node.points([1])
    return node.points(local=s.length * np.array([[0.05, 0.02, 0.01]]))


def pulled(s: View, kind: str) -> sp.Scene:
    """By springs with and without a rest length, a load in time, and the wind."""
    scene = empty(s)
    node = placed(s, scene, kind)
    end = sp.World.points(s.at(0.3, 0.2, 0.4))
    scene.add(
        sp.Springs(point_of(s, node), end, s.stiffness(20.0), s.dashpot(0.3), rest_length=s.number(0.1, length=1))
    )
    scene.add(sp.Springs(point_of(s, node), end, s.stiffness(5.0), s.dashpot(0.2), rest_length=0.0))
    push = s.vectors((0.3, 0.5, -0.2), mass=1, length=1, time=-2)
    scene.add(sp.Load(point_of(s, node), lambda t: push * (1.0 + t / s.number(0.05, time=1))))
    wind = s.vectors((3.0, -2.0, 1.0), length=1, time=-1)
    scene.add(sp.Wind(velocity=wind, intensity=0.0, density=s.density(1.2), two_sided=True))
    if kind in ("rigid", "fem", "voxel"):
        where = None if kind == "rigid" else "x_max"
        force, torque = (
            s.vectors(v, mass=1, length=k, time=-2) for v, k in (((0.1, 0.2, 0.3), 1), ((0.01, -0.02, 0), 2))
        )
        scene.add(sp.Wrench(node, where, force, torque))
    if kind == "fem":
        scene.add(sp.Pressure(node, "y_max", s.pressure(50.0)))
    return scene


def obstacles(s: View) -> list[Any]:
    """A leaning plane, a ball, a bar and a turned box below and beside the body, one of them in motion."""
    n = np.array([0.2, 0.1, 1.0]) / np.linalg.norm([0.2, 0.1, 1.0])
    offset = s.number(float(n @ [0.1, 0.3, 0.07]), length=1) + float(s.vectors(n) @ s.aside)
    lift = sp.Motion(
        s.vectors((0.1, 0.0, 0.3), length=1, time=-1), s.vectors((0.0, 0.5, 1.0), time=-1), s.at(0.2, 0.3, 0.1)
    )
    return [
        sp.Plane(s.vectors(n), offset, friction=0.4),
        sp.Sphere(s.at(0.05, 0.25, 0.05), s.number(0.05, length=1)),
        sp.Capsule(s.at(0.12, 0.2, 0.06), s.at(0.2, 0.4, 0.07), s.number(0.03, length=1), friction=0.2),
        sp.Box(s.at(0.2, 0.3, 0.04), size(s, 0.1, 0.2, 0.06), s.turned((0.1, 0.2, 0.5)), motion=lift),
    ]


def dropped(s: View, kind: str) -> sp.Scene:
    """On obstacles of all shapes that can be turned."""
    scene = empty(s)
    placed(s, scene, kind, velocity=s.vectors((0.4, -0.1, -1.6), length=1, time=-1))
    for obstacle in obstacles(s):
        scene.add(obstacle)
    if kind != "voxel":
        scene.add(sp.Contact(friction=0.3, push_speed=s.number(0.1, length=1, time=-1)))
    return scene


def afloat(s: View, kind: str) -> sp.Scene:
    """In water that flows, with its surface across the body. It lies level for all observers."""
    scene = sp.Scene(gravity=s.vectors((0.0, 0.0, -9.0), length=1, time=-2))
    placed(s, scene, kind)
    level, flow = s.number(0.19, length=1), s.vectors((0.5, -0.2, 0.1), length=1, time=-1)
    scene.add(sp.Fluid(s.density(600.0), drag=0.8, flow=flow, level=level))
    return scene


def on_hills(s: View, kind: str) -> sp.Scene:
    """A height field whose lines keep their directions, with unlike spacings."""
    scene = empty(s)
    placed(s, scene, kind, velocity=s.vectors((0.4, -0.1, -1.6), length=1, time=-1))
    x, y = np.meshgrid(np.linspace(-0.3, 0.5, 9), np.linspace(0.0, 0.6, 5), indexing="ij")
    heights = s.length * (0.08 + 0.02 * np.sin(9 * x) + 0.03 * np.cos(7 * y))
    scene.add(sp.HeightField(heights, origin=s.at(-0.3, 0.0, 0.0)[:2], spacing=size(s, 0.1, 0.15), friction=0.4))
    if kind != "voxel":
        scene.add(sp.Contact(push_speed=s.number(0.1, length=1, time=-1)))
    return scene


def hinged(s: View, kind: str) -> sp.Scene:
    """On a hinge with a motor in the world, and a ball joint to a second body."""
    scene = empty(s)
    still = {"velocity": np.zeros(3), "spin": np.zeros(3)}
    node = placed(s, scene, kind, **still)
    torque = s.number(5.0, mass=1, length=2, time=-2)
    hinge = {"motor_speed": s.number(3.0, time=-1), "motor_torque": torque}
    scene.add(sp.HingeJoint(node, at=s.at(0.1, 0.3, 0.2), axis=s.vectors((0.3, 1.0, 0.2)), **hinge))
    weight = sp.RigidBody.box(size(s, 0.05, 0.04, 0.06), density=s.density(900.0))
    other = scene.add(weight, at=s.at(0.25, 0.35, 0.1), rotation=s.turned((0.3, 0.0, 0.1)), name="weight")
    scene.add(sp.BallJoint(point_of(s, node), other.points(at=point_of(s, node).rest)))
    return scene


class Told:
    """What a run tells, as the plain observer writes it."""

    def __init__(self, s: View, run: sp.Run) -> None:
        self.s, self.found = s, dict[str, Array]()
        system, state, back = run.system, run.state, View(turn=-s.turn)
        for name in (slot.name for slot in system.bodies):
            self.found[f"places of {name}"] = back.vectors((system.points(state, name) - s.aside) / s.length)
        p = system.momentum(state)
        self.vector("momentum", p[:3], mass=1, length=1, time=-1)
        self.vector("angular momentum", p[3:] - np.cross(s.aside, p[:3]), mass=1, length=2, time=-1)
        self.number("kinetic energy", system.kinetic_energy(state), mass=1, length=2, time=-2)
        self.number("elastic energy", system.potential_parts(state)[0], mass=1, length=2, time=-2)
        for body in measure_bodies(system, state):
            self.vector(f"way of {body.name}", body.displacement, length=1)
            start = rotations.multiply(rotations.conjugate(s.q), body.orientation)
            self.found[f"orientation of {body.name}"] = rotations.to_matrix(start)
        for name, reading in system.joint_readings(state).items():
            self.vector(f"force of {name}", reading.force, mass=1, length=1, time=-2)
            if reading.measures:  # a ball joint has no moment
                self.vector(f"moment of {name}", reading.moment, mass=1, length=2, time=-2)
                self.number(f"angle of {name}", reading.angle)
                self.number(f"speed of {name}", reading.speed, time=-1)
                self.number(f"power of {name}", reading.power, mass=1, length=2, time=-3)

    def number(self, name: str, value: float, **unit: int) -> None:
        self.found[name] = np.array([value]) / self.s.number(1.0, **unit)

    def vector(self, name: str, value: Array, **unit: int) -> None:
        self.found[name] = View(turn=-self.s.turn).vectors(value) / self.s.number(1.0, **unit)


def told(make: Callable[[View, str], sp.Scene], s: View, kind: str) -> dict[str, Array]:
    dt = s.number(DT, time=1)
    return Told(s, sp.run(make(s, kind), until=STEPS * dt, dt=dt, progress=False)).found


SCENES = {"pulled": pulled, "dropped": dropped, "hinged": hinged, "afloat": afloat, "on hills": on_hills}
VIEWS = {"turned": TURNED, "aside": ASIDE, "rescaled": RESCALED}
UPRIGHT = ("afloat", "on hills")
LIMITS = {("dropped", "turned"): 5e-3, ("hinged", "turned"): 5e-4}
"""Part by which what is told may differ, 1e-6 where nothing is said. A body that touches has contacts as stiff as its
width along the axes of the world asks for; the joints of floating bodies are iterated."""


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("name", SCENES)
def test_another_observer_sees_the_same_motion(name: str, kind: str) -> None:
    plain = told(SCENES[name], PLAIN, kind)
    for label, view in VIEWS.items():
        if label == ("turned" if name in UPRIGHT else "aside"):  # who is turned stands aside too
            continue
        other = told(SCENES[name], view, kind)
        for what, value in plain.items():
            allowed = LIMITS.get((name, label), 1e-6) * np.abs(value).max()
            assert np.abs(other[what] - value).max() <= allowed, f"{what}, seen by who is {label}"


@pytest.mark.parametrize("kind", BODIES)
def test_another_observer_finds_the_same_frequencies(kind: str) -> None:
    """Of a body on three springs that are not stretched. Those of motions that nothing holds are none, to the root of
    what rounding leaves of their squares."""
    found = []
    for s in (PLAIN, TURNED, RESCALED):
        scene = sp.Scene()
        node = placed(s, scene, kind, velocity=np.zeros(3), spin=np.zeros(3))
        for k, end in enumerate(((0.3, 0.2, 0.4), (0.0, 0.5, 0.1), (0.1, 0.0, 0.3))):
            scene.add(sp.Springs(point_of(s, node), sp.World.points(s.at(*end)), s.stiffness(30.0 + 10 * k)))
        modes = sp.vibration_modes(scene.compile(), count=6 if kind == "rigid" else 8)
        found.append(modes.frequencies / s.number(1.0, time=-1))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-5, atol=1e-4 * found[0].max())


@pytest.mark.parametrize("kind", ["fem", "voxel"])
def test_another_observer_finds_the_same_equilibrium(kind: str) -> None:
    """Of a body that is held at one end and pulled and weighed down at the other."""
    found = []
    for s in (PLAIN, TURNED, RESCALED):
        scene = empty(s)
        node = placed(s, scene, kind, velocity=np.zeros(3), spin=np.zeros(3), fix="x_min")
        scene.add(sp.Load(node.points("x_max"), s.vectors((0.3, 0.5, -0.2), mass=1, length=1, time=-2)))
        system = scene.compile()
        x = system.points(sp.solve_statics(system), "body")
        found.append(View(turn=-s.turn).vectors((x - s.aside) / s.length))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-8)
