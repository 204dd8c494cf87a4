"""Recorded numbers of scenes that change while they run, and of what can be asked of a system and a body."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from tests.recorded.making import (
    BODIES,
    GRAVITY,
    RUBBER,
    bent,
    floating,
    layered,
    moved,
    random,
    scene_of,
    seen,
    surface,
    tets,
    tree,
    two,
    voxels,
)
from tests.recorded.recording import Recorded, Values

import supple as sp
from supple.bodies.tree import ModeBudget
from supple.errors import SuppleWarning
from supple.modal import ElasticSolid
from supple.scene.changes import changes_of

recorded = Recorded(__name__)


def machine() -> sp.Scene:
    scene = sp.Scene(gravity=GRAVITY)
    arm = scene.add(BODIES["rigid box"](), at=(0.2, 0, 0.6), spin=(0.1, 0.4, 0.2), name="arm")
    soft = scene.add(BODIES["fem"](), at=(0.4, 0.5, 0.02), velocity=(0.2, 0.1, -0.4), name="soft")
    scene.add(sp.HingeJoint(arm, axis=(0, 1, 0.3), at=(0.1, 0, 0.6), motor_speed=1.0, motor_torque=0.3), name="pin")
    scene.add(sp.Springs(arm.points(local=[[0.03, 0.02, 0.01]]), soft.points([3]), 30.0, 0.3), name="rope")
    scene.add(sp.Load(soft.points([1, 5]), (0.1, 0.2, 0.3)), name="push")
    scene.add(sp.Wind(soft, (2.0, 1.0, 0.3), modes=6, seed=1), name="breeze")
    scene.add(sp.Floor(0.0, friction=0.3), name="floor")
    scene.add(sp.Contact(friction=0.2), name="meeting")
    return scene


CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "gravity": ("gravity", {"value": (0.3, 0.2, -5.0)}),
    "material": ("soft", {"young": 3.3e5, "region": "left"}),
    "mass": ("arm", {"density_factor": 1.3}),
    "spring": ("rope", {"stiffness": 57.0, "damping": 0.7}),
    "no spring": ("rope", {"enabled": False}),
    "motor": ("pin", {"motor_speed": -2.3}),
    "no joint": ("pin", {"enabled": False}),
    "friction": ("meeting", {"friction": 0.6}),
    "no contact": ("meeting", {"enabled": False}),
    "obstacle": ("floor", {"friction": 0.7}),
    "wind": ("breeze", {"velocity": (1.0, -3.0, 0.2)}),
    "load": ("push", {"force": (0.3, -0.2, 0.5)}),
}


@recorded.over(CHANGES, rtol=1e-6)
def change(given: tuple[str, dict[str, Any]]) -> Values:
    """A step before, two after."""
    system = machine().compile()
    state, solver = system.initial_state(), sp.Partitioned(0.004)
    solver.prepare(system)
    solver.step(system, state)
    system.change(state, given[0], **given[1])
    for _ in range(2):
        solver.step(system, state)
    return seen(system, state) | {"kept": [str(c.name) for c in changes_of(state)]}


@recorded.case(rtol=1e-6)
def added() -> Values:
    """Springs and a joint that take hold of bodies as they stand."""
    system = machine().compile()
    state, solver = system.initial_state(), sp.Partitioned(0.004)
    solver.prepare(system)
    solver.step(system, state)
    soft, arm = system.present(state, "soft"), system.present(state, "arm")
    at = soft.rest[4]
    system.add(state, sp.Springs(soft.points(at=[at]), sp.World.points([at + 0.05]), 40.0, 0.3, rest_length=0.02))
    system.add(state, sp.BallJoint(arm, at=(0.2, 0, 0.6)))
    for _ in range(2):
        solver.step(system, state)
    return seen(system, state)


@recorded.case
def a_branch_that_breaks() -> Values:
    scene = sp.Scene(gravity=GRAVITY)
    scene.add(tree(False), at=(0.1, 0.2, 0.3), rotation=(0.3, 0.1, 0.2), name="branch")
    system = scene.compile()
    state, solver = system.initial_state(), sp.TreeSolver(0.004)
    solver.step(system, state)
    system.break_off(state, "branch", 2, name="twig")
    for _ in range(2):
        solver.step(system, state)
    return seen(system, state)


BODY_CHANGES: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "particles": (BODIES["particles"], {"stiffness": 210.0}),
    "floating": (lambda: floating(), {"stiffness_factor": 1.3, "density_factor": 0.8}),
    "layered": (lambda: layered(law="linear"), {"young": 3.1e5}),
    "voxel": (lambda: voxels(), {"young": 1.9e5, "number": 2}),
    "actuation": (lambda: voxels(), {"amplitude": 3.0, "control": 0}),
    "tree": (lambda: tree(), {"frequency_factor": 1.3}),
}


@recorded.over(BODY_CHANGES)
def changed_body(given: tuple[Callable[[], Any], dict[str, Any]]) -> Values:
    body = given[0]().changed(given[1], where="here")
    return moved(scene_of(body)[0], steps=2)


OTHERS: dict[str, Callable[[], Any]] = {
    "floating of matrices": lambda: _of_matrices(),
    "layer on a surface": lambda: sp.LayeredBody.from_surface(
        surface(4), RUBBER, thickness=0.03, cells=1, core_density=400.0
    ),
    "floating of many modes": lambda: floating(modes=9, fixed=None, origin=None),
}


def _of_matrices() -> Any:
    solid = ElasticSolid(tets(), two())
    return sp.FloatingBody.from_matrices(
        solid.mesh.nodes, solid.mass_matrix, solid.stiffness, elements=solid.mesh, modes=4, damping_ratio=0.02
    )


@recorded.over(OTHERS, rtol=1e-6)
def other_body(make: Callable[[], Any]) -> Values:
    return moved(scene_of(make())[0], steps=2)


@recorded.over({"layered": lambda: layered(law="linear", origin=None), "floating": lambda: floating(stiffening=False)})
def stride(make: Callable[[], Any]) -> Values:
    """A lone body by its own stride."""
    scene = sp.Scene()
    scene.add(make(), at=(0.1, 0.2, 0.3), rotation=(0.3, 0.1, 0.2), velocity=(0.1, 0.3, 0.2), spin=(3.0, 1.0, 7.0))
    return moved(scene, sp.StrideSolver(5e-4, steps=3), steps=2)


@recorded.over({name: name for name in ("fem", "floating", "voxel", "rigid")})
def asked(name: str) -> Values:
    """Matrices, Jacobians and what checks them."""
    scene, node = scene_of(BODIES[name]())
    points = (
        node.points(at=node.rest[:3] * 0.97 + 0.003) if name != "rigid" else node.points(local=[[0.03, 0.02, 0.01]])
    )
    scene.add(sp.Load(points, (0.1, 0.2, 0.3)))
    system = scene.compile()
    state = system.initial_state()
    state.x = bent(system)
    matrices = system.matrices(state)
    d = random(system.v_size)
    return {
        "M": matrices[0] @ d,
        "K": matrices[1] @ d,
        "B": matrices[2] @ d,
        "J": system.jacobian(points, state) @ d,
    }


@recorded.case
def budgets() -> Values:
    names, elements = ["trunk", "limb", "twig", "bone"], [900, 300, 70, 40]
    even = ModeBudget(31, minimum=3, rigid=["bone"]).share(names, elements, [40, 9, 40, 12])
    slow = ModeBudget(31, "logarithm", minimum=3).share(names, elements, [40, 9, 40, 12])
    return {"elements": even, "logarithm": slow}


@recorded.case(rtol=1e-6)
def many_joints() -> Values:
    """A net of soft bars on ball joints, whose joints are iterated."""
    scene = sp.Scene(gravity=GRAVITY)
    nodes = []
    for k in range(4):
        bar = sp.FemBody(sp.box_tets((0.13, 0.03 + 0.004 * k, 0.03), (3, 1, 1)), RUBBER)
        nodes.append(scene.add(bar, at=(0.13 * k, 0.2, 0.3 + 0.001 * k), name=f"bar {k}"))
    for a, b in pairwise(nodes):
        scene.add(sp.BallJoint(a, b, at=b.rest[0]))
    scene.add(sp.HingeJoint(nodes[0], at=nodes[0].rest[0], axis=(0.1, 1, 0.2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        solvers = {name: sp.ImplicitEuler(0.004, linear=name, tolerance=1e-11) for name in ("cg", "direct")}
        return {name: moved(scene, solver, steps=2)["way"] for name, solver in solvers.items()}


@recorded.case(rtol=1e-6)
def at_rest_on_a_floor() -> Values:
    """Equilibrium and modes with a contact and a joint."""
    scene = sp.Scene(gravity=(0.2, 0.1, -9.0))
    pad = sp.FemBody(sp.box_tets((0.13, 0.07, 0.05), (3, 1, 2)), RUBBER)
    node = scene.add(pad, at=(0.1, 0.2, 0.0249), name="pad")
    arm = scene.add(BODIES["rigid box"](), at=(0.3, 0.2, 0.04), name="arm")
    scene.add(sp.FixedJoint(node, arm, at=(0.23, 0.2, 0.03)))
    scene.add(sp.Springs(arm.points(local=[[0.03, 0.02, 0.01]]), sp.World.points([(0.35, 0.2, 0.2)]), 300.0, 0.3))
    scene.add(sp.Floor(0.0, friction=0.7))
    return moved(scene, steps=4)


test_recorded = recorded.test()
