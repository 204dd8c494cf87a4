"""A step of slow bodies in two parts: what hangs together with a lattice, and the rest.

Contacts, springs and shapes connect bodies; bodies that nothing connects do not know of each other. What touches no
lattice, nor anything that does, needs not wait for its sweep, and is solved once. Joints across parts are not split.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from supple.algebra.sparse.block_rows_kernels import find_connected
from supple.contact.contact_set import ContactForces
from supple.solvers.coupling.contact_steps import ContactSolution
from supple.solvers.coupling.laws import PointLaw
from supple.solvers.coupling.slow_step import SlowSides, SlowStep
from supple.solvers.linear.solution import LinearSolution

Array = np.ndarray


@dataclass(eq=False)
class SplitStep:
    """near: what hangs together with a lattice; rest: begins all else; None where that is nothing. law: relative
    velocities (k,) of laws between slow bodies, of which `beside` (k,) are near; keep: block rows (n,) of implicit
    bodies that are near."""

    near: SlowStep | None
    rest: Callable[[], SlowStep] | None
    law: Array
    beside: Array
    keep: Array

    @classmethod
    def of(cls, begun: SlowStep, law: Array, both: Array) -> SplitStep:
        """Of a step with laws `law` between slow bodies, and `both` (k,) between slow bodies and lattices."""
        linear, none = begun.linear, np.zeros(0, dtype=bool)
        if not both.any():
            return cls(None, lambda: begun, law, np.zeros_like(law), none)
        whole = cls(begun, None, law, law, none)
        if linear is None or linear.parts is None or begun.meeting.joints is not None:
            return whole
        label = linear.parts.components()
        if label is None:
            return whole
        keep, beside = _connected(begun, label, law, both)
        if keep.all():
            return whole
        return cls(_part(begun, keep), partial(_part, begun, ~keep), law, law & beside, keep)

    def solve(self, given: Array, before: ContactSolution | None = None) -> ContactSolution | None:
        """What is near, with given forces (k, 3) [N] on lattices; before: a solution to begin with."""
        return None if self.near is None else self.near.solve(self.beside, given, before)

    def solve_rest(self) -> ContactSolution | None:
        """The rest, on which no given force acts."""
        law = self.law & ~self.beside
        return None if self.rest is None else self.rest().solve(law, np.zeros((len(law), 3)))

    def sides(self, fast: Array, both: Array, given: Array, found: ContactSolution | None) -> SlowSides:
        """How slow bodies move beside lattices, see `SlowStep.sides`."""
        if self.near is None or found is None:
            return SlowSides(np.zeros((int(fast.sum()), 3)), ())
        return self.near.sides(fast, both, self.beside, given, found)

    def joined(self, near: ContactSolution | None, rest: ContactSolution | None) -> ContactSolution:
        """The solution of the whole step."""
        if near is None or rest is None:
            whole = rest if near is None else near
            assert whole is not None
            return whole
        own, other, unknowns = self.beside[self.law], ~self.beside[self.law], np.repeat(self.keep, 3)
        forces = ContactForces.none(len(own))
        pushes, velocity, d = np.empty((len(own), 3)), np.empty((len(own), 3)), np.empty(len(unknowns))
        for solution, rows, mine in ((near, own, unknowns), (rest, other, ~unknowns)):
            forces.put(rows, solution.forces)
            pushes[rows], velocity[rows], d[mine] = solution.pushes, solution.velocity, solution.linear.d
        a, b = near.linear, rest.linear
        linear = LinearSolution(
            d,
            np.zeros(0),
            a.iterations + b.iterations,
            max(a.residual, b.residual),
            a.ok and b.ok,
            a.is_final and b.is_final,
            lost=_lost(a, b, unknowns),
        )
        iterations, left = max(near.iterations, rest.iterations), max(near.left, rest.left)
        return ContactSolution(linear, [forces], pushes, velocity, iterations, left)


def _lost(near: LinearSolution, rest: LinearSolution, unknowns: Array) -> Array | None:
    """What iterations left open, zero where a part was solved directly."""
    if near.lost is None and rest.lost is None:
        return None
    lost = np.zeros(len(unknowns))
    for part, mine in ((near, unknowns), (rest, ~unknowns)):
        if part.lost is not None:
            lost[mine] = part.lost
    return lost


def _part(begun: SlowStep, keep: Array) -> SlowStep:
    assert begun.linear is not None
    assert begun.linear.parts is not None
    linear = begun.linear.parts.within(keep)
    return SlowStep(begun.meeting, linear, begun.J.within(keep), begun.G, begun.other, begun.h)


def _connected(begun: SlowStep, label: Array, law: Array, both: Array) -> tuple[Array, Array]:
    """Block rows (n,) and laws (k,) that hang together with what `both` (k,) touch. label (n,): components.

    Shapes, and points that one force binds together, count as one more block row.
    """
    J, linked = begun.J, _linked(begun)
    count = np.diff(J.ptr)
    ends = np.cumsum(np.where(law | both, count + linked, 0))
    ptr = np.concatenate([[0], ends])
    used = np.repeat(law | both, count)
    cols = np.insert(J.cols[used], (np.cumsum(np.where(law | both, count, 0)))[linked & (law | both)], J.width)
    touched = np.zeros(J.width + 1, dtype=bool)
    touched[cols[np.repeat(both, np.diff(ptr))]] = True
    keep, none = np.empty(J.width + 1, dtype=bool), np.zeros(len(law), dtype=bool)
    find_connected(np.append(label, label.max(initial=-1) + 1), ptr, cols, none, touched, keep)
    beside = np.zeros(len(law), dtype=bool)
    beside[np.repeat(np.arange(len(law)), np.diff(ptr))[keep[cols]]] = True
    return keep[:-1], beside


def _linked(begun: SlowStep) -> Array:
    """Relative velocities (k,) that others feel without a block row between them."""
    linked = np.zeros(begun.meeting.count, dtype=bool)
    if begun.other.shapes is not None:
        linked |= np.diff(begun.other.shapes.W.pieces.ptr) > 0
    start = 0
    for one in begun.meeting.laws:
        linked[start : start + one.size] |= isinstance(one, PointLaw)
        start += one.size
    return linked
