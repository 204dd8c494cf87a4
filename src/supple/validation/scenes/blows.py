"""Blows between bodies that do not deform, with a restitution e.

drop       v_after = e v_before;  of the rebound, height e² h, less what the step cuts off
cradle     five balls that touch: the last leaves with the speed of the first, the others rest
"""

from __future__ import annotations

import numpy as np

from supple.bodies.particles import Particles
from supple.bodies.rigid import RigidBody
from supple.contact import Contact, Floor
from supple.running import run
from supple.scene import Scene
from supple.solvers import ImplicitEuler
from supple.validation.row import Row, bounded, compare

G, RADIUS, HEIGHT = 9.81, 0.05, 0.1
BODIES = {
    "ball": lambda: RigidBody.sphere(RADIUS, density=1000),
    "cube": lambda: RigidBody.box((2 * RADIUS,) * 3, density=1000),
    "particle": lambda: Particles([(0, 0, 0)], 0.5, radius=RADIUS),
}


def _drop(kind: str, e: float, h: float) -> tuple[float, float]:
    """Vertical speed of a body before and after its first blow on a floor, without what gravity adds in the step."""
    scene = Scene(gravity=(0, 0, -G), solver=ImplicitEuler(h))
    scene.add(BODIES[kind](), at=(0, 0, RADIUS + HEIGHT), name="body")
    scene.add(Floor())
    scene.add(Contact(restitution=e))
    system = scene.compile()
    state, before = system.initial_state(), 0.0
    for _ in range(round(0.2 / h)):
        scene.solver.step(system, state)
        now = float(system.velocities(state, "body")[0, 2])
        if now > before:
            return -before, now + (G * h if e > 0 else 0.0)
        before = now
    return -before, np.nan


def restitution() -> list[Row]:
    """Three bodies dropped on a floor by 0.1 m, at steps of 5 ms to 0.1 ms."""
    rows, case = [], "contact/restitution"
    for kind in BODIES:
        for e in (0.0, 0.5, 1.0):
            for h in (5e-3, 1e-3, 1e-4):
                before, after = _drop(kind, e, h)
                name = f"{kind}, e = {e:g}, steps of {1000 * h:g} ms: speeds after over before"
                rows.append(bounded(case, name, after / before - e, 0.02, source=f"e = {e:g}"))
    return rows


def cradle() -> list[Row]:
    """Newton's cradle, without strings: steps of 1 ms."""
    scene, case, source = Scene(solver=ImplicitEuler(1e-3)), "contact/cradle", "momentum and energy of equal balls"
    for k in range(5):
        at = (0.1 * k - (0.05 if k == 0 else 0.0), 0, 0)
        scene.add(RigidBody.sphere(0.05, density=7800), at=at, velocity=(float(k == 0), 0, 0), name=f"ball {k}")
    scene.add(Contact(restitution=1.0))
    v = run(scene, until=0.1).state.v.reshape(-1, 6)[:, 0]
    return [
        compare(case, "speed of the last ball", float(v[4]), 1.0, 0.02, unit="m/s", source=source),
        bounded(case, "largest speed of the others", float(np.abs(v[:4]).max()), 0.02, unit="m/s", source=source),
        bounded(case, "change of momentum", float(v.sum() - 1.0), 1e-9, source=source),
    ]


CASES = {"contact/restitution": restitution, "contact/cradle": cradle}
