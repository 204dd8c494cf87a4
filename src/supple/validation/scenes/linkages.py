"""Loops of joints, and the same scene as one part and as two.

four-bar      I a" = F l - k a,  a = F l / k (1 - cos w t):  two arms that hang and carry a bar, small angles
parts         ImplicitEuler has all bodies in one matrix, Partitioned steps voxels by their sweep: both are of first
              order, so half the step halves what is between them
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.rigid import RigidBody
from supple.running import run
from supple.scene import BallJoint, FixedJoint, HingeJoint, Load, Scene, Springs, World
from supple.solvers import ImplicitEuler, Midpoint, Partitioned
from supple.validation.contact_kinds import KINDS, SIDE
from supple.validation.row import Row, bounded, compare

ARM, COUPLER, WIDTH, DENSITY, PUSH, G, UNTIL = 0.2, 0.3, 0.02, 1000.0, 1.0, 9.81, 0.05


def parallelogram(solver: Any) -> Scene:
    """Two arms hang from the world and carry a bar, by four hinges; a force of PUSH [N] acts along the bar."""
    scene = Scene(gravity=(0, 0, -G), solver=solver)
    arm = RigidBody.box((WIDTH, WIDTH, ARM), density=DENSITY)
    left = scene.add(arm, at=(0, 0, -ARM / 2), name="left")
    right = scene.add(arm, at=(COUPLER, 0, -ARM / 2), name="right")
    bar = scene.add(RigidBody.box((COUPLER, WIDTH, WIDTH), density=DENSITY), at=(COUPLER / 2, 0, -ARM), name="bar")
    for one, other, at in (
        (left, World, (0, 0, 0)),
        (right, World, (COUPLER, 0, 0)),
        (left, bar, (0, 0, -ARM)),
        (right, bar, (COUPLER, 0, -ARM)),
    ):
        scene.add(HingeJoint(one, other, axis=(0, 1, 0), at=at))
    scene.add(Load(bar.points(local=[[0, 0, 0]]), (PUSH, 0, 0)))
    return scene


def swing() -> float:
    """Angle of the arms [rad] at UNTIL, for small ones."""
    arm, bar = DENSITY * WIDTH**2 * ARM, DENSITY * WIDTH**2 * COUPLER
    inertia = 2 * arm * ((ARM**2 + WIDTH**2) / 12 + ARM**2 / 4) + bar * ARM**2
    k = G * ARM * (arm + bar)
    return float(PUSH * ARM / k * (1 - np.cos(np.sqrt(k / inertia) * UNTIL)))


def four_bar(solver: Any = None) -> list[Row]:
    """The parallelogram, whose rows say some things twice; solver: None: the midpoint rule."""
    done, case = run(parallelogram(solver or Midpoint(1e-3)), until=UNTIL), "scene/four-bar"
    frame = done.system.positions(done.state, "bar")[0]
    gap = done.system.violation(done.system.propagate(done.time, done.state.x, done.state.v))
    turned = float(np.arctan2(frame[0] - COUPLER / 2, -frame[2]))
    return [
        compare(case, "angle of the arms", turned, swing(), 3e-3, unit="rad", source="small angles, a² = 1e-3"),
        bounded(case, "turn of the bar", float(np.abs(frame[4:]).max()), 1e-6, source="it stays level"),
        bounded(case, "opening of the joints", float(np.abs(gap).max()) / ARM, 1e-9, source="closed"),
        bounded(case, "steps not solved", float(done.under_converged), 0.0, source="every step is solved"),
    ]


COUPLINGS: dict[str, Any] = {
    "spring": lambda a, b: Springs(
        a.points(at=[(0.5 * SIDE, 0, 0)]), b.points(at=[(0.7 * SIDE, 0, 0)]), 300.0, 1.0, rest_length=0.2 * SIDE
    ),
    "ball": lambda a, b: BallJoint(a, b, at=(0.6 * SIDE, 0, 0)),
    "hinge": lambda a, b: HingeJoint(a, b, at=(0.6 * SIDE, 0, 0), axis=(0, 1, 0)),
    "fixed": lambda a, b: FixedJoint(a, b, at=(0.6 * SIDE, 0, 0)),
}


def _end(solver: Any, kind: str, coupling: str) -> Any:
    """Where a body of a kind is that fell for 0.1 s and turned, with voxels it is coupled to."""
    scene = Scene(gravity=(0, 0, -G), solver=solver)
    one = scene.add(KINDS["voxel"](), name="one")
    two = scene.add(KINDS[kind](), at=(1.2 * SIDE, 0, 0), spin=(0, 1.0, 0), name="two")
    scene.add(COUPLINGS[coupling](one, two))
    done = run(scene, until=0.1)
    return done.system.points(done.state, "two").mean(axis=0)


def parts() -> list[Row]:
    """Voxels coupled to a rigid body and to elements, by one solver and by two."""
    rows, case = [], "scene/one-part-or-two"
    for kind in ("rigid", "fem"):
        for coupling in COUPLINGS:
            apart = [
                float(np.linalg.norm(_end(ImplicitEuler(h), kind, coupling) - _end(Partitioned(h), kind, coupling)))
                for h in (1 / 200, 1 / 400)
            ]
            name = f"voxels and {kind}, {coupling}"
            rows.append(bounded(case, f"{name}: apart, of the size", apart[0] / SIDE, 0.05, source="first order"))
            ratio = apart[1] / apart[0] if apart[0] > 1e-9 * SIDE else 0.0
            rows.append(bounded(case, f"{name}: with half the step, over that", ratio, 0.65, source="1/2"))
    return rows


CASES = {"scene/four-bar": four_bar, "scene/one-part-or-two": parts}
