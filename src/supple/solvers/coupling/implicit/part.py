"""Implicit bodies in a scene with other kinds: finite elements, rigid, floating and layered bodies, particles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import scipy.sparse as sparse

from supple.algebra.sparse.block_sparse import PARALLEL_BLOCK_COUNT
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.coupling.across import IMPLICIT
from supple.solvers.coupling.implicit.step import ImplicitStep, touched_rows
from supple.solvers.coupling.law_rows import LawRows
from supple.solvers.coupling.meeting import Meeting
from supple.solvers.methods.implicit_euler import ImplicitEuler
from supple.solvers.system_part import SystemPart


@dataclass(eq=False)
class ImplicitPart:
    """See `part_protocol.Part`. whole: the system of the scene; part: that of implicit bodies alone."""

    whole: System
    part: SystemPart
    method: ImplicitEuler

    @property
    def is_small(self) -> bool:
        """Whether its kernels are better left to one thread."""
        assembly = self.part.system.assembly
        return assembly is None or assembly.matrix.block_count < PARALLEL_BLOCK_COUNT

    @cached_property
    def _no_joints(self) -> sparse.csr_array:
        """The rows of no joints across parts."""
        return sparse.csr_array((0, len(self.part.v_at)))

    def look_ahead(self, state: State, *, is_shared: bool = False) -> None:
        """Nothing is known before contacts are."""

    def begin(self, state: State, meeting: Meeting, *, is_shared: bool = False) -> ImplicitStep:
        """Linearise, when a solution is asked for, and find the rows of laws; the meeting's sets take on how ways
        depart from them."""
        timings, columns, own = self.whole.timings, self.part.v_at, self.part.state(state)
        with timings.measure("contact rows"):
            J = meeting.jacobian(IMPLICIT, columns, self.method.dt)
            G = self._no_joints if meeting.joints is None else meeting.joints.rows(self.whole.v_size, columns)
        with timings.measure("implicit bodies"):
            kin = self.part.system.propagate(own.t, own.x, own.v)
            linear = self.method.begin(self.part.system, kin, touched_rows(J, G))
        return ImplicitStep(self, state, LawRows(linear, J, G))
