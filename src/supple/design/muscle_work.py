"""MuscleWork: the work that the muscles of a robot do, summed over its links at every step of the solver.

A link with the length s between its voxels and the rest length L, which its muscles change, holds

    E(s, L) = k (s - L)² / 2,          power of the muscles = dE/dL L' = -k (s - L) L'

so over a step, with s in the middle of it, they do E(s, L1) - E(s, L0): the trapezoidal rule of force against rest
length, and exact where L jumps, as by commands. Muscles that are pushed back take nothing in: of each link and step
only what is positive counts. Damping, weight and friction have no part in it, nor how often frames are recorded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.sweep.lattice_kernels import Links, compute_elongations
from supple.record.frame import Frame
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.methods.lattice_solver import COMMANDS, LINKS

Array = np.ndarray


class MuscleWork:
    """Of one body in a run: an observer, which sees the first frame, and then told every step.

    since: when measuring begins [s]. total: the work since then [J].
    """

    def __init__(self, body: str, since: float) -> None:
        self.body, self.since, self.total = body, since, 0.0
        self._slot: Slot | None = None
        self._before: tuple[float, Array | None, Array] = (0.0, None, np.zeros(0))  # time, commands, lengths

    def __call__(self, frame: Frame) -> None:
        """Take the start from the first frame."""
        if self._slot is None:
            self._begin(frame.system, frame.state)

    def _begin(self, system: System, state: State) -> None:
        self._slot = system.body(self.body)
        body = self._slot.body
        self._force = body.lattice_force if isinstance(body, VoxelBody) and body.swing is not None else None
        if self._force is not None:
            commands = state.memory.get(f"{self.body}/{COMMANDS}")
            self._before = (state.t, commands, self._lengths(self._links(state, state.t, commands), state))

    def step(self, state: State) -> None:
        """Add the work of the step that has ended."""
        if self._force is None:
            return
        t, commands, lengths = self._before
        now = state.memory.get(f"{self.body}/{COMMANDS}")
        start, end = self._links(state, t, now), self._links(state, state.t, now)
        reached = self._lengths(end, state)
        if t >= self.since - 1e-9 * state.t:
            if now is not None and not np.array_equal(now, np.zeros_like(now) if commands is None else commands):
                self.total += work_of(self._links(state, t, commands), start, lengths)
            self.total += work_of(start, end, (lengths + reached) / 2)
        self._before = (state.t, None if now is None else now.copy(), reached)

    def _links(self, state: State, t: float, commands: Array | None) -> Links:
        """The links with what they remember now and the sizes of their voxels at a time and under commands."""
        assert self._slot is not None
        kept: dict[str, Any] = {LINKS: state.memory.get(f"{self.body}/{LINKS}"), COMMANDS: commands}
        x, v = self._slot.view_x(state.x), self._slot.view_v(state.v)
        local = LocalState(t, x, v, self._slot.body.recall(kept))  # type: ignore[attr-defined]
        links: Links = self._force.links_at(local)  # type: ignore[union-attr]
        coupling = self._force.coupling  # type: ignore[union-attr]
        return links if coupling is None else links._replace(rest=links.rest + coupling.shifts(links, x))

    def _lengths(self, links: Links, state: State) -> Array:
        """Lengths of the links along their middle axes, (m,) [m]."""
        assert self._slot is not None
        out = np.empty(len(links.axis))
        compute_elongations(links, np.ascontiguousarray(self._slot.view_x(state.x)), out)
        return out + links.rest


def work_of(before: Links, after: Links, lengths: Array) -> float:
    """What it takes at least to bring links of these lengths (m,) [m] from their rest lengths before to those after,
    where none gives anything back [J]."""
    held = 0.5 * before.stiffness[:, 0] * (lengths - before.rest) ** 2
    holds = 0.5 * after.stiffness[:, 0] * (lengths - after.rest) ** 2
    given = np.maximum(holds - held, 0.0)
    return float(np.cumsum(given)[-1]) if len(given) else 0.0
