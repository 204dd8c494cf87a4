"""A frame: one moment of a run, as recorders and observers see it."""

from __future__ import annotations

from dataclasses import dataclass

from supple.record.measures import Measures
from supple.scene.state import State
from supple.scene.system import System


@dataclass(frozen=True, eq=False)
class Frame:
    """step: how many led here. measures: energies and momenta. outcome, residual: of the worst step since the last
    frame. The state is the run's own and moves on: copy what is to be kept."""

    step: int
    state: State
    system: System
    measures: Measures
    outcome: str = "SOLVED"
    residual: float = 0.0

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.t
