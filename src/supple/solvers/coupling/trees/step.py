"""A step of the trees of a scene that has begun: where they are without forces of laws, and how they end with them."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.tree import PointSprings
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.solvers.coupling.shapes import Shapes
from supple.solvers.coupling.trees.halving import HalvedTree
from supple.solvers.coupling.trees.momentum import Pushes, keep_momentum
from supple.solvers.coupling.trees.springs import PulledTree
from supple.solvers.coupling.trees.touch import TreeTouch
from supple.solvers.methods.tree_solver import LEVEL

if TYPE_CHECKING:
    from supple.solvers.coupling.trees.part import TreePart

Array = np.ndarray


@dataclass(eq=False)
class TreeStep:
    """See `part_protocol.Step`. loads, springs, levels (how often the steps of trees are halved), ends, later (ends
    that a second thread finds), touched: by name."""

    part: TreePart
    state: State
    loads: dict[str, Array]
    springs: dict[str, PointSprings]
    levels: dict[str, int]
    velocity: Array
    start: Array
    rate: Array
    shapes: Shapes | None = None
    ends: dict[str, LocalState] = field(default_factory=dict)
    later: dict[str, Future[LocalState]] = field(default_factory=dict)
    touched: dict[str, TreeTouch] = field(default_factory=dict)

    def reach(self, pushes: Array, held: Array) -> None:
        """Step the trees that are coupled, with forces (k, 3) [N] on the first sides of the laws, (m,) on the rows of
        joints across parts; the state keeps its start."""
        for slot in self.part.slots:
            touch = self.touched.get(slot.name)
            if touch is None:
                continue
            x, v, load = slot.view_x(self.state.x), slot.view_v(self.state.v), self.loads.get(slot.name)
            acting = np.zeros_like(v) if load is None else load.copy()
            touch.points.linearize(x).add_transpose(touch.forces(pushes, held), acting)
            self.ends[slot.name] = self.advance(slot, LocalState(self.state.t, x.copy(), v.copy()), acting, euler=True)

    def place_ends(self, x_out: Array) -> None:
        """Write where coupled trees end, as they were reached last, to flat positions of the whole system."""
        for slot in self.part.slots:
            if slot.name in self.touched:
                slot.view_x(x_out)[:] = self.ends[slot.name].x

    def finish(self, pushes: Array, held: Array) -> None:
        """Take the step as it was reached last, with the same forces."""
        self.ends.update({name: end.result() for name, end in self.later.items()})
        for slot in self.part.slots:
            x, v = slot.view_x(self.state.x), slot.view_v(self.state.v)
            touch, load = self.touched.get(slot.name), self.loads.get(slot.name)
            before, end = LocalState(self.state.t, x.copy(), v.copy()), self.ends[slot.name]
            if touch is not None:
                force = touch.forces(pushes, held)
                if slot.node.body.model.is_free and slot.name not in self.springs:
                    pushed = Pushes(force, (touch.points.apply(before.x) + touch.points.apply(end.x)) / 2)
                    keep_momentum(slot.node.body, before, end, self.part.stride.dt, self.part.gravity, load, pushed)
            x[:], v[:] = end.x, end.v
            key, level = f"{slot.name}/{LEVEL}", self.levels[slot.name]
            if level or key in self.state.memory:
                self.state.memory[key] = np.array([float(level)])

    def advance(self, slot: Slot, now: LocalState, forces: Array | None, *, euler: bool) -> LocalState:
        """The state of a tree after the step, with forces (1, v_width) on its coordinates."""
        steps, body, springs = self.part.stride.steps, slot.node.body, self.springs.get(slot.name)
        gravity, h = self.part.gravity, self.part.stride.dt / steps
        if springs is not None and not euler:
            tree = PulledTree(body, self.part.pulls[slot.name], gravity, forces)
            end, self.levels[slot.name] = tree.advance(now, h, steps, self.levels[slot.name])
            return end
        if euler:
            return body.advance(now, h, steps=steps, gravity=gravity, forces=forces, springs=springs, euler=True)
        alone = HalvedTree(body, {"gravity": gravity, "forces": forces})
        halved = alone.advance(now, h, steps, self.levels[slot.name])
        self.levels[slot.name] = halved.level
        return halved.end
