"""fem/steel-crank: a slider-crank with a rod of steel, by generalised-alpha in steps of 1 ms.

A motor turns a rigid crank of 0.1 m; a rod of 0.3 m, 30x2x2 hexes, E = 2e11 Pa, drives a rigid slider. Its fastest
vibrations are a thousand times too fast for the step. The slider must be where a rigid rod would have it,

    x = r cos a + sqrt(L² - r² sin² a)        a: angle of the crank
"""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np

from supple.bench.row import Row, at_most, measured, threads
from supple.bodies.fem import FemBody
from supple.bodies.rigid import RigidBody
from supple.geometry import box_hexes
from supple.material import Material
from supple.running import run
from supple.scene import BallJoint, HingeJoint, Scene, SliderJoint, State, System, World
from supple.solvers import GeneralizedAlpha

CASE = "fem/steel-crank"
CRANK, ROD, SPEED, TORQUE, UNTIL = 0.1, 0.3, 20.0, 50.0, 0.2
STEEL = Material(2e11, 0.3, 7800.0)
CELLS = (30, 2, 2)


def slider_crank(solver: Any = None, material: Material = STEEL, cells: tuple[int, int, int] = CELLS) -> Scene:
    """Crank, rod and slider in one line at rest, and a motor that begins to turn them about z."""
    scene = Scene(solver=solver or GeneralizedAlpha(1e-3, rho=0.8))
    density = material.density
    crank = scene.add(RigidBody.box((CRANK, 0.02, 0.02), density=density), at=(CRANK / 2, 0, 0), name="crank")
    mesh = box_hexes(size=(ROD, 0.01, 0.01), cells=cells)
    rod = scene.add(FemBody(mesh, material), at=(CRANK, 0, 0), name="rod")
    slider = scene.add(RigidBody.box((0.04,) * 3, density=density), at=(CRANK + ROD, 0, 0), name="slider")
    scene.add(HingeJoint(crank, axis=(0, 0, 1), motor_speed=SPEED, motor_torque=TORQUE))
    scene.add(BallJoint(crank, rod, at=(CRANK, 0, 0)))
    scene.add(BallJoint(rod, slider, at=(CRANK + ROD, 0, 0)))
    scene.add(SliderJoint(World, slider, axis=(1, 0, 0)))
    return scene


def misplaced(system: System, state: State) -> float:
    """How far the slider is from where a rigid rod would have it [m]."""
    at, slider = (system.positions(state, name)[0] for name in ("crank", "slider"))
    x = 2.0 * at[0] + np.sqrt(ROD**2 - 4.0 * at[1] ** 2)
    return float(abs(slider[0] - x))


def steel_crank() -> list[Row]:
    """Steps that are not solved, what one costs, and where the slider ends."""
    with threads(1):
        run(slider_crank(), until=2e-3)
        start = process_time()
        done = run(slider_crank(), until=UNTIL)
        spent = process_time() - start
    off = 1e3 * misplaced(done.system, done.state)
    return [
        at_most(CASE, "steps not solved", done.under_converged, 0.0, unit="-", threads=1),
        at_most(CASE, "slider off its place beside a rigid rod", off, 0.01, unit="mm", threads=1),
        measured(CASE, "user's step", 1e3 * spent / done.steps, unit="ms", threads=1),
    ]


CASES = {CASE: steel_crank}
