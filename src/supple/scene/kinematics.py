"""Kinematics: positions and velocities of every slot at one instant, with the mappings' J. A value."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from supple.bodies.mappings import compose_rows, join_rows
from supple.bodies.protocols import (
    ChangingMass,
    JacobianRows,
    LocalState,
    Mass,
    is_changing,
    is_turning,
    knows_positions,
    knows_velocity_rows,
)
from supple.scene.slot_values import SlotArrays, SlotValues
from supple.scene.slots import Slot

Array = np.ndarray


def hanging_on(slots: Iterable[Slot]) -> frozenset[int]:
    """Indices of slots and of all that they hang on."""
    found, waiting = set(), list(slots)
    while waiting:
        slot = waiting.pop()
        if slot.index not in found:
            found.add(slot.index)
            waiting += slot.parents
    return frozenset(found)


def body_rows(slot: Slot) -> JacobianRows:
    """The identity on a body's blocks, in the blocks of the system."""
    n = slot.block_count
    blocks = np.broadcast_to(np.eye(3), (n, 3, 3))
    return JacobianRows(np.arange(n + 1), slot.block_start + np.arange(n), blocks)


class Kinematics:
    """x[k], v[k] of slot k, (count, width) each; made by `System.propagate`."""

    def __init__(
        self,
        slots: list[Slot],
        t: float,
        x: Array,
        v: Array,
        memory: dict[str, Array] | None = None,
        only: frozenset[int] | None = None,
    ) -> None:
        """only: indices of the mapped slots that are asked for, with those they hang on; others are left empty."""
        self.slots, self.t, self.flat_x, self.flat_v, self.memory = slots, t, x, v, memory or {}
        self.x, self.v = SlotValues(slots, x, of_positions=True), SlotValues(slots, v)
        self.tangents: dict[int, Any] = {}
        self.mapped = [slot for slot in slots if not slot.is_body]
        for slot in self.mapped:
            k = slot.index
            if only is not None and k not in only:
                self.x[k], self.v[k] = np.zeros((0, 3)), np.zeros((0, 3))
            elif slot.fixed is not None:
                self.x[k], self.v[k] = slot.fixed, np.zeros_like(slot.fixed)
            elif slot.mapping is not None:
                parent = slot.parents[0].index
                tangent = slot.mapping.linearize(self.x[parent])
                self.tangents[k] = tangent
                # positions found on the way to J are not found twice
                self.x[k] = tangent.positions() if knows_positions(tangent) else slot.mapping.apply(self.x[parent])
                self.v[k] = tangent.product(self.v[parent])
            else:
                self.x[k] = np.concatenate([self.x[p.index] for p in slot.parents])
                self.v[k] = np.concatenate([self.v[p.index] for p in slot.parents])

    def zeros(self) -> SlotValues:
        """Zero velocities or forces of every slot."""
        return SlotValues(self.slots, np.zeros(len(self.flat_v)))

    def local(self, slot: Slot) -> LocalState:
        """What a force on this slot sees."""
        return LocalState(self.t, self.x.of(slot), self.v.of(slot), self._recalled(slot))

    def _recalled(self, slot: Slot) -> Any:
        """What a body remembers: the arrays "name/..." of the state's memory, as the body reads them."""
        if not self.memory or slot.remembering is None:
            return None
        own = f"{slot.name}/"
        kept = {name.removeprefix(own): array for name, array in self.memory.items() if name.startswith(own)}
        return slot.remembering.recall(kept) if kept else None

    def mass_of(self, slot: Slot, mass: Any) -> Any:
        """A mass at this instant: itself where it is constant, else its value at the slot's positions."""
        if not is_changing(mass):
            return mass
        if id(mass) not in self._masses:
            self._masses[id(mass)] = mass.at(self.x.of(slot))
        return self._masses[id(mass)]

    @cached_property
    def _masses(self) -> dict[int, Any]:
        return {}

    def first_moment(self, slot: Slot, mass: Mass | ChangingMass) -> tuple[float, Array]:
        """Mass [kg] and mass times centre (3,) [kg m] at this instant, found once."""
        key = (slot.index, id(mass))
        if key not in self._moments:
            self._moments[key] = mass.first_moment(self.x.of(slot))
        return self._moments[key]

    @cached_property
    def _moments(self) -> dict[tuple[int, int], tuple[float, Array]]:
        return {}

    def push(self, dv: Array) -> SlotValues:
        """A velocity-like vector of the bodies, carried to every slot: J dv."""
        out = SlotValues(self.slots, dv)
        for slot in self.mapped:
            if slot.mapping is not None:
                out[slot.index] = self.tangents[slot.index].product(out[slot.parents[0].index])
            elif slot.fixed is None:
                out[slot.index] = np.concatenate([out[p.index] for p in slot.parents])
        return out

    def push_change(self, pushed: SlotArrays) -> SlotValues:
        """How the velocities of mapped slots change with positions, d(J v)/dx dx, for dx carried to every slot."""
        out = self.zeros()
        for slot in self.mapped:
            if slot.mapping is not None:
                parent, tangent = slot.parents[0].index, self.tangents[slot.index]
                change = tangent.product(out[parent])
                if is_turning(tangent):
                    change = change + tangent.velocity_change(self.v[parent], pushed[parent])
                out[slot.index] = change
            elif slot.fixed is None:
                out[slot.index] = np.concatenate([out[p.index] for p in slot.parents])
        return out

    def pull(self, forces: SlotArrays) -> None:
        """Forces of mapped slots carried to their parents, J^T f, last slot first; changes `forces` in place.

        Slots without a force are left out: most are surfaces that only contacts look at.
        """
        for slot in reversed(self.mapped):
            if not slot.parents or _is_zero(forces, slot):
                continue
            if slot.mapping is not None:
                self.tangents[slot.index].add_transpose(forces[slot.index], forces[slot.parents[0].index])
                continue
            start = 0
            for parent in slot.parents:
                stop = start + parent.coordinates.count
                forces[parent.index] += forces[slot.index][start:stop]
                start = stop

    def biases(self) -> SlotValues:
        """(dJ/dt) v of every slot: the acceleration it has while the bodies' accelerations are zero [m/s²]."""
        out = self.zeros()
        for slot in self.mapped:
            if slot.mapping is not None:
                parent = slot.parents[0].index
                tangent = self.tangents[slot.index]
                out[slot.index] = tangent.product(out[parent]) + tangent.bias(self.v[parent])
            elif slot.fixed is None:
                out[slot.index] = np.concatenate([out[p.index] for p in slot.parents])
        return out

    @cached_property
    def _rows(self) -> dict[int, JacobianRows]:
        return {}

    def rows(self, slot: Slot) -> JacobianRows:
        """J of a slot in blocks of the system."""
        if slot.constant_rows is not None:
            return slot.constant_rows
        if slot.index in self._rows:
            return self._rows[slot.index]
        if slot.is_body:
            rows = body_rows(slot)
        elif slot.fixed is not None:
            empty = np.zeros(0, dtype=np.int64)
            rows = JacobianRows(np.zeros(len(slot.fixed) + 1, dtype=np.int64), empty, np.zeros((0, 3, 3)))
        elif slot.mapping is not None:
            rows = compose_rows(self.tangents[slot.index].jacobian_rows(), self.rows(slot.parents[0]))
        else:
            rows = join_rows([self.rows(p) for p in slot.parents])
        self._rows[slot.index] = rows
        return rows

    def velocity_rows(self, slot: Slot) -> JacobianRows:
        """d(J v)/dx of a slot, in the pattern of its `rows`."""
        if slot.constant_rows is not None or slot.is_body or slot.fixed is not None:
            rows = self.rows(slot)
            return JacobianRows(rows.ptr, rows.cols, np.zeros(rows.blocks.shape))
        if slot.mapping is None:
            return join_rows([self.velocity_rows(p) for p in slot.parents])
        parent, tangent = slot.parents[0], self.tangents[slot.index]
        if knows_velocity_rows(tangent):  # points on frames, which are bodies
            return compose_rows(tangent.velocity_rows(self.v[parent.index]), self.rows(parent))
        return compose_rows(tangent.jacobian_rows(), self.velocity_rows(parent))


def _is_zero(forces: SlotArrays, slot: Slot) -> bool:
    return forces.is_empty(slot) if isinstance(forces, SlotValues) else not forces[slot.index].any()
