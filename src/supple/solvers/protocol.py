"""The contract of a solver: how a compiled scene is advanced through time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.report import StepReport


@runtime_checkable
class Solver(Protocol):
    """A method. A solver holds numerical options alone."""

    @property
    def dt(self) -> float | None:
        """The time that one call of `step` advances [s]; None before `prepare` where that finds it."""
        ...

    def prepare(self, system: System) -> None:
        """Compute what is the same in all steps; an InputError where the method cannot honour the scene."""
        ...

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        ...


@runtime_checkable
class Solving(Protocol):
    """What a solver has that solves equations in a step."""

    @property
    def residual_limit(self) -> float:
        """The residual, as steps report it, up to which they count as solved, rounding aside."""
        ...


@runtime_checkable
class Rehearsing(Protocol):
    """What a prepared solver has that meets kernels in some states alone, as where bodies are strained."""

    def rehearse(self) -> None:
        """Call them once, so that they are compiled, or read from the disk, before they are needed."""
        ...


@runtime_checkable
class Striding(Protocol):
    """What a solver has that takes many steps in one call, while nobody looks at those in between."""

    def advance(self, system: System, state: State, steps: int) -> StepReport:
        """So many steps of dt, in place, to the same bits as single ones; one report of all. An error leaves the state
        anywhere: who wants to know which step failed takes them again one by one."""
        ...


@runtime_checkable
class StridingFrames(Protocol):
    """What a solver has that takes the steps to several frames in one call, while nobody looks at those in between."""

    def advance_frames(self, system: System, state: State, steps: Sequence[int]) -> list[tuple[State, StepReport]]:
        """So many steps of dt to each of several frames, to the same bits as single ones: states there, each with a
        report of the steps that led to it. The given state becomes the last. Empty, and the state as it was, where
        they should be taken by `Striding.advance`."""
        ...
