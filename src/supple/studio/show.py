"""Show: the shapes of a running system for the canvas, and their rows at a state."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from supple.bodies.capabilities import Branching
from supple.bodies.carried import carriage_of, carriers_of
from supple.canvas import CarriedShape, Header, PointsShape, Shape, encode_frame, make_header
from supple.canvas.shapes import rigid_shape
from supple.exports.obstacles import obstacle_surface
from supple.exports.staging import domain_colours, is_ground, pose_row
from supple.exports.view import STONE
from supple.material.colour import PALETTE, rgb
from supple.record.files.obstacles import obstacles_of, poses_of
from supple.record.ground import ground_of
from supple.record.surfaces import Surface, make_surfaces
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray
Row = Callable[[State], Array]
FALL = 0.5
"""Room under bodies that hang, over the size of all of them."""


class Show:
    """What is seen of a system, as bytes."""

    def __init__(self, system: System, state: State) -> None:
        self.system, self.ground = system, ground_of(system)
        self.surfaces = surfaces = make_surfaces(system)
        bodies = [_body(s, rgb(PALETTE[k % len(PALETTE)])[None]) for k, s in enumerate(surfaces)]
        points = [s.points(state).astype(float) for s in surfaces]
        corners = np.concatenate([np.stack([x.min(axis=0), x.max(axis=0)]) for x in points if len(x)])
        self.box = np.stack([corners.min(axis=0), corners.max(axis=0)])
        if self.ground is None and system.gravity.any():
            self.box[0] += np.minimum(FALL * np.linalg.norm(self.box[1] - self.box[0]) * direction(system.gravity), 0.0)
        found = bodies + self._obstacles()
        self.shapes: list[Shape] = [shape for shape, _ in found]
        self._rows = [row for _, row in found]

    def header(self) -> Header:
        """What the canvas must know first."""
        return make_header(self.system.name, self.shapes, self.box, self.ground)

    def frame(self, state: State, step: int, number: int = 0) -> bytes:
        """All shapes at a state. number: of the frame."""
        return encode_frame(self.shapes, [row(state) for row in self._rows], number, step, state.t)

    def _obstacles(self) -> list[tuple[Shape, Row]]:
        low, high = self.box
        found: list[tuple[Shape, Row]] = []
        for number, obstacle in enumerate(obstacles_of(self.system)):
            if is_ground(obstacle, self.ground):
                continue
            nodes, triangles = obstacle_surface(obstacle, (low + high) / 2, float(np.linalg.norm(high - low)))
            shape = rigid_shape(obstacle.name, "obstacle", nodes, triangles, rgb(STONE)[None])
            found.append((shape, partial(self._pose_row, number)))
        return found

    def _pose_row(self, number: int, state: State) -> Array:
        return pose_row(poses_of(self.system, state.t)[number])


def _body(surface: Surface, plain: Array) -> tuple[Shape, Row]:
    colours = surface.colours if surface.colours is not None else plain
    carriers, shown, slot = carriers_of(surface.shown), surface.shown, surface.slot
    if carriers is not None and (len(colours) == 1 or len(carriers.kind) > 1):
        tint = colours if len(colours) == 1 else domain_colours(carriers, colours)
        parents = slot.body.domain_parents() if isinstance(slot.body, Branching) else None
        shape: Shape = CarriedShape(surface.name, "body", carriers, tint, parents)
        return shape, lambda state: carriage_of(shown, slot.view_x(state.x))
    is_balls = not len(surface.triangles)
    shape = PointsShape(
        surface.name, "body", surface.point_count, colours, surface.triangles, surface.lines, is_balls
    )  # fmt: skip
    return shape, surface.points


def direction(vector: Array) -> Array:
    """Of length one."""
    return np.asarray(vector) / np.linalg.norm(vector)
