"""`Linkage`: rigid and floating bodies on joints, as the compiled midpoint steps take them.

For bodies on which nothing acts but gravity, their own elasticity, and joints without limits and motors. What is left
to the general way: joints that say the same thing twice, and steps that do not converge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from supple.algebra.compiling.addresses import Addresses
from supple.bodies.floating.forces import ModalForce
from supple.bodies.floating.kernels import InertiaNumbers
from supple.bodies.floating.mass import FloatingMass, Weight
from supple.bodies.floating.points import FloatingPoints
from supple.bodies.floating.stride_kernels import FINE, StrideNumbers, StrideWorkspace
from supple.bodies.mappings import FramePoints
from supple.bodies.rigid.mass import FrameMass
from supple.scene.joints.joints import PointConditionRows
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.linear.joint_solve import RedundantRows
from supple.solvers.linkage.row_kernels import WORLD, LinkRows
from supple.solvers.linkage.step_kernels import LinkedBody, advance_linkage

Array = np.ndarray
MOST_ROWS = 150
"""Beyond so many rows their dense matrix costs more than a sparse one."""
HISTORY, MULTIPLIERS = "linkage", "multipliers"
"""In a state's memory: what the next step is extrapolated from, and the multipliers."""


class Made(NamedTuple):
    """Steps made, most iterations of one, and the worst relative residual."""

    steps: int
    iterations: int
    residual: float


class Places(NamedTuple):
    """Points: number of the body or WORLD (k,); X (k, 3), or world positions; shapes (k, 3, r)."""

    body: Array
    local: Array
    shapes: Array


@dataclass(eq=False)
class Linkage:
    """slots: of the bodies; bodies, rows: their arrays, by address for the kernels."""

    slots: list[Slot]
    bodies: Addresses
    rows: LinkRows

    @classmethod
    def of(cls, system: System) -> Linkage | None:
        """None where the system has anything that the kernels do not know."""
        count = system.joint_row_count
        if not 0 < count <= MOST_ROWS or len(system.filter) or system.contacts:
            return None
        inertias, elastic = _inertias(system), _elastic(system)
        if inertias is None or elastic is None or not all(type(j.rows) is PointConditionRows for j in system.joints):
            return None
        places = [_places(joint.slot, system.bodies) for joint in system.joints]
        if any(place is None for place in places) or _is_redundant(system):
            return None
        rows, held = _pack_rows(system, [p for p in places if p is not None])
        made = []
        for k, slot in enumerate(system.bodies):
            K, D = elastic.get(slot.index, (np.zeros((0, 0)),) * 2)
            made.append(_pack_body(inertias[slot.index], K, D, system.gravity, held[k]))
        return cls(list(system.bodies), Addresses(made), rows)

    def advance(self, state: State, dt: float, steps: int, tolerance: float, opening: float, limit: int) -> Made:
        """Move a state on by up to `steps` steps of dt [s], in place, but for its time: fewer where one does not
        converge within `limit` iterations to the relative residual `tolerance` and joints open by `opening`."""
        m = len(self.rows.y)
        kept = state.memory.get(MULTIPLIERS)
        multipliers = np.zeros(m) if kept is None or kept.size != m else kept.copy()
        history, start = state.memory.get(HISTORY), 0
        for slot, body in zip(self.slots, self.bodies.values, strict=True):
            n = len(body.v)
            body.x[:], body.v[:] = slot.view_x(state.x)[0, : n + 1], slot.view_v(state.v)[0, :n]
            body.history[:] = 0.0 if history is None else history[:, start : start + n]
            start += n
        outcome, made, iterations, residual = advance_linkage(
            self.bodies, len(self.slots), self.rows, float(dt), int(steps), float(tolerance), float(opening),
            int(limit), multipliers, np.empty(m),
        )  # fmt: skip
        for slot, body in zip(self.slots, self.bodies.values, strict=True):
            n = len(body.v)
            slot.view_x(state.x)[0, : n + 1], slot.view_v(state.v)[0, :n] = body.x, body.v
        if made:
            state.memory[HISTORY] = np.hstack([body.history for body in self.bodies.values])
            state.memory[MULTIPLIERS] = multipliers
        return Made(int(made), int(iterations), float(residual) if outcome == FINE else 0.0)

    @staticmethod
    def forget(state: State) -> None:
        """A step was made in another way: the next one is not extrapolated."""
        state.memory.pop(HISTORY, None)


def linkage_of(system: System) -> Linkage | None:
    """The linkage of a system as it is now, made once; None where there is more in it than the kernels know."""
    key = f"linkage, revision {system.revision}"
    if key not in system.memo:
        system.memo[key] = Linkage.of(system)
    found: Linkage | None = system.memo[key]
    return found


def _inertias(system: System) -> dict[int, InertiaNumbers] | None:
    """Of every body by its slot, one mass each."""
    found = {}
    for _, slot, mass in system.masses:
        if type(mass) is FloatingMass:
            found[slot.index] = mass.numbers
        elif type(mass) is FrameMass and len(mass.mass) == 1 and slot.is_body:
            found[slot.index] = _rigid_numbers(float(mass.mass[0]), mass.inertia[0])
    whole = len(found) == len(system.masses) == len(system.bodies)
    return found if whole and {slot.index for slot in system.bodies} == set(found) else None


def _rigid_numbers(mass: float, J: Array) -> InertiaNumbers:
    """A frame at its centre of mass, without modes: J = tr(P) I - P."""
    P = 0.5 * np.trace(J) * np.eye(3) - J
    none = np.zeros((0, 0))
    return InertiaNumbers(mass, np.zeros(3), P, np.zeros((3, 0)), np.zeros(0), none, none, none)


def _elastic(system: System) -> dict[int, tuple[Array, Array]] | None:
    """K and D of bodies with modes by their slot; None where anything else acts on a body than these and its weight."""
    found = {}
    for _, slot, force in system.forces:
        if type(force) is ModalForce and force.cubic is None:
            found[slot.index] = (force.K, force.D)
        elif type(force) is not Weight:
            return None
    return found


def _places(slot: Slot, bodies: list[Slot]) -> Places | None:
    """The points of a slot; None where they are not points of frames or of the world."""
    if slot.fixed is not None:
        x = np.asarray(slot.fixed, dtype=float).reshape(-1, 3)
        return Places(np.full(len(x), WORLD), x, np.zeros((len(x), 3, 0)))
    if slot.mapping is None:
        parts = [_places(parent, bodies) for parent in slot.parents]
        known = [part for part in parts if part is not None]
        if not known or len(known) < len(parts):
            return None
        widest = max(part.shapes.shape[2] for part in known)
        shapes = [np.pad(part.shapes, ((0, 0), (0, 0), (0, widest - part.shapes.shape[2]))) for part in known]
        body, local = (np.concatenate([part[i] for part in known]) for i in range(2))
        return Places(body, local, np.concatenate(shapes))
    parent = slot.parents[0]
    if not parent.is_body:
        return None
    number, mapping = bodies.index(parent), slot.mapping
    if type(mapping) is FramePoints:
        return Places(np.full(mapping.count, number), mapping.local, np.zeros((mapping.count, 3, 0)))
    if type(mapping) is FloatingPoints:
        return Places(np.full(mapping.count, number), mapping.local, mapping.shapes)
    return None


def _is_redundant(system: System) -> bool:
    """Whether rows say the same thing twice at the start."""
    kin = system.propagate(0.0, system.x0, system.v0)
    G = system.linearize(kin).joint_jacobian()
    open = float(np.abs(system.violation(kin)).max(initial=0.0))
    return RedundantRows.of(G, G, np.zeros(system.joint_row_count, dtype=bool), open).N.shape[1] > 0


def _pack_rows(system: System, places: list[Places]) -> tuple[LinkRows, list[Array]]:
    """The rows of all joints, and of each body the numbers of the rows that hold it."""
    widest = max(place.shapes.shape[2] for place in places)
    body, local = (np.concatenate([place[i] for place in places]) for i in range(2))
    shapes = np.concatenate([np.pad(p.shapes, ((0, 0), (0, 0), (0, widest - p.shapes.shape[2]))) for p in places])
    meetings, angles, constants, entries, signs = [], [], [], [], []
    held: list[dict[int, int]] = [{} for _ in system.bodies]

    def enter(row: int, point: int, start: int, end: int, sign: float, is_meeting: bool) -> None:
        if body[point] != WORLD:
            place = held[body[point]].setdefault(row, len(held[body[point]]))
            entries.append((place, point, start, end, int(is_meeting)))
            signs.append(sign)

    row, first = 0, 0
    for joint, place in zip(system.joints, places, strict=True):
        rows: Any = joint.rows
        for i, j in (rows.meetings + first).tolist():
            meetings.append((row, i, j))
            for axis in range(3):
                enter(row + axis, i, -1 - axis, 0, -1.0, True)
                enter(row + axis, j, -1 - axis, 0, 1.0, True)
            row += 3
        for (a, b, c, d), constant in zip((rows.angles + first).tolist(), rows.constants.tolist(), strict=True):
            angles.append((row, a, b, c, d))
            constants.append(constant)
            for point, start, end, sign in ((a, c, d, -1.0), (b, c, d, 1.0), (c, a, b, -1.0), (d, a, b, 1.0)):
                enter(row, point, start, end, sign, False)
            row += 1
        first += len(place.body)
    k, whole = len(body), np.int64
    at = np.broadcast_to(local, (3, k, 3)).copy()
    packed = LinkRows(
        body.astype(whole), _own(local), _own(shapes),
        np.array(meetings, dtype=whole).reshape(-1, 3), np.array(angles, dtype=whole).reshape(-1, 5),
        np.array(constants, dtype=float), np.array(entries, dtype=whole).reshape(-1, 5), np.array(signs, dtype=float),
        at, np.zeros((3, k, 3)), np.zeros(row), np.zeros(row), np.zeros((row, row)), np.zeros(row, dtype=whole),
        np.zeros(row),
    )  # fmt: skip
    return packed, [np.array(list(rows), dtype=whole) for rows in held]


def _pack_body(numbers: InertiaNumbers, K: Array, D: Array, gravity: Array, rows: Array) -> LinkedBody:
    r, n = len(K), 6 + len(K)
    own = InertiaNumbers(float(numbers.mass), *(_own(part) for part in numbers[1:]))
    none = np.zeros((0, 3))
    stride = StrideNumbers(_own(K), _own(D), _own(gravity), none, np.zeros((0, 3, r)), none)
    at, turns, made = np.zeros((3, n + 1)), np.zeros((3, 3, 3)), StrideWorkspace.empty(r)
    states = {name: getattr(made, name)._replace(R=turns[k]) for k, name in enumerate(("start", "middle", "end"))}
    rooms = (np.zeros((len(rows), n)) for _ in range(3))
    return LinkedBody(
        own, stride, made._replace(x=at[1], **states), at[0], np.zeros(n), at[2], np.zeros(n), at, turns,
        np.zeros((3, n)), rows, *rooms,
    )  # fmt: skip


def _own(array: Any) -> Array:
    """A copy that kernels may share a type for: contiguous and writable."""
    return np.array(array, dtype=float, order="C")
