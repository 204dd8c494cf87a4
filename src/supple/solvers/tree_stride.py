"""The stride of trees of reduced domains: their own implicit Newmark steps, many in one compiled call.

For a scene of trees alone. Whatever else acts on their points (loads, springs, a person's own forces) is asked once a
stride, brought to the coordinates by virtual work, and kept constant during it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.substructure.body import TreeBody, TreeElastic
from supple.errors import InputError
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.implicit_euler import check_dt
from supple.solvers.report import Outcome, StepReport

Array = np.ndarray
ACCELERATIONS = "accelerations"


@dataclass
class TreeStride:
    """dt: time of one call [s], divided into `steps` Newmark steps.

    >>> import supple as sp
    >>> stride = TreeStride(1 / 60, steps=2)
    """

    dt: float = 1 / 120
    steps: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        check_dt(self.dt, "TreeStride")
        if self.steps < 1:
            raise InputError("a stride needs a step", where="TreeStride", value=self.steps, allowed=">= 1")
        self._prepared: System | None = None

    def prepare(self, system: System) -> None:
        """Find what acts on the trees."""
        bodies = [slot.node.body for slot in system.bodies]
        if system.joints or len(system.filter) or not all(isinstance(body, TreeBody) for body in bodies):
            raise InputError(
                "the stride of a tree needs a scene of trees alone, without joints and filters",
                where="TreeStride",
                fix="Hold nodes of the root's kind to fix a tree.",
            )
        self._acting = [f for f in system.forces if not isinstance(f.force, TreeElastic)]
        self._prepared = system

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        if self._prepared is not system:
            self.prepare(system)
        loads = self._loads(system, state)
        for slot in system.bodies:
            x, v, key = slot.view_x(state.x), slot.view_v(state.v), f"{slot.name}/{ACCELERATIONS}"
            end = slot.node.body.advance(
                LocalState(state.t, x, v, state.memory.get(key)),
                self.dt / self.steps,
                steps=self.steps,
                gravity=system.gravity,
                forces=None if loads is None else loads[slot.index],
            )
            x[:], v[:], state.memory[key] = end.x, end.v, end.memory
        state.t += self.dt
        outcome = Outcome.SOLVED if state.is_finite else Outcome.NOT_FINITE
        return StepReport(outcome, iterations=self.steps)

    def _loads(self, system: System, state: State) -> list[Array] | None:
        """What acts on the coordinates of the bodies, slot by slot; None where nothing does."""
        if not self._acting:
            return None
        kin = system.propagate(state.t, state.x, state.v)
        out = [np.zeros_like(v) for v in kin.v]
        for _, slot, force in self._acting:
            force.add_force(kin.local(slot), out[slot.index])
        kin.pull(out)
        return out
