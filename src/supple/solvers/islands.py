"""Islands: every kind of body by the scheme that suits it, in one scene, meeting by contact.

    implicit   finite elements, rigid and floating bodies, particles: implicit Euler, their contacts in its matrix
    trees      reduced domains: their own Newmark steps
    lattices   voxels: their own explicit sweep, at a hundredth of the scene's step or less

A step of the scene finds all contacts once. Implicit bodies and trees are slow: contacts between them are solved
together, a tree by how its points answer to forces (u_0 and C of `contact_steps`). A lattice is fast. First the slow
bodies take the step with the contact's stiffness against a lattice whose points go on as they move; then the lattice
takes its small steps along surfaces that move as was found; then the slow bodies take the step anew, with exactly the
impulses that the lattice has met, so that what one body gives the other gets, to round-off.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sparse

from supple.contact.contact_set import ContactForces
from supple.errors import InputError
from supple.scene.kinematics import Kinematics
from supple.scene.parts import part_of
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.contact_steps import ContactSolution, ContactStep
from supple.solvers.implicit_euler import ImplicitEuler, LinearStep, check_dt
from supple.solvers.lattice_stride import LatticeStride
from supple.solvers.lattice_surfaces import LatticeSurfaces
from supple.solvers.linear import LinearSolution
from supple.solvers.meeting import Meeting
from supple.solvers.report import Outcome, StepReport
from supple.solvers.tree_island import TreeIsland, TreePrediction

Array = np.ndarray
IMPLICIT, TREE, LATTICE, FIXED = 0, 1, 2, 3
ISLAND_OF = {"voxel": LATTICE, "substructure": TREE}


@dataclass(eq=False)
class Island:
    """Some bodies of a scene as a system of their own. x_at, v_at: their places in the whole state."""

    system: System
    x_at: Array
    v_at: Array

    @classmethod
    def of(cls, system: System, kind: int) -> Island | None:
        """The bodies of one kind of island; None where there are none."""
        slots = [s for s in system.bodies if ISLAND_OF.get(s.node.body.kind, IMPLICIT) == kind]
        if not slots:
            return None
        part = part_of(system.scene, [slot.node for slot in slots]).compile()
        x_at = np.concatenate([np.arange(s.x_slice.start, s.x_slice.stop) for s in slots])
        v_at = np.concatenate([np.arange(s.v_slice.start, s.v_slice.stop) for s in slots])
        return cls(part, x_at, v_at)

    def state(self, whole: State) -> State:
        """Its part of a state; what is remembered is shared."""
        return State(whole.t, whole.x[self.x_at], whole.v[self.v_at], whole.memory)

    def put(self, part: State, whole: State) -> None:
        """Write its part back."""
        whole.x[self.x_at], whole.v[self.v_at] = part.x, part.v


@dataclass
class Islands:
    """dt: step of the scene [s]. implicit: options of implicit Euler, whose step is dt; lattice: of the voxels, such as
    what they stand on; tree_steps: Newmark steps of the trees in one step of the scene.

    >>> import supple as sp
    >>> solver = sp.Islands(1 / 100, lattice=sp.LatticeStride(planes=[sp.Plane()]))
    """

    dt: float = 1 / 100
    implicit: ImplicitEuler | None = field(default=None, kw_only=True)
    lattice: LatticeStride | None = field(default=None, kw_only=True)
    tree_steps: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        check_dt(self.dt, "Islands")
        if self.tree_steps < 1:
            raise InputError("a step of the scene needs a step of the trees", where="Islands", value=self.tree_steps)
        self.implicit = self.implicit or ImplicitEuler(self.dt)
        self.lattice = self.lattice or LatticeStride(self.dt)
        self.implicit.dt = self.lattice.dt = self.dt
        if self.implicit.newton:
            raise InputError("islands take linearised steps", where="Islands", fix="Use ImplicitEuler(newton=False).")
        self._prepared: System | None = None

    def prepare(self, system: System) -> None:
        """Make a system of each island."""
        self._slow, self._fast = Island.of(system, IMPLICIT), Island.of(system, LATTICE)
        self._trees = TreeIsland.of(system, self.tree_steps, self.dt)
        if self._slow is not None and self.implicit is not None:
            self.implicit.prepare(self._slow.system)
        if self._fast is not None and self.lattice is not None:
            self.lattice.prepare(self._fast.system)
            self._surfaces = LatticeSurfaces.of(self._fast.system, system.contacts)
        kinds = [ISLAND_OF.get(slot.node.body.kind, IMPLICIT) for slot in system.bodies]
        of = {slot.name: kind for slot, kind in zip(system.bodies, kinds)}
        self._islands = [np.array([of.get(name, FIXED) for name in c.names[: len(c.slots)]]) for c in system.contacts]
        self._prepared = system

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        if self._prepared is not system:
            self.prepare(system)
        kin = system.propagate(state.t, state.x, state.v, state.memory)
        with system.timings.measure("find contacts"):
            sets = [contact.find(kin, self.dt, state.memory) for contact in system.contacts]
        meeting = Meeting(list(system.contacts), sets, self._islands)
        slow, fast = meeting.has(IMPLICIT) | meeting.has(TREE), meeting.has(LATTICE)
        pushes, ended = np.zeros((meeting.count, 3)), ContactForces.none(meeting.count)
        begun = self._begin(system, kin, state, meeting)
        yields = self._surfaces.answers(meeting, kin, self.dt) if (slow & fast).any() else None
        found = begun.solve(slow, pushes, meeting.velocity(LATTICE, kin), yields)
        if self._fast is not None:
            motion = np.zeros((meeting.count, 3))
            lattice = meeting.velocity(LATTICE, kin)[slow]
            if yields is not None:
                lattice += (yields[np.repeat(slow, 3)][:, np.repeat(slow, 3)] @ found.pushes.ravel()).reshape(-1, 3)
            motion[slow] = found.velocity - lattice
            with system.timings.measure("lattices"):
                self._sweep(state, meeting, fast, motion, ended)
        if (slow & fast).any():
            pushes[fast] = ended.force[fast]
            found = begun.solve(slow & ~fast, pushes, np.zeros_like(pushes))
        ended.put(slow & ~fast, found.forces)
        report = self._finish(system, kin, state, meeting, ended.force, found)
        meeting.remember(ended, self.dt, state.memory)
        return report

    def _begin(self, system: System, kin: Kinematics, state: State, meeting: Meeting) -> SlowStep:
        """The linear step of the implicit bodies, and what the trees would do without contacts."""
        with system.timings.measure("trees, free"):
            trees = self._trees.predict(state, meeting)
        if self._slow is None or self.implicit is None:
            return SlowStep(meeting, None, sparse.csr_array((3 * meeting.count, 0)), trees, self.dt)
        with system.timings.measure("implicit bodies"):
            linear = self.implicit.begin(self._slow.system, self._slow.state(state))
        J = meeting.jacobian(IMPLICIT, kin, system.v_size, self._slow.v_at, self.dt)
        return SlowStep(meeting, linear, J, trees, self.dt)

    def _sweep(self, state: State, meeting: Meeting, fast: Array, motion: Array, ended: ContactForces) -> None:
        """Sweep the lattices along surfaces that move by `motion` (k, 3) [m/s]; into the contacts that are `fast`."""
        assert self._fast is not None
        assert self.lattice is not None
        part = self._fast.state(state)
        self.lattice.contacts = self._surfaces.contacts(meeting.chosen(fast), motion[fast]) if fast.any() else None
        self.lattice.step(self._fast.system, part)
        self._fast.put(part, state)
        if fast.any():
            met = self.lattice.met
            assert met is not None
            ended.force[fast], ended.slip[fast], ended.mode[fast] = met.impulse / self.dt, met.slip, met.mode

    def _finish(
        self, system: System, kin: Kinematics, state: State, meeting: Meeting, pushes: Array, found: ContactSolution
    ) -> StepReport:
        report = StepReport(Outcome.SOLVED)
        if self._slow is not None and self.implicit is not None:
            part = self._slow.state(state)
            report = self.implicit.finish(self._slow.system, part, found.linear, found.iterations, found.left)
            self._slow.put(part, state)
        with system.timings.measure("trees"):
            self._trees.finish(state, pushes)
        state.t = kin.t + self.dt
        if not state.is_finite:
            return StepReport(Outcome.NOT_FINITE, report.iterations)
        return report


@dataclass(eq=False)
class SlowStep:
    """A step of the slow bodies that has begun; J (3 k, implicit velocities) of all contacts."""

    meeting: Meeting
    linear: LinearStep | None
    J: sparse.csr_array
    trees: TreePrediction
    h: float

    def solve(self, law: Array, given: Array, others: Array, yields: Array | None = None) -> ContactSolution:
        """With forces by the law on the contacts `law` (k,), given ones (k, 3) [N] on the first sides of the others.

        others (k, 3) [m/s]: what points of other islands contribute to the relative velocities; yields (3 k, 3 k)
        [m/s/N]: how these give way.
        """
        rows = np.repeat(law, 3)
        chosen = self.meeting.chosen(law)
        b, v, solve, symmetric = np.zeros(0), np.zeros(0), _nothing, False
        if self.linear is not None:
            v, solve, symmetric = self.linear.kin.flat_v, self.linear.solve, self.linear.symmetric
            b = self.linear.b + self.h * (self.J.T @ given.ravel())
        C = self.trees.C
        if yields is not None:
            C = yields if C is None else C + yields
        u_0 = others.ravel() + self.trees.velocity.ravel()
        if C is not None:
            u_0, C = u_0 + C @ given.ravel(), C[np.ix_(rows, rows)]
        step = ContactStep(
            chosen.bound, chosen.sets, self.J[rows], self.h, v, symmetric, u_0[rows], None if C is None else C
        )
        if not law.any():
            return ContactSolution(solve(b), step.forces(np.zeros(0)), np.zeros((0, 3)), np.zeros((0, 3)), 1, 0.0)
        return step.solve(b, solve)


def _nothing(b: Array, extra: Any = None, start: Array | None = None, tolerance: float = 0.0) -> LinearSolution:
    """The solution of no unknowns."""
    return LinearSolution(np.zeros(0), np.zeros(0), 0, 0.0, True)
