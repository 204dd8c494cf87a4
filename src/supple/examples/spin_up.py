"""spin-up: a beam on a hub that starts to turn, faster than its own lowest frequency, in three models side by side.

    turn(t) = W (t²/2 + (T/2pi)² (cos(2 pi t/T) - 1)) / T  for t < T,  then W (t - T/2)

The beam lags behind while the hub speeds up, then swings about the straight line. The classical trap [KRB87]: a linear
model in a turning frame forgets that a bent beam is drawn towards its hub, loses stiffness with the spin and flies
apart. With the centrifugal tension in its stiffness it follows the nonlinear finite elements.

Checked: the lag of the stiffened beam against the finite elements', and that the other one is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.fem import FemBody
from supple.bodies.floating import FloatingBody
from supple.examples import Check, Example, within
from supple.geometry import box_hexes
from supple.material import Material
from supple.modal import ElasticSolid
from supple.scene import PrescribedMotion, Scene
from supple.scene.acting.filters import PointConditions
from supple.solvers import Midpoint

Array = np.ndarray
SIZE, CELLS = (1.0, 0.04, 0.04), (12, 1, 1)
MATERIAL = Material(young=5e7, poisson=0.0, density=1000.0, name="polymer")
RISE, UNTIL, STEP = 1.5, 0.96, 6e-3
SPEED = 20.0
"""Final spin [rad/s]; the lowest bending frequency of the mesh is 16.1 rad/s."""
MODES = 10
"""The eighth is the first axial one, without which the beam would not grow longer under its tension, by 0.4 %."""
APART = 0.5
"""Between the bodies [m], along z."""


def turned(t: float) -> float:
    """Angle of the hub [rad]."""
    if t >= RISE:
        return SPEED * (t - RISE / 2)
    return SPEED / RISE * (t * t / 2 + (RISE / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * t / RISE) - 1))


@dataclass(frozen=True, eq=False)
class TurningNodes:
    """Nodes of a finite-element body that turn about the z axis with the hub."""

    target: Any
    selector: Any

    def conditions(self) -> PointConditions:
        """A moving place for each node."""
        indices = self.target.indices(self.selector)
        start = self.target.rest[indices]

        def path(t: float) -> Array:
            return rotations.rotate(rotations.exp(np.array([0.0, 0.0, turned(t)])), start)

        return PointConditions(indices, np.zeros((len(indices), 3, 3)), path)


def make() -> Scene:
    """A beam of 1 m x 4 cm x 4 cm, three times."""
    scene = Scene(solver=Midpoint(STEP, newton_tolerance=1e-9), name="spin-up")
    mesh = box_hexes(size=SIZE, cells=CELLS)
    soft = scene.add(FemBody(mesh, MATERIAL, law="stvk", mass="consistent"), name="fem")
    scene.add(TurningNodes(soft, "x_min"))
    solid = ElasticSolid(mesh, MATERIAL)
    for k, name in enumerate(("stiffened", "plain")):
        body = FloatingBody.from_solid(solid, modes=MODES, fixed="x_min", stiffening=name == "stiffened")
        node = scene.add(body, at=(0, 0, APART * (k + 1)), name=name)
        scene.add(PrescribedMotion(node, rotation=lambda t: (0.0, 0.0, turned(t))))
    return scene


def lag(system: Any, state: Any) -> dict[str, float]:
    """How far the tips are from the straight beam, in the direction of the spin [m]."""
    x = system.positions(state, "fem")
    tip = x[system.body("fem").node.indices("x_max")].mean(axis=0)
    out = {"fem": tip}
    for name in ("stiffened", "plain"):
        slot = system.body(name)
        nodes = slot.node.body.positions(system.positions(state, name))
        out[name] = nodes[slot.node.indices("x_max")].mean(axis=0)
    across = np.array([-np.sin(turned(state.t)), np.cos(turned(state.t)), 0.0])
    return {name: float(across @ place) for name, place in out.items()}


def simulate(until: float) -> dict[str, Array]:
    """Time "t" [s] and the lags [m] of "fem", "stiffened" and "plain" over the motion."""
    scene = make()
    system = scene.compile()
    state = system.initial_state()
    times, lags = [0.0], [lag(system, state)]
    while state.t < until - STEP / 2:
        scene.solver.step(system, state)
        times.append(state.t)
        lags.append(lag(system, state))
    return {"t": np.array(times)} | {name: np.array([row[name] for row in lags]) for name in lags[0]}


def check(run: Any) -> list[Check]:
    """The lag at the end, where the hub turns at nearly its full speed; the beam without stiffening is far off."""
    end = lag(run.system, run.state)
    lost = abs(end["plain"] / end["fem"] - 1)
    return [
        within("lag of the tip, with stiffening, against finite elements [m]", end["stiffened"], end["fem"], 0.02),
        Check("error of the lag without stiffening (at least 1)", lost, 1.0, 1.0, bool(lost >= 1.0)),
    ]


EXAMPLE = Example("spin-up", "a beam on a hub that turns faster than it can swing", make, UNTIL, check)
