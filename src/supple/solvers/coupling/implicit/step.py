"""A step of implicit bodies that has begun: linearised, and solved with the laws or, as any part, with given forces.

    d_0 = A^-1 b,   velocity J (v + d_0),   rate G (v + d_0),   with forces l, p   d = d_0 + h A^-1 (J^T l + G^T p)

Shapes are motions of the block rows that laws touch: W and E are the columns of J and G, Y = h A^-1 among these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sparse

from supple.algebra.sparse.block_rows import BlockRows
from supple.scene.state import State
from supple.solvers.coupling.law_rows import LawRows
from supple.solvers.coupling.shapes import BodyShapes
from supple.solvers.linear.solution import LinearSolution
from supple.solvers.linear.yielding import DENSE
from supple.solvers.report import StepReport

if TYPE_CHECKING:
    from supple.solvers.coupling.implicit.part import ImplicitPart

Array = np.ndarray


@dataclass(eq=False)
class ImplicitStep:
    """See `part_protocol.Step`. found: what was reached last, None before."""

    part: ImplicitPart
    state: State
    known: LawRows
    found: LinearSolution | None = None

    def rows(self) -> LawRows:
        """Its unknowns stay, and laws have rows on them."""
        return self.known

    @cached_property
    def _free(self) -> Array:
        """Velocities at the end without forces of laws."""
        linear = self.known.linear
        return np.asarray(linear.v + linear.close(linear.solve(linear.b), None).d)

    @property
    def start(self) -> Array:
        """(k, 3) [m/s]."""
        return self.known.J.times(self.known.linear.v).reshape(-1, 3)

    @property
    def velocity(self) -> Array:
        """(k, 3) [m/s]."""
        return self.known.J.times(self._free).reshape(-1, 3)

    @property
    def rate(self) -> Array:
        """(m,)."""
        return np.asarray(self.known.G @ self._free)

    @cached_property
    def shapes(self) -> list[BodyShapes]:
        """Motions of the block rows that are touched, by one factorisation of all that hangs together with them."""
        J, G, h = self.known.J.to_scipy(), self.known.G, self.part.method.dt
        touched = touched_rows(self.known.J, G)
        if not touched.any():
            return []
        part, at = self.known.linear.part(touched, None), np.flatnonzero(np.repeat(touched, 3))
        place = np.searchsorted(part.unknowns, at)
        unit = np.zeros((len(part.unknowns), len(at)))
        unit[place, np.arange(len(at))] = h
        starts = np.arange(0, len(at) + 1, 3)
        return [(sparse.csr_array(J[:, at]), sparse.csr_array(G[:, at]), starts, part.solve(unit)[place])]

    def reach(self, pushes: Array, held: Array, unknowns: LinearSolution | None = None) -> None:
        """Go to the end with these forces; unknowns: what was found for its rows with them."""
        if unknowns is None:
            linear = self.known.linear
            unknowns = linear.close(linear.solve(linear.b + self._impulse(pushes, held)), None)
        self.found = unknowns

    def _impulse(self, pushes: Array, held: Array) -> Array:
        """Of given forces on the unknowns, (n,) [N s]."""
        return np.asarray(self.part.method.dt * (self.known.J.transposed(pushes.ravel()) + self.known.G.T @ held))

    def place_ends(self, x_out: Array) -> None:
        """Write where its bodies end to flat positions of the whole system."""
        assert self.found is not None
        own, at = self.part.part, self.part.part.state(self.state)
        x_out[own.x_at] = own.system.retract(at.x, self.part.method.dt * (at.v + self.found.d))

    def finish(self, pushes: Array, held: Array) -> StepReport:
        """Take the step as it was reached last. A stiff contact leaves rounding of its own size in a direct solution:
        linear momentum follows the forces that the other parts take."""
        assert self.found is not None
        own, found, linear = self.part.part.state(self.state), self.found, self.known.linear
        if found.lost is None and linear.times is not None and found.d.size <= DENSE:
            found = replace(found, lost=linear.b + self._impulse(pushes, held) - linear.times(found.d))
        report = self.part.method.finish(self.part.part.system, own, found, flight=linear.flight)
        self.part.part.put(own, self.state)
        return report


def touched_rows(J: BlockRows, G: sparse.csr_array) -> Array:
    """Block rows of unknowns that laws with rows J (3 k, n) or joints with rows G (m, n) act on, (n / 3,)."""
    touched = J.touched
    touched[G.indices // 3] = True
    return touched
