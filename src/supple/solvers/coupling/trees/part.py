"""Trees of reduced domains in a scene with other bodies: what they do without contacts, and how they answer to forces.

    u_0 = (x_1 - x_0) / h of touching points after a free step;   C = du / d(force), forces constant over the step

A tree that touches is stepped by implicit Euler, theta = 1, as the bodies are that it touches. The way of a midpoint
step is h (v_0 + v_1) / 2, so that a stiff contact would turn velocities round in every step. A tree that touches
nothing takes midpoint steps. A tree that flies freely ends both on the momentum that what acts leaves it; contacts act
on its points, see `momentum`. From a tree whose root is fixed the ground takes the rest.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from supple.bodies.body_protocol import Method
from supple.bodies.protocols import LocalState
from supple.bodies.tree import PointSprings
from supple.bodies.tree.step.responses import PointShapes, point_shapes
from supple.bodies.tree.tied_run import TreeSides
from supple.scene.parts import part_of
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.coupling.beside import beside
from supple.solvers.coupling.meeting import Meeting
from supple.solvers.coupling.shapes import Shapes
from supple.solvers.coupling.trees.halving import HalvedTree
from supple.solvers.coupling.trees.momentum import Pushes, keep_momentum
from supple.solvers.coupling.trees.springs import PulledTree, WorldSprings, springs_at
from supple.solvers.coupling.trees.touch import TreeTouch
from supple.solvers.methods.tree_solver import LEVEL, TreeSolver

Array = np.ndarray
LARGE = 1000
"""Coordinates from which a tree is worth a thread of its own."""


class TreePrediction(NamedTuple):
    """velocity (k, 3) [m/s]: what points of trees contribute to the relative velocities of laws, without their forces;
    rate (m,): to the rates of joints' rows. shapes: how both change with forces; None where no tree is coupled. start
    (k, 3) [m/s]: what they contribute at the start of the step."""

    velocity: Array
    rate: Array
    shapes: Shapes | None
    start: Array


@dataclass(eq=False)
class TreePart:
    """The trees of a scene. slots: of their bodies in the whole system; part: a system of trees alone.

    ends, later, touched, loads, springs, levels (how often the steps of pulled trees are halved): of the step that is
    being taken, by name; sides: of trees that touched before.
    """

    slots: list[Slot]
    part: System | None
    stride: TreeSolver
    ends: dict[str, LocalState] = field(default_factory=dict)
    later: dict[str, Future[LocalState]] = field(default_factory=dict)
    touched: dict[str, TreeTouch] = field(default_factory=dict)
    loads: dict[str, Array] = field(default_factory=dict)
    springs: dict[str, PointSprings] = field(default_factory=dict)
    levels: dict[str, int] = field(default_factory=dict)
    sides: dict[str, TreeSides] = field(default_factory=dict)

    @classmethod
    def of(cls, system: System, steps: int, dt: float, without: frozenset[int] = frozenset()) -> TreePart:
        """Of all trees of a system; without: ids of what acts across parts."""
        slots = [slot for slot in system.bodies if slot.body.method is Method.ELIMINATION]
        part = part_of(system.scene, [slot.node for slot in slots], without).compile() if slots else None
        stride = TreeSolver(dt, steps=steps)
        if part is not None:
            stride.prepare(part)
        return cls(slots, part, stride)

    def predict(self, state: State, meeting: Meeting, *, is_shared: bool = False) -> TreePrediction:
        """Step every tree without contacts, and ask those that touch how they answer to forces.

        is_shared: large trees that touch nothing are stepped on a second thread, until `finish` asks for them.
        """
        velocity, start, parts = np.zeros((meeting.count, 3)), np.zeros((meeting.count, 3)), []
        rate = np.zeros(0 if meeting.joints is None else meeting.joints.count)
        self.ends, self.touched, self.later = {}, {}, {}
        self.loads, self.springs = self._loads(state), self._springs(state)
        self.levels = {s.name: int(state.memory.get(f"{s.name}/{LEVEL}", np.zeros(1))[0]) for s in self.slots}
        touches = {slot.name: touch for slot in self.slots if (touch := TreeTouch.of(slot, meeting)) is not None}
        used = [slot.node.body for slot in self.slots if slot.name in touches]
        for slot in sorted(self.slots, key=lambda slot: slot.name in touches):
            touch, body = touches.get(slot.name), slot.node.body
            x, v = slot.view_x(state.x), slot.view_v(state.v)
            now = LocalState(state.t, x, v)
            work = partial(self._advance, slot, now, self.loads.get(slot.name), euler=touch is not None)
            if touch is None:
                if is_shared and body not in used and body.model.coordinate_count >= LARGE:
                    self.later[slot.name] = beside(work)
                else:
                    self.ends[slot.name] = work()
                continue
            end = work()
            self.touched[slot.name] = touch
            tangent = touch.points.linearize(x)
            moved = (touch.points.apply(end.x) - tangent.positions()) / self.stride.dt
            velocity += (touch.weights @ moved.ravel()).reshape(-1, 3)
            start += (touch.weights @ tangent.product(v).ravel()).reshape(-1, 3)
            rate += touch.joints @ moved.ravel()
            shapes = self._shapes(slot, touch, x, v)
            parts.append((touch.weights @ shapes.B, touch.joints @ shapes.B, shapes.starts, shapes.Y))
        return TreePrediction(velocity, rate, Shapes.joined(parts), start)

    def reach(self, state: State, pushes: Array, held: Array) -> None:
        """Step the trees that are coupled, with forces (k, 3) [N] on the first sides of the laws, (m,) on the rows of
        joints across parts; the state keeps its start."""
        for slot in self.slots:
            touch = self.touched.get(slot.name)
            if touch is None:
                continue
            x, v, load = slot.view_x(state.x), slot.view_v(state.v), self.loads.get(slot.name)
            acting = np.zeros_like(v) if load is None else load.copy()
            touch.points.linearize(x).add_transpose(touch.forces(pushes, held), acting)
            self.ends[slot.name] = self._advance(slot, LocalState(state.t, x.copy(), v.copy()), acting, euler=True)

    def place_ends(self, x_out: Array) -> None:
        """Write where coupled trees end, as they were reached last, to flat positions of the whole system."""
        for slot in self.slots:
            if slot.name in self.touched:
                slot.view_x(x_out)[:] = self.ends[slot.name].x

    def finish(self, state: State, pushes: Array, held: Array) -> None:
        """Take the step as it was reached last, with the same forces."""
        self.ends.update({name: end.result() for name, end in self.later.items()})
        for slot in self.slots:
            x, v = slot.view_x(state.x), slot.view_v(state.v)
            touch, load = self.touched.get(slot.name), self.loads.get(slot.name)
            before, end = LocalState(state.t, x.copy(), v.copy()), self.ends[slot.name]
            if touch is not None:
                force = touch.forces(pushes, held)
                if slot.node.body.model.is_free and slot.name not in self.springs and self.part is not None:
                    pushed = Pushes(force, (touch.points.apply(before.x) + touch.points.apply(end.x)) / 2)
                    keep_momentum(slot.node.body, before, end, self.stride.dt, self.part.gravity, load, pushed)
            x[:], v[:] = end.x, end.v
            key, level = f"{slot.name}/{LEVEL}", self.levels[slot.name]
            if level or key in state.memory:
                state.memory[key] = np.array([float(level)])

    def _advance(self, slot: Slot, now: LocalState, forces: Array | None, *, euler: bool) -> LocalState:
        steps, body, springs = self.stride.steps, slot.node.body, self.springs.get(slot.name)
        gravity, h = np.zeros(3) if self.part is None else self.part.gravity, self.stride.dt / steps
        if springs is not None and not euler:
            tree = PulledTree(body, self.pulls[slot.name], gravity, forces)
            end, self.levels[slot.name] = tree.advance(now, h, steps, self.levels[slot.name])
            return end
        if euler:
            return body.advance(now, h, steps=steps, gravity=gravity, forces=forces, springs=springs, euler=True)
        alone = HalvedTree(body, {"gravity": gravity, "forces": forces})
        halved = alone.advance(now, h, steps, self.levels[slot.name])
        self.levels[slot.name] = halved.level
        return halved.end

    @property
    def pulls(self) -> dict[str, list[WorldSprings]]:
        """Springs to the world, which a tree's steps solve, by name."""
        bodies = [] if self.part is None else self.part.bodies
        return {slot.name: self.stride.pulls[slot.index] for slot in bodies if slot.index in self.stride.pulls}

    def _part_state(self, state: State) -> State:
        """The part of a state that is of trees."""
        x = np.concatenate([slot.view_x(state.x).ravel() for slot in self.slots])
        v = np.concatenate([slot.view_v(state.v).ravel() for slot in self.slots])
        return State(state.t, x, v)

    def _springs(self, state: State) -> dict[str, PointSprings]:
        """The laws of springs to the world at the state, by name."""
        if self.part is None:
            return {}
        now, pulls = self._part_state(state), self.pulls
        return {
            slot.name: springs_at(pulls[slot.name], slot.node.body, slot.view_x(now.x))
            for slot in self.part.bodies
            if slot.name in pulls
        }

    def _loads(self, state: State) -> dict[str, Array]:
        """What else acts on the coordinates of the trees, by name."""
        if self.part is None:
            return {}
        loads = self.stride.loads(self.part, self._part_state(state))
        return {} if loads is None else {slot.name: loads[slot.index] for slot in self.part.bodies}

    def _shapes(self, slot: Slot, touch: TreeTouch, x: Array, v: Array) -> PointShapes:
        """How the coupled points of a tree move with unit forces on its shapes, Y in [m/s/N]."""
        body, h = slot.node.body, self.stride.dt
        gravity = np.zeros(3) if self.part is None else self.part.gravity
        if slot.name not in self.sides or self.sides[slot.name].tree is not body.dynamics:
            self.sides[slot.name] = TreeSides(body.dynamics)
        now, sides = body.unpack(x, v), self.sides[slot.name]
        shapes = point_shapes(body.dynamics, touch.points, now, x, h, gravity=gravity, sides=sides)
        return shapes._replace(Y=shapes.Y / h)
