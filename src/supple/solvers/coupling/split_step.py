"""A step of slow bodies in parts: what hangs together with a lattice, what with trees, and the rest.

Contacts, springs and shapes connect bodies; bodies that nothing connects do not know of each other. What touches no
lattice, nor anything that does, needs not wait for its sweep, and is solved once. Joints across parts are not split.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from supple.algebra.sparse.block_rows import BlockRows
from supple.algebra.sparse.block_rows_kernels import find_hanging
from supple.contact.contact_set import ContactForces
from supple.solvers.coupling.contact_steps import ContactSolution
from supple.solvers.coupling.laws import PointLaw
from supple.solvers.coupling.slow_step import SlowSides, SlowStep
from supple.solvers.linear.solution import LinearSolution

Array = np.ndarray


class StepPart(NamedTuple):
    """Some bodies of a step: begin makes their step; law (k,): relative velocities of laws between them; keep (n,):
    block rows of unknowns, None where it is all of them."""

    begin: Callable[[], SlowStep]
    law: Array
    keep: Array | None = None


@dataclass(eq=False)
class SplitStep:
    """near: what hangs together with a lattice, None where nothing does; beside (k,): laws of it; rest: all else, in
    parts. law (k,): relative velocities of all laws between slow bodies; keep (n,): block rows that are near."""

    near: SlowStep | None
    rest: list[StepPart]
    law: Array
    beside: Array
    keep: Array | None = None

    @classmethod
    def of(cls, begun: SlowStep, law: Array, both: Array) -> SplitStep:
        """Of a step with laws `law` between slow bodies, and `both` (k,) between slow bodies and lattices."""
        parts = begun.rows.linear.parts
        if not both.any():
            return cls(None, [StepPart(lambda: begun, law)], law, np.zeros_like(law))
        whole = cls(begun, [], law, law)
        if parts is None or begun.meeting.joints is not None:
            return whole
        label = parts.components()
        if label is None:
            return whole
        connections = Connections.of(begun, label, law, both)
        keep, beside = connections.hanging_on(both)
        if keep.all():
            return whole
        others = [~keep]
        linked, by_trees = connections.hanging_on(connections.linked & law & ~beside)
        if linked.any() and (~keep & ~linked).any():
            others = [linked, ~keep & ~linked]
        masks = [law & ~beside] if len(others) == 1 else [law & by_trees, law & ~beside & ~by_trees]
        rest = [StepPart(partial(begun.within, rows), own, rows) for rows, own in zip(others, masks)]
        return cls(begun.within(keep), rest, law, law & beside, keep)

    def solve(self, given: Array, before: ContactSolution | None = None) -> ContactSolution | None:
        """What is near, with given forces (k, 3) [N] on lattices; before: a solution to begin with."""
        return None if self.near is None else self.near.solve(self.beside, given, before)

    def solve_rest(self) -> list[ContactSolution]:
        """The rest, on which no given force acts, part by part."""
        none = np.zeros((len(self.law), 3))
        return [part.begin().solve(part.law, none) for part in self.rest]

    def sides(self, fast: Array, both: Array, given: Array, found: ContactSolution | None) -> SlowSides:
        """How slow bodies move beside lattices, see `SlowStep.sides`."""
        if self.near is None or found is None:
            return SlowSides(np.zeros((int(fast.sum()), 3)), ())
        return self.near.sides(fast, both, self.beside, given, found)

    def joined(self, near: ContactSolution | None, rest: list[ContactSolution]) -> ContactSolution:
        """The solution of the whole step."""
        parts = [(s, part.law, part.keep) for s, part in zip(rest, self.rest)]
        if near is not None:
            parts.append((near, self.beside, self.keep))
        if len(parts) == 1:
            return parts[0][0]
        k, n = int(self.law.sum()), sum(len(s.linear.d) for s, _, _ in parts)
        forces, pushes, velocity = ContactForces.none(k), np.empty((k, 3)), np.empty((k, 3))
        d, lost = np.empty(n), np.zeros(n)
        for s, law, keep in parts:
            assert keep is not None
            rows, unknowns = law[self.law], np.repeat(keep, 3)
            forces.put(rows, s.forces)
            pushes[rows], velocity[rows], d[unknowns] = s.pushes, s.velocity, s.linear.d
            lost[unknowns] = 0.0 if s.linear.lost is None else s.linear.lost
        each = [s.linear for s, _, _ in parts]
        linear = LinearSolution(
            d,
            np.zeros(0),
            sum(one.iterations for one in each),
            max(one.residual for one in each),
            all(one.ok for one in each),
            all(one.is_final for one in each),
            lost=None if all(one.lost is None for one in each) else lost,
        )
        iterations, left = max(s.iterations for s, _, _ in parts), max(s.left for s, _, _ in parts)
        return ContactSolution(linear, [forces], pushes, velocity, iterations, left)


class Connections(NamedTuple):
    """Which block rows the relative velocities of laws connect, by J; label (n,): components. used (k,): laws that
    connect; linked (k,): those of shapes, and of points that one force binds together, which feel each other."""

    J: BlockRows
    label: Array
    used: Array
    linked: Array

    @classmethod
    def of(cls, begun: SlowStep, label: Array, law: Array, both: Array) -> Connections:
        """Of the laws `law` and `both`; label (n,): what forces connect."""
        return cls(begun.rows.J, label, law | both, _linked(begun))

    def hanging_on(self, touched: Array) -> tuple[Array, Array]:
        """Block rows (n,) and laws (k,) that hang together with what some laws (k,) touch, which connect."""
        keep, laws = np.empty(len(self.label), dtype=bool), np.empty(len(touched), dtype=bool)
        find_hanging(self.label, self.J.ptr, self.J.cols, self.used, self.linked, touched, keep, laws)
        return keep, laws


def _linked(begun: SlowStep) -> Array:
    """Relative velocities (k,) that others feel without a block row between them."""
    linked = np.zeros(begun.meeting.count, dtype=bool)
    if begun.shapes is not None:
        linked |= np.diff(begun.shapes.W.pieces.ptr) > 0
    start = 0
    for one in begun.meeting.laws:
        linked[start : start + one.size] |= isinstance(one, PointLaw)
        start += one.size
    return linked
