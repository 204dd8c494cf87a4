"""Recorded numbers of joints: every kind on every kind of body, with limits, motors and readings; linkages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.recorded.making import BODIES, bent, moved, random, scene_of
from tests.recorded.recording import Recorded, Values

import supple as sp

recorded = Recorded(__name__)
BESIDE = np.array([0.03, 0.02, -0.01])
AXIS = (0.3, -0.5, 0.8)


def place(node: sp.Node) -> np.ndarray:
    return np.asarray(node.rest[:4].mean(axis=0) + 0.001)


JOINTS: dict[str, Callable[..., Any]] = {
    "ball": lambda a, b, at: sp.BallJoint(a, b, at=at),
    "hinge": lambda a, b, at: sp.HingeJoint(a, b, at=at, axis=AXIS),
    "hinge with a motor": lambda a, b, at: sp.HingeJoint(
        a, b, at=at, axis=AXIS, limits=(-0.5, 0.02), motor_speed=lambda t: 2.0 + 30 * t, motor_torque=0.013
    ),
    "slider": lambda a, b, at: sp.SliderJoint(a, b, at=at, axis=AXIS),
    "slider with a motor": lambda a, b, at: sp.SliderJoint(
        a, b, at=at, axis=AXIS, limits=(-0.004, 0.1), motor_speed=-0.7, motor_force=0.9
    ),
    "fixed": lambda a, b, at: sp.FixedJoint(a, b, at=at),
}
KINDS = ("rigid", "fem", "voxel", "floating", "layered", "tree", "particles")


def joined(joint: str, kind: str, other: str = "rigid box") -> sp.Scene:
    scene, node = scene_of(BODIES[kind]())
    at = place(node)
    b: Any = sp.World
    if other != "world":
        b = scene.add(BODIES[other](), at=at + BESIDE, rotation=(0.2, 0.5, -0.3), spin=(0.3, -0.7, 1.1))
    scene.add(JOINTS[joint](node, b, at), name="joint")
    return scene


@recorded.over({f"{j}, {k}": (j, k) for j in JOINTS for k in KINDS if (j, k) != ("fixed", "particles")}, rtol=1e-6)
def joint(given: tuple[str, str]) -> Values:
    """Between a body and a rigid box, by the method that suits them."""
    return moved(joined(*given), steps=3)


@recorded.over({f"{j}, {k}": (j, k) for j in JOINTS for k in ("rigid", "fem", "tree", "voxel")}, rtol=1e-6)
def to_the_world(given: tuple[str, str]) -> Values:
    return moved(joined(*given, "world"), steps=3)


@recorded.over({name: name for name in JOINTS})
def rows(name: str) -> Values:
    """Conditions, their derivatives and bounds, off the start."""
    system = joined(name, "rigid").compile()
    state = system.initial_state()
    kin = system.propagate(0.02, bent(system, 0.02), system.v0 + random(system.v_size), state.memory)
    system.begin_joints(kin, 0.003, 0.023)
    lin = system.linearize(kin, multipliers=0.1 + np.arange(float(system.joint_row_count)))
    d = random(system.v_size, seed=5)
    return {
        "violation": system.violation(kin),
        "jacobian": lin.joint_jacobian(),
        "geometric": lin.product(d, stiffness=1.0),
        "rates": [rows.rates for _, _, rows in system.joints],
        "bounds": [np.clip(b, -1e9, 1e9) for b in system.joint_bounds],
    }


@recorded.over({"four": 4, "three": 3})
def chains(count: int) -> Values:
    """A chain of unlike boxes on hinges and a slider, in compiled loops."""
    scene = sp.Scene(gravity=(0.7, -1.3, -9.3))
    above: Any = sp.World
    at = np.array([0.1, 0.2, 0.3])
    for k in range(count):
        box = sp.RigidBody.box((0.1 + 0.03 * k, 0.05, 0.04 + 0.01 * k), density=500.0 + 90 * k)
        node = scene.add(box, at=at + 0.5 * BESIDE, rotation=(0.1 * k, 0.2, 0), spin=(0.1, 0.2 * k, 0.4))
        motor = {"motor_speed": 3.0, "motor_torque": 0.01} if k == 1 else {}
        make = sp.SliderJoint if k == 3 else sp.HingeJoint
        scene.add(make(node, above, at=at, axis=(0.1 * k, 1.0, 0.3 - 0.2 * k), **motor))
        above, at = node, at + np.array([0.11 + 0.02 * k, 0.01, 0.02])
    return moved(scene, dt=0.004)


@recorded.case
def a_closed_loop() -> Values:
    scene = sp.Scene(gravity=(0.7, -1.3, -9.3))
    corners = np.array([(0.0, 0, 0), (0.1, 0, 0.3), (0.5, 0, 0.4), (0.6, 0, 0.05)])
    nodes: list[Any] = []
    for k in range(3):
        a, b = corners[k], corners[k + 1]
        size = (float(np.linalg.norm(b - a)), 0.03 + 0.01 * k, 0.05)
        turn = (0, -np.arctan2(b[2] - a[2], b[0] - a[0]), 0)
        nodes.append(scene.add(sp.RigidBody.box(size, density=700.0 + 100 * k), at=(a + b) / 2, rotation=turn))
    ends: list[Any] = [sp.World, *nodes, sp.World]
    for k in range(4):
        scene.add(sp.HingeJoint(ends[k + 1], ends[k], at=corners[k], axis=(0, 1, 0)))
    return moved(scene, dt=0.004)


test_recorded = recorded.test()
