"""Partitioned: every kind of body by the scheme that suits it, in one scene, coupled by contacts, springs and joints.

    implicit   finite elements, rigid and floating bodies, particles: implicit Euler, their contacts in its matrix
    trees      reduced domains: their own steps, implicit Euler where they are coupled
    lattices   voxels: their own explicit sweep, at a hundredth of the scene's step or less; where joints with limits
               or motors hold them, they are implicit bodies

A step of the scene finds all contacts once. Implicit bodies and trees are slow: contacts, springs and joints between
them are solved together, a tree by how its points answer to forces (u_0 and C of `contact_steps`). A lattice is fast.
First the slow bodies are stepped with the forces that the lattice had on them in the step before, and asked how they
would answer to others; then the lattice takes its small steps along surfaces that move so and respond as was found;
then the slow bodies take the step anew, with exactly the impulses that the lattice has met, so that what one body gives
the other gets, to round-off. See `slow_step` for why a contact may be as stiff as it likes. Joints of lattices with
slow bodies are held in the small steps in the same way; where a slow body turns, it does not quite end where the sweep
had it, and the lattice is swept again along the way that was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numba
import numpy as np

from supple.bodies.part_protocol import Part
from supple.contact.binding.remembering import Touching
from supple.contact.contact_set import ContactForces
from supple.errors import InputError, check_instance, check_number
from supple.scene.kinematics import Kinematics, hanging_on
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.coupling.across import FIXED, IMPLICIT, LATTICE, TREE, Across
from supple.solvers.coupling.beside import beside_if_free, sharing
from supple.solvers.coupling.contact_steps import ContactSolution
from supple.solvers.coupling.implicit.part import ImplicitPart
from supple.solvers.coupling.joint_rows import Secant
from supple.solvers.coupling.lattice_surfaces import LatticeSurfaces
from supple.solvers.coupling.lattice_world import LatticeWorld, known_obstacles
from supple.solvers.coupling.laws import JointPoints
from supple.solvers.coupling.meeting import Meeting
from supple.solvers.coupling.slow_step import SlowSides, SlowStep
from supple.solvers.coupling.split_step import SplitStep
from supple.solvers.coupling.trees.part import TreePart
from supple.solvers.methods.implicit_euler import ImplicitEuler, check_dt, extent_of
from supple.solvers.methods.lattice_obstacles import MET, ObstaclesMet
from supple.solvers.methods.lattice_solver import MANY_VOXELS, LatticeSolver
from supple.solvers.report import SEVERITY, Outcome, StepReport
from supple.solvers.system_part import SystemPart
from supple.solvers.world import check_step, check_system, refuse_restitution, refuse_soft_restitution

Array = np.ndarray
AMONG_TREES, CLOSED, SWEPT, OPEN = 2e-10, 1e-8, 1e-7, 1e-6
"""Of the size: how far joints of trees with trees and the world, others across parts, and those of swept lattices with
other bodies are closed, and from where on a step that does not close them says so."""
MAX_CLOSINGS = 12
"""How often the ends of a step are looked at, and its joints closed."""
TURNED = 2
"""Closings after which forces act as they do in the step's middle, and the next are compared with each other."""


class _Who(NamedTuple):
    """Relative velocities (k,) of laws: fast: of lattices, both: between them and slow bodies, law: of slow ones."""

    fast: Array
    both: Array
    law: Array


class _Response(NamedTuple):
    """A step of slow bodies in parts, what hangs together with lattices as it is without their sweep, and how it goes
    along beside it; no sides where there are no lattices."""

    split: SplitStep
    near: ContactSolution | None
    sides: SlowSides | None


@dataclass
class Partitioned:
    """dt: step of the scene [s]. implicit: options of implicit Euler, whose step is dt; lattice: of the voxels;
    tree_steps: steps of the trees in one step of the scene.

    >>> import supple as sp
    >>> solver = sp.Partitioned(1 / 100, lattice=sp.LatticeSolver(safety=0.5))
    """

    dt: float = 1 / 100
    implicit: ImplicitEuler | None = field(default=None, kw_only=True)
    lattice: LatticeSolver | None = field(default=None, kw_only=True)
    tree_steps: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        check_dt(self.dt, "Partitioned")
        check_number(self.tree_steps, name="tree_steps", where="Partitioned", least=1, whole=True)
        self.implicit = ImplicitEuler(self.dt) if self.implicit is None else self.implicit
        self.lattice = LatticeSolver(self.dt) if self.lattice is None else self.lattice
        check_instance(self.implicit, ImplicitEuler, "the solver of implicit bodies", where="Partitioned, implicit")
        check_instance(self.lattice, LatticeSolver, "the solver of lattices", where="Partitioned, lattice")
        self.implicit.dt = self.lattice.dt = self.dt
        if self.implicit.newton:
            raise InputError("parts take linearised steps", where="Partitioned", fix="Use ImplicitEuler(newton=False).")
        self._prepared: tuple[System, int] | None = None
        self._has_warned = False
        self._tree_limit, self._warned = 0.0, set[str]()

    @property
    def residual_limit(self) -> float:
        """Largest relative residual of a step that is solved: of implicit bodies, of the passes of trees where there
        are any, the larger of both."""
        assert self.implicit is not None
        return max(self.implicit.residual_limit, self._tree_limit)

    def prepare(self, system: System) -> None:
        """Make a system of each part."""
        check_system(system, "Partitioned")
        across = self._across = Across.of(system)
        across.check_held(system)
        among = [across.is_among_trees(joint.slot) for joint in across.joints]
        self._closed = np.repeat(np.where(among, AMONG_TREES, CLOSED), [joint.rows.count for joint in across.joints])
        if set(across.part.values()) != {IMPLICIT}:
            refuse_restitution(system, "Partitioned")
        refuse_soft_restitution(system, "Partitioned")
        slow, self._fast = (
            SystemPart.of(system, [s for s in system.bodies if across.part[s.name] == kind], across.ids)
            for kind in (IMPLICIT, LATTICE)
        )
        trees = TreePart.of(system, self.tree_steps, self.dt, across.ids)
        self._tree_limit = trees.stride.residual_limit if trees.slots else 0.0
        self._warned = self._warned if self._prepared and self._prepared[0] is system else set()
        trees.stride.warned = self._warned
        self._slow: list[Part[State]] = [trees]
        if slow is not None and self.implicit is not None:
            self.implicit.prepare(slow.system)
            self._slow.insert(0, ImplicitPart(system, slow, self.implicit))  # begun while loads of trees are found
        self._leaving: frozenset[tuple[str, str]] = frozenset()
        if self._fast is not None and self.lattice is not None:
            nodes = [slot.node for slot in self._fast.system.bodies]
            known = known_obstacles(system.scene, nodes)
            self._leaving = frozenset((node.name, name) for node in nodes for name in known)
            self.lattice.world = LatticeWorld(known, None, system.scene.fluid)
            self.lattice.joints = across.swept
            self.lattice.prepare(self._fast.system)
            if known:
                system.memo[MET] = ObstaclesMet(partial(_obstacle_forces, self._fast, self.lattice))
            system.notes += [note for note in self.lattice.notes_beside() if note not in system.notes]
            self._surfaces = LatticeSurfaces.of(self._fast.system, system.contacts)
        self._parts = [
            np.array([across.part.get(name, FIXED) for name in c.names[: len(c.slots)]]) for c in system.contacts
        ]
        # the second thread is better used by trees than by bodies too small to be worked on by two
        voxels = 0 if self._fast is None else sum(slot.coordinates.count for slot in self._fast.system.bodies)
        self._is_shared = all(part.is_small for part in self._slow) and voxels < MANY_VOXELS
        self._touching_slots = hanging_on(slot for c in system.contacts for slot in c.slots) | across.hanging
        self._prepared = (system, system.revision)

    def rehearse(self) -> None:
        """What lattices do only where they are strained; nothing changes."""
        if self._fast is not None and self.lattice is not None:
            self.lattice.rehearse()

    @property
    def _swept_multipliers(self) -> Array:
        """Of joints that the sweep of lattices holds."""
        return np.zeros(0) if self._fast is None or self.lattice is None else self.lattice.multipliers

    @property
    def _contact_tolerance(self) -> float:
        assert self.implicit is not None
        return self.implicit.contact_tolerance

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        check_step(system, state, "Partitioned.step")
        if self._prepared != (system, system.revision):
            self.prepare(system)
        with sharing():
            return self._step(system, state)

    def _step(self, system: System, state: State) -> StepReport:
        is_shared = self._is_shared and numba.get_num_threads() > 1
        kin = system.propagate(state.t, state.x, state.v, state.memory, only=self._touching_slots)
        for part in self._slow:  # the search for contacts has kernels, during which a second thread may run Python
            part.look_ahead(state, is_shared=is_shared)
        with system.timings.measure("find contacts"):
            sets = [contact.find(kin, self.dt, state.memory, leaving=self._leaving) for contact in system.contacts]
        meeting = Meeting.of(system, kin, sets, self._parts, self._across, self.dt)
        slow, fast = meeting.has(IMPLICIT) | meeting.has(TREE), meeting.has(LATTICE)
        who = _Who(fast, slow & fast, slow & ~fast)
        pushes, ended = np.where(who.both[:, None], meeting.pushes, 0.0), ContactForces.none(meeting.count)
        velocity = np.zeros((meeting.count, 3))
        begun = self._begin(state, meeting, is_shared=is_shared)
        begun, response = self._respond(system, begun, who, pushes)
        found, opened, swept = self._solve(
            system, state, begun, who, response, pushes, ended, velocity, is_shared=is_shared
        )
        if found.left > self._contact_tolerance and not self._has_warned:
            self._has_warned = True
            begun.warn(who.law, pushes, found.left, state.t, self._contact_tolerance)
        ended.put(who.law, found.forces)
        report = self._finish(system, begun, state, ended.force, found)
        if swept is not None:  # its small steps are no iterations
            report = replace(report, outcome=max(report.outcome, swept.outcome, key=SEVERITY.index))
        if opened > OPEN and report.is_solved:
            report = replace(report, outcome=Outcome.JOINT_LIMIT)
        velocity[who.law] = found.velocity
        meeting.remember(ended, velocity, self.dt, state.memory)
        return report

    def _begin(self, state: State, meeting: Meeting, *, is_shared: bool = False) -> SlowStep:
        """The step of all parts but lattices."""
        return SlowStep.of(meeting, [part.begin(state, meeting, is_shared=is_shared) for part in self._slow], self.dt)

    def _respond(self, system: System, begun: SlowStep, who: _Who, pushes: Array) -> tuple[SlowStep, _Response]:
        """How slow bodies go beside lattices under forces (k, 3) [N]; with a definite stiffness where they would not
        yield."""
        with system.timings.measure("contacts of slow bodies"):
            split = SplitStep.of(begun, who.law, who.both)
            near = split.solve(pushes)
        if self._fast is None:
            return begun, _Response(split, near, None)
        with system.timings.measure("response of slow bodies"):
            sides = split.sides(who.fast, who.both, pushes, near)
            if begun.may_be_definite and not sides.give_way:
                begun = begun.definite()
                split = SplitStep.of(begun, who.law, who.both)
                near = split.solve(pushes)
                sides = split.sides(who.fast, who.both, pushes, near)
        return begun, _Response(split, near, sides)

    def _solve(
        self,
        system: System,
        state: State,
        begun: SlowStep,
        who: _Who,
        response: _Response,
        pushes: Array,
        ended: ContactForces,
        velocity: Array,
        *,
        is_shared: bool,
    ) -> tuple[ContactSolution, float, StepReport | None]:
        """Sweep the lattices and solve the slow bodies, with what they meet: into pushes, ended and velocity. Where
        other bodies do not end where a joint with a lattice had them, sweep again. Returns how far joints are open,
        over the size, and what the last sweep says, too."""
        (split, near, sides), meeting, size, swept, report = response, begun.meeting, extent_of(system), None, None
        solve_rest = split.solve_rest
        if sides is not None:
            if is_shared and split.rest:
                solve_rest = beside_if_free(solve_rest)
            with system.timings.measure("lattices"):
                swept, report = self._sweep(state, meeting, who.fast, sides)
        with system.timings.measure("contacts of slow bodies"):
            rest = solve_rest()
        for closing in range(MAX_CLOSINGS):
            if sides is not None:
                velocity[who.fast] = self._met(meeting, who.fast, ended)
            if who.both.any():
                pushes[who.both] = ended.force[who.both]
                with system.timings.measure("contacts of slow bodies"):
                    near = split.solve(pushes, near)
            with system.timings.measure("trees"):
                found, opened = self._close(system, state, begun, who.law, pushes, split.joined(near, rest))
                if closing == 0 and self._across.met_sides:  # forces now act as in the middle that was found
                    begun.reach(who.law, pushes, found)
            off = self._off(system, state, begun)
            furthest = float(np.abs(off).max(initial=0.0)) / size
            if sides is None or not furthest > SWEPT:
                break
            sides = sides.moved(off / self.dt)
            with system.timings.measure("lattices"):
                swept, report = self._sweep(state, meeting, who.fast, sides)
        if swept is not None and self._fast is not None:
            self._fast.put(swept, state)
            state.memory.update(swept.memory)
        return found, max(opened, furthest), report

    def _close(
        self, system: System, state: State, begun: SlowStep, law: Array, given: Array, found: ContactSolution
    ) -> tuple[ContactSolution, float]:
        """Step the coupled trees with the forces found; where joints are open at the end, which is not where the
        linearised step put it, with others, until they are closed. Returns how far they are open, over the size."""
        opened, best, secant = 0.0, (np.inf, found), None
        for closing in range(MAX_CLOSINGS):
            found = begun.closed(found)
            begun.reach(law, given, found)
            if begun.meeting.joints is None or found.held is None:
                break
            off = np.where(found.held.holds, begun.meeting.joints.violation(self._end(system, state, begun)), 0.0)
            opened = float(np.abs(off).max(initial=0.0)) / extent_of(system)
            is_closed = bool((np.abs(off) <= self._closed * extent_of(system)).all())
            best = min(best, (opened, found), key=lambda tried: tried[0])
            if is_closed or closing == MAX_CLOSINGS - 1:
                break
            secant = Secant.after(
                secant if closing >= TURNED else None, found.held.response.W, found.held.holds, off / self.dt
            )
            found = found.moved(secant.change)
        if best[0] < opened:  # joints that begin far apart: the nearest is taken
            opened, found = best
            begun.reach(law, given, found)
        return found, opened

    def _end(self, system: System, state: State, begun: SlowStep) -> Kinematics:
        """Where coupled points end, as they were reached last."""
        x = state.x.copy()
        begun.place_ends(x)
        return system.propagate(state.t + self.dt, x, state.v, only=self._across.hanging)

    def _sweep(self, state: State, meeting: Meeting, fast: Array, sides: SlowSides) -> tuple[State, StepReport]:
        """Sweep the lattices along the other sides of the contacts that are `fast`; returns their state and report."""
        assert self._fast is not None
        assert self.lattice is not None
        part = self._fast.state(state)
        part.memory = dict(part.memory)  # another sweep begins with the same
        self.lattice.contacts = self._surfaces.contacts(meeting.chosen(fast), sides) if fast.any() else None
        return part, self.lattice.step(self._fast.system, part)

    def _off(self, system: System, state: State, begun: SlowStep) -> Array:
        """How far points that joints hold to lattices end from where the sweep had them, (j, 3) [m]."""
        sides, lattice = self._across.met_sides, self.lattice
        if not sides or lattice is None or lattice.met is None:
            return np.zeros((0, 3))
        end, start = self._end(system, state, begun), begun.meeting
        x_0 = [c.law.x for c in start.coupled if isinstance(c.law, JointPoints)]
        ways = [end.x[side.index] - x for side, x in zip(sides, x_0)]
        return np.asarray(np.concatenate(ways) - lattice.met.joined)

    def _met(self, meeting: Meeting, fast: Array, ended: ContactForces) -> Array:
        """Take what swept lattices have met in the contacts `fast`; into these. Returns the mean relative velocities of
        these contacts (k, 3) [m/s]."""
        assert self.lattice is not None
        if fast.any():
            met = self.lattice.met
            assert met is not None
            ended.force[fast], ended.slip[fast], ended.mode[fast] = met.impulse / self.dt, met.slip, met.mode
            meeting.moments = np.zeros((meeting.count, 3))
            meeting.moments[fast] = met.moment / self.dt
            return np.asarray(met.way / self.dt + meeting.drift[fast])
        return np.zeros((0, 3))

    def _finish(
        self, system: System, begun: SlowStep, state: State, pushes: Array, found: ContactSolution
    ) -> StepReport:
        held = np.zeros(0) if found.held is None else found.held.p
        with system.timings.measure("ends of parts"):
            report = StepReport.joined(begun.finish(pushes, held))
        report = replace(report, iterations=found.iterations, steps=1, unconverged=None)
        if found.left > self._contact_tolerance and report.outcome is not Outcome.NOT_FINITE:
            report = replace(report, outcome=Outcome.CONTACT_LIMIT)
        if system.joints:
            inside = found.linear.multipliers / self.dt
            state.memory["multipliers"] = self._across.all_multipliers(system, inside, held, self._swept_multipliers)
        state.t += self.dt
        if not state.is_finite:
            return StepReport(Outcome.NOT_FINITE, report.iterations)
        return report


def _obstacle_forces(part: SystemPart, lattice: LatticeSolver, states: Sequence[State]) -> list[Touching]:
    """Where the lattices push obstacles that their sweep meets."""
    return lattice.obstacle_forces(part.system, [part.state(state) for state in states])
