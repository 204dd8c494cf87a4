"""State: time and all that changes. Plain arrays that can be copied, saved and restored."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from supple.errors import check_instance

Array = np.ndarray
ALL = np.logical_and.reduce  # asked of each state: a method of arrays takes twice as long


@dataclass
class State:
    """t [s]; x, v: flat positions and velocities of all bodies; memory: named arrays of solvers and constraints."""

    t: float
    x: Array
    v: Array
    memory: dict[str, Array] = field(default_factory=dict)

    def copy(self) -> State:
        """An independent copy."""
        return State(self.t, self.x.copy(), self.v.copy(), {name: a.copy() for name, a in self.memory.items()})

    def restore(self, other: State) -> None:
        """Take over another state's values."""
        saved = other.copy()
        self.t, self.x, self.v, self.memory = saved.t, saved.x, saved.v, saved.memory

    @property
    def is_finite(self) -> bool:
        """Whether all positions and velocities are finite numbers."""
        return bool(ALL(np.isfinite(self.x)) and ALL(np.isfinite(self.v)))


def check_state(value: object, where: str) -> None:
    """Refuse what is no state."""
    check_instance(value, State, "a state", where=where, fix="Give system.initial_state(), or run.state.")
