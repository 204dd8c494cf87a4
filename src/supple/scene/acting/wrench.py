"""Wrench: a given force and torque in world axes, on frames, a rigid body or voxels, or on a section of a solid.

Frames take torque in their own axes, t_b = R^T t; when a frame turns by p in its axes, t_b changes by t_b × p.

A section of a solid has a frame that follows its points (`scene.mapped.patch_frame`), with an origin o and tips o + d_i
of three axes of unit length. Forces t × d_i / 2 on the tips, and the opposite of their sum on o, have the torque

    sum d_i × (t × d_i) / 2 = (3 t - t) / 2 = t

and no force; the frame shares them out among the points of the section.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_vector
from supple.bodies.coordinates import Frames, Points
from supple.bodies.protocols import LocalState, Pairs
from supple.errors import InputError, check_instance
from supple.scene.joints.sides import held_side
from supple.scene.mapped.points import Points as Points_
from supple.scene.node import Node, Selector

Array = np.ndarray
Given = ArrayLike | Callable[[float], ArrayLike]
SECTION_ROWS = np.array([0, 0, 0, 0, 1, 2, 3, 1, 2, 3])
SECTION_COLUMNS = np.array([0, 1, 2, 3, 0, 0, 0, 1, 2, 3])
"""Blocks of a section's four points that depend on each other."""


@dataclass(frozen=True, eq=False)
class Wrench:
    """A total force (3,) [N] and torque (3,) [N m] in world axes, shared equally by the chosen frames, or acting on the
    middle of a section and about it; or functions of time [s].

    node: a rigid body, a voxel body, or a solid or particles in the scene. selector: which voxels or nodes, as in
    `node.points`; None: all.

    >>> # scene.add(sp.Wrench(beam, "x_max", torque=(0.01, 0, 0)))
    """

    node: Node
    selector: Selector = None
    force: Given = (0.0, 0.0, 0.0)
    torque: Given = (0.0, 0.0, 0.0)
    is_load = True

    def __post_init__(self) -> None:
        check_instance(self.node, Node, "a body in the scene", where="Wrench", fix="Give what scene.add returned.")
        body = self.node.held_body
        if not self.is_on_frames and body.coordinates.x_width != Points.x_width:
            raise InputError(
                "a wrench acts on rigid bodies, voxels, solids and particles",
                where=f"node '{self.node.name}'",
                value=body.kind,
                fix="Use a Load on points.",
            )
        _ = self.on
        self.total(0.0)

    @property
    def is_on_frames(self) -> bool:
        """Whether it acts on frames, not on a section."""
        return self.node.is_frame or self.node.held_body.coordinates.x_width == Frames.x_width

    @cached_property
    def on(self) -> Node | Points_:
        """What it acts on: the node, or four points, the middle of the section and the tips of its axes."""
        if self.is_on_frames:
            _ = self.indices
            return self.node
        middle = self.node.rest[self.node.indices(self.selector)].mean(axis=0)
        return held_side(self.node, np.vstack([middle, middle + np.eye(3)]), "wrench", self.node.indices(self.selector))

    @cached_property
    def indices(self) -> Array:
        """The frames it acts on."""
        return self.node.coordinate_rows(self.selector)

    def total(self, t: float) -> tuple[Array, Array]:
        """Force [N] and torque [N m] at time t."""
        where = f"wrench on '{self.node.name}', t = {t:g} s"

        def value(given: Given, name: str) -> Array:
            return check_vector(given(t) if callable(given) else given, name=name, where=where)

        return value(self.force, "force"), value(self.torque, "torque")

    def energy(self, state: LocalState) -> float:
        """Potential of a constant force [J], zero at the start; a torque has none."""
        if callable(self.force):
            return 0.0
        if not self.is_on_frames:
            return -float(self.total(state.t)[0] @ (state.x[0] - self.on.rest[0]))
        start = self.node.row_starts(self.selector)
        return -float(self.total(state.t)[0] @ (state.x[self.indices, :3] - start).mean(axis=0))

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f += (force, R^T torque), or the forces on the tips of a section."""
        if not self.is_on_frames:
            force, torque = self.total(state.t)
            turning = 0.5 * np.cross(torque, state.x[1:] - state.x[0])
            f_out[1:] += turning
            f_out[0] += force - turning.sum(axis=0)
            return
        force, torque = (part / len(self.indices) for part in self.total(state.t))
        f_out[self.indices, :3] += force
        f_out[self.indices, 3:6] += rotations.rotate_inverse(state.x[self.indices, 3:7], torque)

    def linearize(self, state: LocalState, *, definite: bool = False) -> WrenchTangent | SectionTangent:
        """How the torque in body axes, or the forces on a section, change when these turn; a definite one leaves it
        out."""
        if not self.is_on_frames:
            return SectionTangent(np.zeros((3, 3)) if definite else 0.5 * rotations.skew(self.total(state.t)[1]))
        torque = self.total(state.t)[1] / len(self.indices)
        own = rotations.rotate_inverse(state.x[self.indices, 3:7], torque)
        return WrenchTangent(self.indices, np.zeros((len(own), 3, 3)) if definite else rotations.skew(own))

    def block_pattern(self) -> Pairs:
        """One angular block a frame; of a section, each tip with itself and with the middle."""
        if not self.is_on_frames:
            return SECTION_ROWS, SECTION_COLUMNS
        return 2 * self.indices + 1, 2 * self.indices + 1


@dataclass(frozen=True, eq=False)
class WrenchTangent:
    """blocks (k, 3, 3) = d(torque)/d(turn) of frames indices (k,)."""

    indices: Array
    blocks: Array

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df += stiffness K dv."""
        df_out[self.indices, 3:6] += stiffness * np.einsum("kij,kj->ki", self.blocks, dv[self.indices, 3:6])

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble stiffness K."""
        data_out[positions] += stiffness * self.blocks


@dataclass(frozen=True, eq=False)
class SectionTangent:
    """turning (3, 3): d(force on a tip) / d(tip - middle), the same of all three; the middle has the opposite."""

    turning: Array

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df += stiffness K dv."""
        change = stiffness * (dv[1:] - dv[0]) @ self.turning.T
        df_out[1:] += change
        df_out[0] -= change.sum(axis=0)

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble stiffness K."""
        weights = np.array([3.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0])
        data_out[positions] += stiffness * weights[:, None, None] * self.turning
