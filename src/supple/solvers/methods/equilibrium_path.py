"""`EquilibriumPath`: equilibria in their order along a path, with the part of the loads that each carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.methods.modes import fastest_growth
from supple.solvers.report import StepReport

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class EquilibriumPath:
    """n equilibria. loads (n,): the factor of gravity and loads at each; states: at rest; lengths (n,) [m]: arc until
    there, of the root mean square move of the mass; limits (k,): numbers of the points with a largest or smallest load;
    report: how it ended."""

    loads: Array
    states: tuple[State, ...]
    lengths: Array
    limits: Array
    report: StepReport
    system: System = field(repr=False)

    def __len__(self) -> int:
        return len(self.states)

    def positions(self, body: str | Slot) -> Array:
        """Positions of a body at each point of the path [m], (n, count, 3), frames (n, count, 7)."""
        return np.stack([self.system.positions(state, body) for state in self.states])

    @property
    def limit_loads(self) -> Array:
        """The largest and smallest loads on the way, (k,)."""
        return self.loads[self.limits]

    @cached_property
    def growth(self) -> Array:
        """How fast a small push grows at each point [1/s], exp(growth t); 0 where the equilibrium is stable, (n,)."""
        return np.array([fastest_growth(self.system, state) for state in self.states])
