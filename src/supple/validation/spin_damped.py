"""A free cube of finite elements that spins, with damping of its stiffness.

Damping calms how the spin stretches it, and leaves its angular momentum alone: it resists the rate of strain, not of
turning.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from supple.bodies.fem import FemBody
from supple.geometry import box_tets
from supple.material import Material
from supple.scene import Scene
from supple.solvers import Midpoint
from supple.validation.row import Row, bounded

CASE = "fem/spin-damped"
EDGE, SPIN, STEP, UNTIL = 0.1, 5.0, 0.005, 5.0  # [m], [rad/s], [s], [s]
JELLY = Material(young=2e5, poisson=0.3, density=1000.0, stiffness_damping=1e-3)
Law = Literal["corotational", "stvk", "neo-hookean"]


def spin_of(law: Law) -> tuple[float, float, float]:
    """Relative change of the angular momentum; how fast the cube still deforms at the end, over its largest speed;
    kinetic energy beyond that of a rigid turn, over all of it."""
    scene = Scene()
    cube = FemBody(box_tets(size=(EDGE, EDGE, EDGE), cells=(3, 3, 3)), JELLY, law=law)
    scene.add(cube, spin=(0, 0, SPIN), name="cube")
    system, solver = scene.compile(), Midpoint(STEP)
    solver.prepare(system)
    state = system.initial_state()
    before = np.asarray(system.momentum(state))
    for _ in range(round(UNTIL / STEP)):
        solver.step(system, state)
    after = np.asarray(system.momentum(state))
    x, v = (a.reshape(-1, 3) - a.reshape(-1, 3).mean(axis=0) for a in (state.x, state.v))
    turning = np.linalg.solve(np.sum(x**2) * np.eye(3) - x.T @ x, np.cross(x, v).sum(axis=0))  # nearest rigid turn
    left = v - np.cross(turning, x)
    return (
        float(np.abs(after - before).max() / abs(before[5])),
        float(np.abs(left).max() / np.abs(v).max()),
        float(np.sum(left**2) / np.sum(v**2)),
    )


def spin_damped() -> list[Row]:
    """Three laws, five seconds, four turns."""
    rows = []
    for law in get_args(Law):
        momentum, rate, energy = spin_of(law)
        kept, rests = "angular momentum is kept", "damping ends at a rigid turn"
        rows.append(bounded(CASE, f"{law}: change of the angular momentum", momentum, 1e-9, source=kept))
        rows.append(bounded(CASE, f"{law}: rate of deformation at the end", rate, 1e-3, source=rests))
        rows.append(bounded(CASE, f"{law}: energy beyond a rigid turn", energy, 1e-6, source=rests))
    return rows


CASES = {CASE: spin_damped}
