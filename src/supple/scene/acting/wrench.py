"""Wrench: a given force and torque on frames, a rigid body or voxels, in world axes.

Frames take torque in their own axes, t_b = R^T t; when a frame turns by p in its axes, t_b changes by t_b × p.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_vector
from supple.bodies.coordinates import Frames
from supple.bodies.protocols import LocalState, Pairs
from supple.errors import InputError, check_instance
from supple.scene.node import Node, Selector

Array = np.ndarray
Given = ArrayLike | Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False)
class Wrench:
    """A total force (3,) [N] and torque (3,) [N m] in world axes, shared equally by the chosen frames; or functions of
    time [s].

    node: a rigid body or a voxel body in the scene. selector: which voxels, as in `node.points`; None: all.

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
        if not (self.node.is_frame or body.coordinates.x_width == Frames.x_width):
            raise InputError(
                "a wrench acts on rigid bodies and voxels",
                where=f"node '{self.node.name}'",
                value=body.kind,
                fix="Use a Load on points.",
            )
        _ = self.indices
        self.total(0.0)

    @property
    def on(self) -> Node:
        """The node it acts on."""
        return self.node

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
        start = self.node.row_starts(self.selector)
        return -float(self.total(state.t)[0] @ (state.x[self.indices, :3] - start).mean(axis=0))

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f += (force, R^T torque)."""
        force, torque = (part / len(self.indices) for part in self.total(state.t))
        f_out[self.indices, :3] += force
        f_out[self.indices, 3:6] += rotations.rotate_inverse(state.x[self.indices, 3:7], torque)

    def linearize(self, state: LocalState, *, definite: bool = False) -> WrenchTangent:
        """How the torque in body axes changes when the frames turn; a definite one leaves it out."""
        torque = self.total(state.t)[1] / len(self.indices)
        own = rotations.rotate_inverse(state.x[self.indices, 3:7], torque)
        return WrenchTangent(self.indices, np.zeros((len(own), 3, 3)) if definite else rotations.skew(own))

    def block_pattern(self) -> Pairs:
        """One angular block a frame."""
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
