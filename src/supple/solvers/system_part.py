"""Some bodies of a scene as a system of their own, with their places in the state of the whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.scene.parts import part_of
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray


@dataclass(eq=False)
class SystemPart:
    """system: of these bodies alone. x_at, v_at: their places in the whole state."""

    system: System
    x_at: Array
    v_at: Array

    @classmethod
    def of(cls, system: System, slots: list[Slot], without: frozenset[int]) -> SystemPart | None:
        """The bodies of these slots, without what acts across parts (ids); None where there are none."""
        if not slots:
            return None
        part = part_of(system.scene, [slot.node for slot in slots], without).compile()
        x_at = np.concatenate([np.arange(s.x_slice.start, s.x_slice.stop) for s in slots])
        v_at = np.concatenate([np.arange(s.v_slice.start, s.v_slice.stop) for s in slots])
        return cls(part, x_at, v_at)

    def state(self, whole: State) -> State:
        """Its part of a state; what is remembered is shared."""
        return State(whole.t, whole.x[self.x_at], whole.v[self.v_at], whole.memory)

    def put(self, part: State, whole: State) -> None:
        """Write its part back."""
        whole.x[self.x_at], whole.v[self.v_at] = part.x, part.v
