"""settle: bring a scene to rest by the method that would run it, contacts and joints included.

Kinetic damping [Cun76]: the scene is stepped freely; whenever its kinetic energy has passed a peak, all velocities are
set to zero. Between two peaks it goes from one side of its equilibrium towards it. It rests where its surfaces have
moved by less than a tolerance between two such stops.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.errors import ConvergenceError, check_instance, check_number
from supple.record.progress import progress_bar
from supple.record.surfaces import make_surfaces
from supple.running import choose_solver
from supple.scene.scene import Scene
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray
PATIENCE = 200
"""Steps after which velocities are set to zero where no peak has come."""


class Settled(NamedTuple):
    """A scene at rest. state: its time is 0, for `run(scene, start=state)`; motion: of the surfaces between the last
    two stops, over the size of the scene; time [s] and steps that it took."""

    system: System
    state: State
    motion: float
    time: float
    steps: int


def settle(
    scene: Scene,
    *,
    tolerance: float = 1e-4,
    within: float = 60.0,
    dt: float | None = None,
    solver: Any = None,
    progress: bool | None = None,
) -> Settled:
    """Bring a scene to rest.

    tolerance: motion between two stops, over the size of the scene, at which it rests. within: simulated time [s] it
    may take. dt, solver, progress: as of `run`.

    >>> import supple as sp
    >>> scene = sp.Scene(gravity=(0, 0, -9.81))
    >>> bob = scene.add(sp.Particles([(0.0, 0.0, 0.0)], 1.0), name="bob")
    >>> _ = scene.add(sp.Springs(bob.points([0]), sp.World.points([(0.0, 0.0, 0.1)]), stiffness=981.0, rest_length=0.1))
    >>> rest = sp.settle(scene, dt=0.01)
    >>> round(float(rest.state.x[2]), 4)
    -0.01
    """
    check_instance(scene, Scene, "a scene", where="settle")
    for name, value in (("tolerance", tolerance), ("within", within)):
        check_number(value, name=name, where="settle", above=0.0)
    system = scene.compile()
    method = choose_solver(scene, system, solver, dt)
    method.prepare(system)
    look = _Look(system)
    state, steps, motion, before = system.initial_state(), 0, np.inf, 0.0
    with one_blas_thread(), progress_bar(progress, name=f"{system.name} settles", start=0.0, until=within) as shown:
        last, since = look.points(state), 0
        while state.t < within:
            report = method.step(system, state)
            steps, since = steps + 1, since + 1
            kin = system.propagate(state.t, state.x, state.v, state.memory)
            kinetic = system.kinetic_energy(kin)
            shown.update(state.t, report.residual)
            if not np.isfinite(kinetic):
                break
            if kinetic >= before and since < PATIENCE:
                before = kinetic
                continue
            now = look.points(state)
            motion, last, since, before = float(np.abs(now - last).max()) / look.size, now, 0, 0.0
            state.v[:] = 0.0
            if motion <= tolerance:
                return Settled(system, State(0.0, state.x, state.v, state.memory), motion, state.t, steps)
    raise ConvergenceError(
        "the scene does not come to rest",
        where=f"settle, t = {state.t:.4g} s",
        value=motion,
        allowed=f"motion <= {tolerance:g} of the size",
        fix="Allow more time by within=, hold what drifts, or look at a run: something may be driven or falling.",
    )


class _Look:
    """Surface points of all bodies, to see whether they move; size: of the scene [m]."""

    def __init__(self, system: System) -> None:
        self._surfaces = make_surfaces(system)
        start = self.points(system.initial_state())
        self.size = float(np.ptp(start, axis=0).max()) or 1.0

    def points(self, state: State) -> Array:
        """Of all bodies, (n, 3) [m]."""
        return np.concatenate([surface.points(state) for surface in self._surfaces])
