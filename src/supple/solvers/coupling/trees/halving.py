"""Steps of a tree that are halved where the passes within them do not settle, and doubled again later.

A step evaluates the coupling of the domains in a few passes (`TreeSettings.passes`). Where the last one, and one more,
still moves the tree by more than `UNSETTLED` of its motion, the step is too long: the passes have not settled on the
cubic force and its damping, as of leaves in a strong wind, and the tree may gain energy. The step is taken anew in two
halves, and the next one begins with these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.tree import TreeBody
from supple.bodies.tree.dynamics import UNSETTLED
from supple.errors import ConvergenceError, DivergenceError
from supple.solvers.coupling.trees.acting import ActingAhead
from supple.solvers.report import Outcome

Array = np.ndarray
CALM = UNSETTLED / 5
"""Below this a step twice as long would settle."""
HALVINGS = 6
"""A step is divided by 2 to this power at most."""


class Halved(NamedTuple):
    """The state at the end; how often steps are halved now; how unsettled the worst of them was."""

    end: LocalState
    level: int
    change: float


class Marked(NamedTuple):
    """Coordinates and rates (width,) after a call; how often steps were halved then."""

    x: Array
    v: Array
    level: int


@dataclass(frozen=True)
class HalvedTree:
    """A tree, with what acts on it in `TreeBody.advance`; is_blown: a wind is among it."""

    body: TreeBody
    acting: dict[str, Any]
    is_blown: bool = False

    def advance(self, start: LocalState, h: float, steps: int, level: int) -> Halved:
        """The state after `steps` steps of h [s], each halved where it must be; level: how often, before and after."""
        if level == 0:
            try:
                end = self.body.advance(start, h, steps=steps, is_blown=self.is_blown, **self.acting)
                change = unsettled(self.body)
                if change <= UNSETTLED or self.body.settings.converge:
                    return Halved(end, 0, change)
            except (ConvergenceError, DivergenceError):
                if self.body.settings.converge:
                    raise
        return self.halved(start, h, steps, level)

    def advance_calls(
        self,
        x: Array,
        v: Array,
        h: float,
        steps: int,
        level: int,
        marks: Sequence[int],
        loads: ActingAhead | None = None,
    ) -> tuple[Array, list[Marked]]:
        """Coordinates x, v after so many calls of `advance` as the last of `marks`, in place, those that settle in one
        compiled call.

        Returns how unsettled each call was, and what there was after so many calls as each of `marks`.
        """
        calls, marked, body, gravity = marks[-1], list[Marked](), self.body, self.acting["gravity"]
        changes, done = np.empty(calls), 0
        is_tried = body.dynamics.threads == 1 and not body.settings.converge
        while done < calls:
            if level == 0 and body.dynamics.threads == 1:
                given = None if loads is None else loads.since(done)
                left = [mark - done for mark in marks[len(marked) :]]
                how = {"steps": steps, "gravity": gravity, "limit": UNSETTLED, "is_blown": self.is_blown}
                kept, positions, rates = body.stride(x, v, h, calls - done, acting=given, marks=left, **how)
                marked += [Marked(*state, 0) for state in zip(positions, rates)]
                changes[done : done + len(kept)] = kept
                done += len(kept)
            if done < calls:
                acting = {} if loads is None else loads.at(done, x, v)._asdict()
                tree = HalvedTree(body, {**self.acting, **acting}, self.is_blown)
                now = LocalState(0.0, x.copy(), v.copy())
                take = tree.halved if level == 0 and is_tried else tree.advance
                end, level, changes[done] = take(now, h, steps, level)
                x[:], v[:], done = end.x, end.v, done + 1
                if done == marks[len(marked)]:
                    marked.append(Marked(end.x[0], end.v[0], level))
        return changes, marked

    def halved(self, start: LocalState, h: float, steps: int, level: int) -> Halved:
        """The same where all of them in one call do not settle: a single one is not tried again as it is."""
        level = max(level, 1 if steps == 1 else 0)
        now, done, whole, worst = start, 0, steps * 2**HALVINGS, 0.0
        while done < whole:
            part = 2 ** (HALVINGS - level)
            length = h * part / 2**HALVINGS
            try:
                end = self.body.advance(now, length, is_blown=self.is_blown, **self.acting)
                change = unsettled(self.body)
            except (ConvergenceError, DivergenceError):
                if level == HALVINGS:
                    raise
                change = np.inf
            if change > UNSETTLED and level < HALVINGS:
                level += 1
                continue
            now, done, worst = end, done + part, max(worst, change)
            if change < CALM and level > 0 and done % (2 * part) == 0:
                level -= 1
        return Halved(now, level, worst)


def left_open(body: TreeBody, change: float, start: LocalState, h: float, acting: dict[str, Any]) -> float:
    """How unsettled a step was that seemed so by `change`: what one pass more would change.

    The last pass may still move a tree that springs pull, or that is coupled, and leave nothing to the next one.
    """
    if change <= UNSETTLED:
        return change
    try:
        body.advance(start, h, more_passes=1, **acting)
    except (ConvergenceError, DivergenceError):
        return change
    return unsettled(body)


def outcome_of(change: float) -> Outcome:
    """How a step ended that was so unsettled."""
    return Outcome.SOLVED if change <= UNSETTLED else Outcome.UNDER_CONVERGED


def unsettled(body: TreeBody) -> float:
    """How unsettled the worst step of the last call was, see `step_kernels.unsettled`; 0 where steps are iterated."""
    return float(body.dynamics.workspace.moved[0])
