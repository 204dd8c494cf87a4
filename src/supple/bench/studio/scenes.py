"""Scenes that the studio is measured with; processes of their own make them, by these functions."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.bodies.fem import FemBody
from supple.bodies.voxel import VoxelBody
from supple.contact import Contact, Floor
from supple.examples import oak as oak_example
from supple.geometry import VoxelGrid, box_hexes
from supple.material import Material
from supple.material.voxel import VoxelMaterial
from supple.scene.scene import Scene
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers import ImplicitEuler
from supple.solvers.report import Outcome, StepReport
from supple.studio.live.live_run import LiveRun
from supple.studio.simulation import SPEEDS, Simulation

Array = np.ndarray
CELLS = 141
"""Along an edge of the sheet: 2 x 142² = 40,328 vertices."""
SPIN = 0.5
"""Of the sheet [rad/s]."""
STEPPED = "stepped with a pull at"
"""How a line of a simulation begins that says when, of the clock [s], a pull first acted."""


@dataclass
class Turning:
    """A solver for a free body that spins about the z axis through the origin without deforming, which is exact: so
    that a step costs next to nothing, and updates are what is measured."""

    dt: float = 1 / 120

    def prepare(self, system: System) -> None:
        """Nothing is the same in all steps."""

    def step(self, system: System, state: State) -> StepReport:
        """Turn."""
        c, s = np.cos(SPIN * self.dt), np.sin(SPIN * self.dt)
        turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        for vector in (state.x, state.v):
            vector[:] = (vector.reshape(-1, 3) @ turn).ravel()
        return StepReport(Outcome.SOLVED)


def sheet() -> Scene:
    """A sheet of 40,328 vertices that spins."""
    scene = Scene(name="sheet", solver=Turning())
    body = FemBody(box_hexes(size=(1.0, 1.0, 0.02), cells=(CELLS, CELLS, 1)), Material(1e5, 0.3, 1000.0))
    scene.add(body, at=(-0.5, -0.5, 0.0), spin=(0.0, 0.0, SPIN), name="sheet")
    return scene


def oak() -> Scene:
    """The oak in the wind."""
    return oak_example.make()


def hurrying_oak() -> Scene:
    """The same, which plays from the start, as fast as it can."""
    run = Simulation.run

    def hurry(simulation: Simulation) -> None:
        simulation.status.playing, simulation.status.wanted = True, SPEEDS[1]
        run(simulation)

    Simulation.run = hurry  # type: ignore[method-assign, assignment]
    return oak()


def voxels() -> Scene:
    """4,000 voxels on a floor, which may touch each other."""
    scene = Scene(gravity=(0, 0, -9.81), name="voxels")
    soft = VoxelMaterial(young=1e5, density=1000.0, bond_damping=1.0, ground_damping=1e-3)
    scene.add(VoxelBody(VoxelGrid(np.ones((20, 20, 10), dtype=int), 0.01), {1: soft}), name="block")
    scene.add(Floor())
    scene.add(Contact(self_contact=True))
    return scene


def block() -> Scene:
    """A small soft block held at one end, in steps of 5 ms; it says when a pull first acts."""
    say_when_pulled()
    scene = Scene(name="block", solver=ImplicitEuler(dt=5e-3))
    soft = Material(young=1e6, poisson=0.3, density=1000.0)
    scene.add(FemBody(box_hexes(size=(0.4, 0.1, 0.1), cells=(8, 2, 2)), soft), fix="x_min", name="block")
    return scene


def say_when_pulled() -> None:
    """From now on this process prints when a step with a new or moved pull has been taken."""
    take, last = LiveRun.take, dict[str, Array]()

    def taken(live: LiveRun, steps: int) -> None:
        take(live, steps)
        pulls: dict[str, Any] = {pull.name: pull.target for pull in live.pulls.held.values()}
        if pulls.keys() != last.keys() or any(not np.array_equal(last[name], at) for name, at in pulls.items()):
            if pulls:
                print(STEPPED, time.time(), flush=True)
            last.clear()
            last.update({name: np.array(at) for name, at in pulls.items()})

    LiveRun.take = taken  # type: ignore[method-assign, assignment]
