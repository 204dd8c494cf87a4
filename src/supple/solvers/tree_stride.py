"""The stride of trees of reduced domains: their own implicit Newmark steps, many in one compiled call.

For a scene of trees alone. Whatever else acts on their points (loads, springs, a person's own forces) is asked once a
stride, brought to the coordinates by virtual work, and kept constant during it.

A step evaluates the coupling of the domains a few times (`TreeSettings.passes`). Where its accelerations still change
by more than `UNSETTLED` of the largest one in the last pass, the step is too long for the motion: it is halved, from
the same state, until it is not, and a warning names the step that was found. Where a step fails, the error does.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.substructure.body import TreeBody, TreeElastic
from supple.errors import ConvergenceError, DivergenceError, InputError, SuppleWarning
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.implicit_euler import check_dt
from supple.solvers.report import Outcome, StepReport

Array = np.ndarray
ACCELERATIONS = "accelerations"
UNSETTLED = 0.2
"""Change of q" in the last pass, of the largest q", from which a step is too long; small ones fall as dt²."""
SAFE = 0.5
"""A step that is advised changes q" by less than this part of `UNSETTLED`."""
STILL = 1e-9
"""Accelerations that move the coordinates by less than this part of them in a step count as none."""
HALVINGS = 8


class StepWarning(SuppleWarning):
    """A step is too long for the passes that it takes; `dt` [s] is one that was found to be short enough, or None."""

    def __init__(self, sentence: str, dt: float | None = None) -> None:
        super().__init__(sentence)
        self.dt = dt


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
        self._warned: set[str] = set()

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
        self._warned = set()

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        if self._prepared is not system:
            self.prepare(system)
        loads, change = self._loads(system, state), 0.0
        for slot in system.bodies:
            x, v, key = slot.view_x(state.x), slot.view_v(state.v), f"{slot.name}/{ACCELERATIONS}"
            before = LocalState(state.t, x.copy(), v.copy(), state.memory.get(key))
            acting = {"gravity": system.gravity, "forces": None if loads is None else loads[slot.index]}
            body, h = slot.node.body, self.dt / self.steps
            try:
                end = body.advance(before, h, steps=self.steps, **acting)
            except (ConvergenceError, DivergenceError) as error:
                dt = self._shorter(body, before, acting)
                if dt is not None:
                    error.fix = f"{error.fix} A step of {dt:.3g} s was short enough here."
                    error.args = (error.sentence(),)
                raise
            x[:], v[:], state.memory[key] = end.x, end.v, end.memory
            now = unsettled(body, h)
            if now > UNSETTLED and slot.name not in self._warned:
                self._warned.add(slot.name)
                _warn(slot.name, now, state.t, h, self._shorter(body, before, acting))
            change = max(change, now)
        state.t += self.dt
        outcome = Outcome.SOLVED if change <= UNSETTLED else Outcome.UNDER_CONVERGED
        if not state.is_finite:
            outcome = Outcome.NOT_FINITE
        return StepReport(outcome, iterations=self.steps, residual=change)

    def _shorter(self, body: TreeBody, before: LocalState, acting: dict[str, Any]) -> float | None:
        """The longest of dt / 2, dt / 4, ... [s] with which the tree goes well from `before` through one stride."""
        for k in range(1, HALVINGS + 1):
            h, state = self.dt / self.steps / 2**k, before
            try:
                for _ in range(self.steps * 2**k):
                    state = body.advance(state, h, **acting)
                    if unsettled(body, h) > SAFE * UNSETTLED:
                        break
                else:
                    return h
            except (ConvergenceError, DivergenceError):
                continue
        return None

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


def unsettled(body: TreeBody, h: float) -> float:
    """How much q" changed in the last pass of the last step of h [s], of the largest q"; 0 where nothing moves."""
    storage, settings = body.dynamics.storage, body.settings
    if settings.converge or settings.passes < 2 or not len(storage.q):
        return 0.0
    change, size = storage.change.reshape(-1, 2).max(axis=0)
    if h * h * size <= STILL * np.abs(storage.q).max():
        return 0.0
    return float(change / size)


def _warn(name: str, change: float, t: float, h: float, dt: float | None) -> None:
    advice = "more stiffness_damping" if dt is None else f"dt = {dt:.3g} s"
    sentence = (
        f"tree '{name}', t = {t:.4g} s: a step of {h:.3g} s is too long, its accelerations still change by "
        f"{100 * change:.0f} % in the last pass. Take {advice}."
    )
    warnings.warn(StepWarning(sentence, dt), stacklevel=4)
