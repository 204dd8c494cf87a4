"""Trees of reduced domains in a scene with other bodies: what they do without contacts, and how they answer to forces.

    u_0 = (x_1 - x_0) / h of touching points after a free step;   C = du / d(force), forces constant over the step

A tree that touches is stepped by implicit Euler, theta = 1, as the bodies are that it touches. The way of a midpoint
step is h (v_0 + v_1) / 2, so that a stiff contact would turn velocities round in every step. Joints and springs damp
less, see `theta`; a tree that is not coupled takes midpoint steps. A tree that flies freely ends all of them on the
momentum that what acts leaves it; laws act on its points, see `momentum`. From a tree whose root is fixed the ground
takes the rest.
"""

from __future__ import annotations

from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from supple.algebra.sparse.threefold import composed
from supple.bodies.body_protocol import Method
from supple.bodies.tree import PointSprings
from supple.bodies.tree.step.responses import point_shapes
from supple.bodies.tree.step.tree_sides import TreeSides
from supple.scene.parts import part_of
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.coupling.beside import beside
from supple.solvers.coupling.meeting import Meeting
from supple.solvers.coupling.shapes import BodyShapes
from supple.solvers.coupling.trees.halving import Halved, HalvedTree
from supple.solvers.coupling.trees.springs import PulledTree, WorldSprings, springs_at
from supple.solvers.coupling.trees.step import TreeStep, start_of
from supple.solvers.coupling.trees.theta import thetas
from supple.solvers.coupling.trees.touch import TreeTouch
from supple.solvers.methods.tree_solver import LEVEL, TreeSolver

Array = np.ndarray
LARGE = 1000
"""Coordinates from which a tree is worth a thread of its own."""


@dataclass(eq=False)
class TreePart:
    """The trees of a scene. system: the whole; slots: of their bodies in it; part: a system of trees alone. sides: of
    trees that were coupled before, by name. acting, ahead: what a second thread finds before contacts are known, loads
    and the ends of trees that were not coupled in the step before; coupled: the names of those that were."""

    system: System
    slots: list[Slot]
    part: System | None
    stride: TreeSolver
    sides: dict[str, TreeSides] = field(default_factory=dict)
    acting: Future[dict[str, Array]] | None = None
    ahead: dict[str, Future[Halved]] = field(default_factory=dict)
    coupled: frozenset[str] = frozenset()

    @classmethod
    def of(cls, system: System, steps: int, dt: float, without: frozenset[int] = frozenset()) -> TreePart:
        """Of all trees of a system; without: ids of what acts across parts."""
        slots = [slot for slot in system.bodies if slot.body.method is Method.ELIMINATION]
        part = part_of(system.scene, [slot.node for slot in slots], without).compile() if slots else None
        stride = TreeSolver(dt, steps=steps)
        if part is not None:
            stride.prepare(part)
        return cls(system, slots, part, stride)

    @property
    def is_small(self) -> bool:
        """Its kernels share a thread by themselves."""
        return True

    @property
    def gravity(self) -> Array:
        """(3,) [m/s²]."""
        return np.zeros(3) if self.part is None else self.part.gravity

    @property
    def _is_loaded(self) -> bool:
        return self.part is not None and self.stride.has_loads

    def look_ahead(self, state: State, *, is_shared: bool = False) -> None:
        """Begin to find what else acts on the trees, on a second thread where it is shared, before contacts are, and
        step large ones that are likely to stay free; where something touches one, that is done in vain."""
        self.acting = beside(partial(self._loads, state)) if is_shared and self._is_loaded else None
        self.ahead.clear()
        for slot in self.slots if is_shared else []:
            if slot.name not in self.coupled and self._is_worth_a_thread(slot):
                self.ahead[slot.name] = beside(partial(self._end_ahead, slot, state, self.acting))

    def _is_worth_a_thread(self, slot: Slot) -> bool:
        """Whether a tree is large, and the only one of its body, in whose workspace it is stepped."""
        body = slot.node.body
        return bool(body.model.coordinate_count >= LARGE) and sum(s.node.body is body for s in self.slots) == 1

    def _end_ahead(self, slot: Slot, state: State, acting: Future[dict[str, Array]] | None) -> Halved:
        """The end of a tree with loads that were asked for before, on the same thread."""
        return self._free_end(slot, state, {} if acting is None else acting.result())

    def _free_end(self, slot: Slot, state: State, loads: dict[str, Array]) -> Halved:
        """The step of a tree that is not coupled."""
        body, forces, now = slot.node.body, loads.get(slot.name), start_of(slot, state)
        steps, level = self.stride.steps, level_of(slot, state)
        if slot.name in self.pulls:
            pulled = PulledTree(body, self.pulls[slot.name], self.gravity, forces)
            return pulled.advance(now, self.stride.dt / steps, steps, level)
        tree = HalvedTree(body, {"gravity": self.gravity, "forces": forces}, slot.name in self._blown)
        return tree.advance(now, self.stride.dt / steps, steps, level)

    def begin(self, state: State, meeting: Meeting, *, is_shared: bool = False) -> TreeStep:
        """Step every tree without forces of laws, and ask those that are coupled how they answer to forces.

        is_shared: large trees that are not coupled are stepped on a second thread, until `finish` asks for them.
        """
        with self.system.timings.measure("trees, free"):
            return self._begin(state, meeting, is_shared=is_shared)

    def _begin(self, state: State, meeting: Meeting, *, is_shared: bool) -> TreeStep:
        k, m = meeting.count, 0 if meeting.joints is None else meeting.joints.count
        levels = {slot.name: level_of(slot, state) for slot in self.slots}
        step = TreeStep(
            self,
            state,
            meeting,
            self._loads(state) if self.acting is None else self.acting.result(),
            self._springs(state),
            levels,
            np.zeros((k, 3)),
            np.zeros((k, 3)),
            np.zeros(m),
        )
        step.touched = {s.name: touch for s in self.slots if (touch := TreeTouch.of(s, meeting)) is not None}
        step.theta = thetas(self.slots, step.touched, meeting)
        self.coupled = frozenset(step.touched)
        for slot in self.slots:
            ahead, work = self.ahead.pop(slot.name, None), partial(self._free_end, slot, state, step.loads)
            if slot.name in step.touched:
                wait([] if ahead is None else [ahead])  # it is in the workspace
            elif ahead is not None:
                step.later[slot.name] = ahead
            elif is_shared and self._is_worth_a_thread(slot):
                step.later[slot.name] = beside(work)
            else:
                step.take(slot.name, work())
        for slot in step.coupled:
            step.free[slot.name] = step.begin_coupled(slot)
            step.take(slot.name, step.free[slot.name])
        step.find_middle()
        step.shapes = [self._couple(step, slot) for slot in step.coupled]
        return step

    def _couple(self, step: TreeStep, slot: Slot) -> BodyShapes:
        """Add how the coupled points of a tree move to a step; their shapes."""
        touch, now, h = step.touched[slot.name], step.now(slot), self.stride.dt
        end, middle = step.ends[slot.name], step.middle[slot.name]
        tangent = touch.points.linearize(now.x)
        moved = (touch.points.apply(end.x) - tangent.positions()) / h
        step.velocity += (touch.weights @ moved.ravel()).reshape(-1, 3)
        step.start += (touch.weights @ tangent.product(now.v).ravel()).reshape(-1, 3)
        step.rate += touch.joints @ moved.ravel()
        body = slot.node.body
        shapes = point_shapes(
            body.dynamics,
            touch.points,
            body.unpack(now.x, now.v),
            middle,
            h,
            gravity=self.gravity,
            sides=self.sides_of(slot),
            theta=step.theta[slot.name],
        )
        return composed(touch.weights, shapes.B), composed(touch.joints, shapes.B), shapes.starts, shapes.Y / h

    def sides_of(self, slot: Slot) -> TreeSides:
        """What makes rows on a tree as its kernels take them, kept."""
        tree = slot.node.body.dynamics
        if slot.name not in self.sides or self.sides[slot.name].tree is not tree:
            self.sides[slot.name] = TreeSides(tree)
        return self.sides[slot.name]

    @property
    def pulls(self) -> dict[str, list[WorldSprings]]:
        """Springs to the world, which a tree's steps solve, by name."""
        bodies = [] if self.part is None else self.part.bodies
        return {slot.name: self.stride.pulls[slot.index] for slot in bodies if slot.index in self.stride.pulls}

    @cached_property
    def _blown(self) -> frozenset[str]:
        """The names of trees on which a wind acts."""
        bodies = [] if self.part is None else self.part.bodies
        return frozenset(slot.name for slot in bodies if slot.index in self.stride.blown)

    def _part_state(self, state: State) -> State:
        """The part of a state that is of trees."""
        x = np.concatenate([slot.view_x(state.x).ravel() for slot in self.slots])
        v = np.concatenate([slot.view_v(state.v).ravel() for slot in self.slots])
        return State(state.t, x, v)

    def _springs(self, state: State) -> dict[str, PointSprings]:
        """The laws of springs to the world at the state, by name."""
        pulls = self.pulls
        if self.part is None or not pulls:
            return {}
        now = self._part_state(state)
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


def level_of(slot: Slot, state: State) -> int:
    """How often the steps of a tree were halved last."""
    return int(state.memory.get(f"{slot.name}/{LEVEL}", np.zeros(1))[0])
