"""`SlotValues`: an array for every slot of a system. Those of bodies are views of one flat vector, made when asked for.

So what is done for many bodies at once, by the slot of a row of them (`joined_slots`), and what is done for one of
them, by its own slot, share their memory, and a body costs nothing in steps that do not ask for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from supple.scene.slots import Slot

Array = np.ndarray


class SlotArrays(Protocol):
    """An array for every slot, by the slot's index: a list or `SlotValues`."""

    def __getitem__(self, index: int, /) -> Array: ...
    def __setitem__(self, index: int, value: Array, /) -> None: ...


class SlotValues:
    """flat: of all bodies. Slots that are not bodies have zeros (count, 3) until they are set."""

    def __init__(self, slots: Sequence[Slot], flat: Array, *, of_positions: bool = False) -> None:
        self.flat, self._slots, self._view = flat, slots, Slot.view_x if of_positions else Slot.view_v
        self._made: dict[int, Array] = {}

    def __getitem__(self, index: int) -> Array:
        found = self._made.get(index)
        if found is None:
            slot = self._slots[index]
            found = self._view(slot, self.flat) if slot.is_body else np.zeros((slot.coordinates.count, 3))
            self._made[index] = found
        return found

    def __setitem__(self, index: int, value: Array) -> None:
        if self._slots[index].is_body:
            self[index][...] = value
        else:
            self._made[index] = value

    def __len__(self) -> int:
        return len(self._slots)

    def __iter__(self) -> Iterator[Array]:
        return (self[index] for index in range(len(self._slots)))

    def of(self, slot: Slot) -> Array:
        """The array of a slot, which may be that of a row of bodies."""
        return self._view(slot, self.flat) if slot.is_body else self[slot.index]

    def is_empty(self, slot: Slot) -> bool:
        """Whether a slot that is not a body's has zeros alone."""
        return slot.index not in self._made or not self._made[slot.index].any()
