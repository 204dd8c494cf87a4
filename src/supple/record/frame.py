"""A frame: one moment of a run, as recorders and observers see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.record.files.contacts import Contacts, contacts_of
from supple.record.files.obstacles import poses_of
from supple.record.measures import Measures
from supple.scene.changes import Change, changes_of
from supple.scene.joints.readings import JointReading
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Frame:
    """One moment of a run.

    step: how many led here. measures: energies and momenta. outcome, residual: the worst since the last frame.
    worst_residual, under_converged: of all steps so far. The state is the run's own and moves on: copy what
    is to be kept.
    """

    step: int
    state: State
    system: System
    measures: Measures
    outcome: str
    residual: float
    worst_residual: float
    under_converged: int

    @cached_property
    def contacts(self) -> Contacts:
        """The contacts that pushed in the last step; see `contacts_of`."""
        return contacts_of(self.system, self.state)

    @property
    def joints(self) -> dict[str, JointReading]:
        """What each joint did in the last step, by name."""
        return self.system.joint_readings(self.state)

    @property
    def changes(self) -> list[Change]:
        """All changes that led here."""
        return changes_of(self.state)

    @property
    def poses(self) -> Array:
        """Where the obstacles are, (n, 7)."""
        return poses_of(self.system, self.state.t)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.t

    def row(self) -> dict[str, Any]:
        """What is recorded of the frame beside the surfaces; names as in `supple.record.files.layout.COLUMNS`."""
        return {
            "step": self.step,
            "time": self.time,
            "kinetic": self.measures.kinetic,
            "potential": self.measures.potential,
            "momentum": self.measures.momentum,
            "centre_of_mass": self.measures.centre_of_mass,
            "outcome": self.outcome,
            "residual": self.residual,
            "worst_residual": self.worst_residual,
            "under_converged": self.under_converged,
        }
