"""A step of implicit Euler of bodies in free flight: they turn as rigid ones do, and keep their angular momentum.

    v = v_c + w × r + u,   R = exp(h w),   J w = L            r: places from the centre of mass, at the start
    x_1 = c_1 + R (r + h u_1),     v_1 = v_c1 + R (w × r + u_1)
    (M - h B - h² K) u_1 = h f + M (R^T v_0' - w × r) - h B u_0,     v_0' = v_0 - v_c0,   u_0 = v_0' - w × r

The last line is M (v_1 - v_0) = h f(x_1, v_1) in the axes of the start, since inner forces turn with the body. As an
equation for the change d = w × r + u_1 - v_0' its matrix is that of any step and its right side

    b = h (f + h K u_0) + M (R^T - 1) v_0'                    (7.1)

Along straight lines, points of a spinning body leave their circles by (h w)² / 2 of the radius in each step: what pulls
them back brakes the spin, 14 % of it in ten steps of 2 degrees each, and stretches stiff bodies. w is that of a rigid
body in the middle of the step, and what spin u_1 has is left out of x_1, so that stiff bodies tumble to second order.
At the end another w × r makes good what linearising leaves of L_1 = L_0 / (1 + h alpha), alpha: mass damping. So linear
and angular momentum are kept to round-off whatever solves the step. Bodies that contacts touch, or on which other
forces act, step along straight lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.bodies.point_mass import PointMass
from supple.bodies.traits import spin_loss
from supple.scene.slots import Slot
from supple.scene.system import System
from supple.solvers.linear.flight_kernels import MassRows, begin_flight, end_flight, give_moment

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Flier:
    """A body of points that nothing holds, and its mass. loss: the rate [1/s] at which its forces take its spin; None
    where others than its own act on it."""

    slot: Slot
    mass: MassRows
    scratch: Array
    loss: float | None

    def turn(self, x: Array, lost: Array, v_out: Array) -> None:
        """Give it a spin that has the moment of lost momenta; all flat."""
        give_moment(self.mass, self.slot.view_x(x), self.slot.view_v(lost), self.scratch, self.slot.view_v(v_out))


class _Turn(NamedTuple):
    """One body's step: r (n, 3), angular momentum at its end, and spin in its middle."""

    flier: Flier
    r: Array
    l: Array
    w: Array


@dataclass(eq=False)
class FreeFlight:
    """The bodies that fly in a step of h [s]. turning: w × r [m/s], inertia: M (R^T - 1) v_0' [kg m/s], flat."""

    h: float
    turns: list[_Turn]
    turning: Array
    inertia: Array

    @property
    def fliers(self) -> list[Flier]:
        """The bodies."""
        return [turn.flier for turn in self.turns]

    @classmethod
    def of(cls, system: System, x: Array, v: Array, h: float, touched: Array | None) -> FreeFlight | None:
        """From flat positions and velocities; touched (n,): block rows on which contacts or couplings may act. None
        where no body flies."""
        flying = [
            flier
            for flier in fliers(system)
            if flier.loss is not None
            and (touched is None or not touched[flier.slot.block_start :][: flier.slot.block_count].any())
        ]
        if not flying:
            return None
        made = cls(h, [], np.zeros_like(v), np.zeros_like(v))
        for flier in flying:
            slot, r, l, w = flier.slot, np.empty((flier.slot.coordinates.count, 3)), np.empty(3), np.empty(3)
            turning, inertia = slot.view_v(made.turning), slot.view_v(made.inertia)
            begin_flight(flier.mass, slot.view_x(x), slot.view_v(v), h, flier.scratch, r, l, w, turning, inertia)
            made.turns.append(_Turn(flier, r, l / (1.0 + h * (flier.loss or 0.0)), w))
        return made

    def end(self, x_0: Array, x_out: Array, v_out: Array) -> None:
        """Where the bodies end; flat. v_out: holds the velocities of the solution."""
        for flier, r, l, w in self.turns:
            slot, x = flier.slot, flier.slot.view_x(x_out)
            x[:] = slot.view_x(x_0)
            end_flight(flier.mass, r, w, l, self.h, flier.scratch, x, slot.view_v(v_out))


def fliers(system: System) -> list[Flier]:
    """Bodies of points with one mass on which neither filters nor joints nor masses of mapped points hang."""
    if "fliers" not in system.memo:
        system.memo["fliers"] = list(_found(system))
    known: list[Flier] = system.memo["fliers"]
    return known


def _found(system: System) -> list[Flier]:
    held, found = system.filter.blocks, []
    joined = [slot for _, slot, _ in system.joints]
    for slot in system.bodies:
        on = [(at, mass) for _, at, mass in system.masses if hangs_on(at, slot)]
        inside = ((held >= slot.block_start) & (held < slot.block_start + slot.block_count)).any()
        if inside or len(on) != 1 or on[0][0] is not slot or any(hangs_on(at, slot) for at in joined):
            continue
        mass, n = on[0][1], slot.coordinates.count
        if isinstance(mass, PointMass) and slot.coordinates.x_width == 3 and n > 2:
            found.append(Flier(slot, _rows(mass), np.empty((2 * n, 3)), _loss(system, slot)))
    return found


def _rows(mass: PointMass) -> MassRows:
    n = len(mass.node_mass)
    if isinstance(mass.m, np.ndarray):
        return MassRows(np.arange(n + 1, dtype=np.int32), np.arange(n, dtype=np.int32), mass.m, mass.m)
    indptr, indices = (a.astype(np.int32) for a in (mass.m.indptr, mass.m.indices))
    return MassRows(indptr, indices, mass.m.data, mass.node_mass)


def _loss(system: System, body: Slot) -> float | None:
    """Sum of the rates of all forces on a body; None where one may turn it."""
    acting = [(slot, force) for _, slot, force in system.forces if hangs_on(slot, body)]
    rates = [spin_loss(force) if slot is body else None for slot, force in acting]
    known = [rate for rate in rates if rate is not None]
    return float(sum(known)) if known and len(known) == len(rates) else None


def hangs_on(slot: Slot, body: Slot) -> bool:
    """Whether a slot is a body's or of points on it."""
    return slot is body or any(hangs_on(parent, body) for parent in slot.parents)
