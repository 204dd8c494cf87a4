"""A step of the trees of a scene that has begun: where they are without forces of laws, and how they end with them.

Forces on points of a tree are constant over the step. They act on its coordinates as in the state in which its
equations hold, x_0 + theta (x_1 - x_0), x_1 being the end that was reached before; with theta = 1 as at the start, with
the other bodies that implicit Euler steps. See `theta`, `middle` and `projection` for joints, `momentum` for both.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.tree import PointSprings
from supple.errors import ConvergenceError, DivergenceError
from supple.scene.kinematics import Kinematics, hanging_on
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.solvers.coupling.meeting import Meeting
from supple.solvers.coupling.shapes import BodyShapes
from supple.solvers.coupling.trees.halving import CALM, HALVINGS, UNSETTLED, Halved, left_open, outcome_of, unsettled
from supple.solvers.coupling.trees.middle import joints_between
from supple.solvers.coupling.trees.momentum import keep_momentum
from supple.solvers.coupling.trees.projection import project_velocities
from supple.solvers.coupling.trees.theta import EULER
from supple.solvers.coupling.trees.touch import TreeTouch
from supple.solvers.coupling.trees.wrenches import joint_wrenches, law_wrenches
from supple.solvers.methods.tree_solver import LEVEL
from supple.solvers.report import StepReport

if TYPE_CHECKING:
    from supple.solvers.coupling.trees.part import TreePart

Array = np.ndarray
TURNING = 2
"""Before which time that the end is reached the middle is found anew; it is found first without forces of laws."""


@dataclass(eq=False)
class TreeStep:
    """See `part_protocol.Step`. loads, springs, levels (how often the steps of trees are halved), ends, changes (how
    unsettled the steps to them seemed), acting (the forces of the last one), free (coupled trees without forces of
    laws), later (what a second thread finds), touched, theta and middle (1, width) (coordinates at which forces act),
    of trees that are coupled: by name. joints: those of the meeting, as they act in the middle of the step; reaches:
    how often its end was found; known: where the joints' points are, see `kinematics_at`."""

    part: TreePart
    state: State
    meeting: Meeting
    loads: dict[str, Array]
    springs: dict[str, PointSprings]
    levels: dict[str, int]
    velocity: Array
    start: Array
    rate: Array
    shapes: list[BodyShapes] = field(default_factory=list)
    ends: dict[str, LocalState] = field(default_factory=dict)
    changes: dict[str, float] = field(default_factory=dict)
    acting: dict[str, Array | None] = field(default_factory=dict)
    free: dict[str, Halved] = field(default_factory=dict)
    later: dict[str, Future[Halved]] = field(default_factory=dict)
    touched: dict[str, TreeTouch] = field(default_factory=dict)
    theta: dict[str, float] = field(default_factory=dict)
    middle: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.joints, self.reaches = self.meeting.joints, 0
        self.known: dict[str, Kinematics] = {}

    @cached_property
    def joint_slots(self) -> frozenset[int]:
        """Indices of the slots of the joints' points, and of all that they hang on."""
        return hanging_on(joint.slot for joint in ([] if self.joints is None else self.joints.joints))

    def now(self, slot: Slot) -> LocalState:
        """The start of a tree."""
        return start_of(slot, self.state)

    @property
    def coupled(self) -> list[Slot]:
        """The trees that are."""
        return [slot for slot in self.part.slots if slot.name in self.touched]

    def take(self, name: str, found: Halved) -> None:
        """Let a tree end so."""
        self.ends[name], self.levels[name], self.changes[name] = found

    def rows(self) -> None:
        """Its unknowns are its own: it yields by shapes."""

    def reach(self, pushes: Array, held: Array, unknowns: object = None) -> None:
        """Step the trees that are coupled, with forces (k, 3) [N] on the first sides of the laws, (m,) on the rows of
        joints across parts; the state keeps its start."""
        self.reaches += 1
        if self.reaches == TURNING:
            self.find_middle()
        for slot in self.coupled:
            touch, now, load = self.touched[slot.name], self.now(slot), self.loads.get(slot.name)
            acting, middle = np.zeros_like(now.v), self.middle[slot.name]
            forces = touch.forces(pushes, held)
            self.acting[slot.name] = load
            if not forces.any():  # as it began
                self.take(slot.name, self.free[slot.name])
                continue
            touch.points.linearize(middle).add_transpose(forces, acting)
            turned = rotations.rotate(middle[0, 3:7], acting[0, 3:6])
            acting[0, 3:6] = rotations.rotate_inverse(now.x[0, 3:7], turned)
            self.acting[slot.name] = acting if load is None else acting + load
            self.take(slot.name, self._coupled_end(slot, now, self.acting[slot.name]))

    def find_middle(self) -> None:
        """Let forces act on trees as in the middle of the step as it was reached last."""
        for slot in self.coupled:
            x, theta = slot.view_x(self.state.x), self.theta[slot.name]
            if theta == EULER:
                self.middle[slot.name] = x.copy()
                continue
            moved = slot.coordinates.difference(x, self.ends[slot.name].x)
            self.middle[slot.name] = slot.coordinates.retract(x, theta * moved)
        if self.joints is not None:
            self.joints = joints_between(self)
            for slot in self.coupled:
                self.touched[slot.name] = self.touched[slot.name].with_joints(slot, self.joints)

    def place_ends(self, x_out: Array) -> None:
        """Write where coupled trees end, as they were reached last, to flat positions of the whole system."""
        for slot in self.coupled:
            slot.view_x(x_out)[:] = self.ends[slot.name].x

    def finish(self, pushes: Array, held: Array) -> StepReport:
        """Take the step as it was reached last, with the same forces."""
        for name, found in self.later.items():
            self.take(name, found.result())
        self._keep_momenta(pushes, held)
        project_velocities(self, held)
        report = self._report()
        for slot in self.part.slots:
            end = self.ends[slot.name]
            slot.view_x(self.state.x)[:], slot.view_v(self.state.v)[:] = end.x, end.v
            key, level = f"{slot.name}/{LEVEL}", self.levels[slot.name]
            if level or key in self.state.memory:
                self.state.memory[key] = np.array([float(level)])
        return report

    def _report(self) -> StepReport:
        """Of all trees; warns once of each that stays unsettled."""
        stride, worst = self.part.stride, 0.0
        for slot in self.part.slots:
            name, is_coupled = slot.name, slot.name in self.touched
            change = self._left_open(slot) if is_coupled else self.changes[name]
            is_pulled, halvings = name in self.springs and not is_coupled, self._halvings(name) if is_coupled else None
            stride.look(name, np.array([change]), [self.state.t + stride.dt], is_pulled=is_pulled, halvings=halvings)
            worst = max(worst, change)
        return StepReport(outcome_of(worst), 0, residual=worst)

    def _keep_momenta(self, pushes: Array, held: Array) -> None:
        """Let trees that fly freely end on the momentum that what acts leaves them."""
        free = [slot for slot in self.coupled if slot.node.body.model.is_free and slot.name not in self.springs]
        if not free:
            return
        by_laws, by_joints = law_wrenches(self, pushes), joint_wrenches(self, held)
        for slot in free:
            body, load, end = slot.node.body, self.loads.get(slot.name), self.ends[slot.name]
            wrench = by_laws[slot.name] + by_joints.get(slot.name, 0.0)
            keep_momentum(body, self.now(slot), end, self.part.stride.dt, self.part.gravity, load, wrench)

    def begin_coupled(self, slot: Slot) -> Halved:
        """The step of a coupled tree without forces of laws; finds how often it is halved. Implicit Euler's is not."""
        found = self._tried(slot)
        if self.theta[slot.name] == EULER:
            return found
        while found.change > UNSETTLED and self.levels[slot.name] < HALVINGS:
            self.levels[slot.name] += 1
            found = self._tried(slot)
        if found.change < CALM and self.levels[slot.name] > 0:
            self.levels[slot.name] -= 1
            longer = self._tried(slot)
            if longer.change <= UNSETTLED:
                return longer
            self.levels[slot.name] += 1
        return found

    def _tried(self, slot: Slot) -> Halved:
        """The same as often halved as it is now."""
        now, level = self.now(slot), self.levels[slot.name]
        try:
            return self._coupled_end(slot, now, self.loads.get(slot.name))
        except (ConvergenceError, DivergenceError):
            if level == HALVINGS or self.theta[slot.name] == EULER:
                raise
            return Halved(now, level, np.inf)

    def _halvings(self, name: str) -> int:
        """How often the steps of a coupled tree are halved."""
        return 0 if self.theta[name] == EULER else self.levels[name]

    def _coupled_end(self, slot: Slot, now: LocalState, forces: Array | None) -> Halved:
        """The step of a coupled tree, with forces (1, v_width) on its coordinates."""
        h, acting = self._substeps(slot, forces)
        end: LocalState = slot.node.body.advance(now, h, **acting)
        return Halved(end, self.levels[slot.name], unsettled(slot.node.body))

    def _left_open(self, slot: Slot) -> float:
        """How unsettled the step of a coupled tree is as it was reached last."""
        h, acting = self._substeps(slot, self.acting.get(slot.name, self.loads.get(slot.name)))
        return left_open(slot.node.body, self.changes[slot.name], self.now(slot), h, acting)

    def _substeps(self, slot: Slot, forces: Array | None) -> tuple[float, dict[str, Any]]:
        """Length [s] of the steps of a coupled tree, and all else that `TreeBody.advance` takes."""
        steps = self.part.stride.steps * 2 ** self._halvings(slot.name)
        given = {"gravity": self.part.gravity, "forces": forces, "springs": self.springs.get(slot.name)}
        return self.part.stride.dt / steps, {"steps": steps, "theta": self.theta[slot.name], **given}


def start_of(slot: Slot, state: State) -> LocalState:
    """A tree as a state has it."""
    return LocalState(state.t, slot.view_x(state.x).copy(), slot.view_v(state.v).copy())
