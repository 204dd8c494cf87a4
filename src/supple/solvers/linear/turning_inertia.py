"""How inertia turns with frames, for the matrix of Newton's method.

    r(u) = I(u) - c f(x(u), v(u)) - c G^T l,       x = x0 moved by d(u),   dd/du = w
    y: moves of x over w in its own axes,          dy = T du,   T = dexp(theta) on the turns theta of d, 1 elsewhere
    dr/dy = (dI/du) T^-1 - c (w df/dx + ...)

I is the inertia of the rule, such as M (v1 - v0) with momentum turned into the axes of the end. (dI/du) T^-1 stands in
the matrix in place of the mass, so that what forces and joints have in it, by moves in the axes at x, is exact; the
damping of frames is by T du = du. dI/du is found by central differences of the bodies' own inertia, all frames of one
kind at once. Bodies with hundreds of coordinates, such as layered ones, keep their mass, and all do where no frame
turns by more than `LITTLE`: each iteration then leaves that part of the residual.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from supple.algebra.dense import rotations
from supple.bodies.protocols import is_changing
from supple.scene.kinematics import Kinematics
from supple.scene.slots import Slot
from supple.scene.system import System

Array = np.ndarray
WIDEST = 66
"""Coordinates of a body up to which its inertia is differentiated."""
LITTLE = 0.03
"""[rad] Turn of a frame in a step that is not worth the differences."""
STEP = 1e-5
"""Moves [m, rad] by which it is."""


@dataclass(frozen=True, eq=False)
class Turning:
    """own(slot, mass, u): I of one mass on a body's slot for its unknowns u (n, width). move: d at the state of the
    forces, flat; position: w of it; end: d at the state of the joints."""

    own: Callable[[Slot, Any, Array], Array]
    move: Array
    position: float
    end: Array


def by_momentum(kin0: Kinematics, h: float) -> Callable[[Slot, Any, Array], Array]:
    """`Turning.own` of rules that balance momentum from a state, u: the velocity over a step h [s] from there."""

    def own(slot: Slot, mass: Any, u: Array) -> Array:
        x0, v0 = kin0.x.of(slot), kin0.v.of(slot)
        x = slot.coordinates.retract(x0, h * u)
        found = mass.impulse_at(x0, v0, x, u, x) if is_changing(mass) else mass.compute_impulse(x0, v0, x, u)
        return np.asarray(found)

    return own


@dataclass(frozen=True, eq=False)
class EffectiveMass:
    """D (n, width, width) of n frames in place of a mass, by the blocks (rows, cols) that the mass has."""

    D: Array
    rows: Array
    cols: Array

    def add_product(self, dv: Array, f_out: Array, factor: float) -> None:
        """f += factor D dv, (n, width)."""
        f_out += factor * np.einsum("nij,nj->ni", self.D, dv)

    def add_blocks(self, data_out: Array, positions: Array, factor: float) -> None:
        """Assemble factor D."""
        b = self.D.shape[1] // 3
        blocks = self.D.reshape(-1, b, 3, b, 3)[self.rows // b, self.rows % b, :, self.cols % b]
        data_out[positions] += factor * blocks


class TurnedAxes:
    """T of all frames that no filter holds, on flat vectors; angle: the largest [rad]."""

    def __init__(self, system: System, move: Array) -> None:
        held, self.size = np.zeros(system.v_size // 3, dtype=bool), system.v_size
        held[system.filter.blocks] = True
        at = []
        for slot in system.joined_bodies:
            if slot.coordinates.turns:
                width = slot.coordinates.v_width // 3
                at.append(slot.block_start + width * np.arange(slot.coordinates.count) + 1)
        self.blocks = np.concatenate(at) if at else np.zeros(0, dtype=np.int64)
        self.blocks = self.blocks[~held[self.blocks]]
        theta = move.reshape(-1, 3)[self.blocks]
        theta = np.where(np.linalg.norm(theta, axis=1, keepdims=True) < np.pi, theta, 0.0)
        self.angle = float(np.linalg.norm(theta, axis=1).max(initial=0.0))
        self.T, self.inverse = rotations.dexp(theta), rotations.dexp_inverse(theta)

    def undone(self, y: Array) -> Array:
        """T^-1 y, (v_size,)."""
        out = y.reshape(-1, 3).copy()
        out[self.blocks] = np.einsum("nij,nj->ni", self.inverse, out[self.blocks])
        return out.reshape(y.shape)

    def brought(self, G: Any, other: TurnedAxes) -> Any:
        """Rows G (m, v_size) on moves in the axes of another state, as rows on those of this: G T_other T^-1."""
        turns = other.T @ self.inverse
        if isinstance(G, np.ndarray):
            out = G.reshape(len(G), -1, 3).copy()
            out[:, self.blocks] = np.einsum("mki,kij->mkj", out[:, self.blocks], turns)
            return out.reshape(G.shape)
        blocks = np.broadcast_to(np.eye(3), (self.size // 3, 3, 3)).copy()
        blocks[self.blocks] = turns
        n = np.arange(len(blocks) + 1)
        return sparse.csr_array(G @ sparse.bsr_array((blocks, n[:-1], n), shape=(self.size, self.size)).tocsr())


def effective_masses(
    system: System, turning: Turning, axes: TurnedAxes, u: Array, weight: float
) -> dict[int, EffectiveMass]:
    """What stands for masses of frames in weight M, by their place in `System.joined_masses`. axes: those of the move;
    u: the unknowns, flat."""
    out = {}
    inverse = np.broadcast_to(np.eye(3), (system.v_size // 3, 3, 3)).copy()
    inverse[axes.blocks] = axes.inverse
    for k, (_, slot, mass) in enumerate(system.joined_masses):
        if slot.is_body and slot.coordinates.turns and slot.coordinates.v_width <= WIDEST:
            turns = inverse[slot.block_start : slot.block_start + slot.block_count]
            D = _differentiated(slot, mass, turning, u[slot.v_slice], turns, weight)
            out[k] = EffectiveMass(D, *map(np.asarray, mass.block_pattern()))
    return out


def _differentiated(slot: Slot, mass: Any, turning: Turning, u: Array, turns: Array, weight: float) -> Array:
    """(dI/du) T^-1 / weight of n frames, (n, width, width). turns: T^-1 by 3-blocks of the body."""
    n, width = slot.coordinates.count, slot.coordinates.v_width
    now, turns, D = u.reshape(n, width), turns.reshape(n, -1, 3, 3), np.zeros((n, width, width))
    size, first = STEP / turning.position, 0
    if not is_changing(mass):  # linear in what moves along
        first, along = 3, np.zeros((n, width))
        along[:, :3] = 1.0
        mass.add_product(along, pushed := np.zeros((n, width)), 1.0)
        D[:, range(3), range(3)] = pushed[:, :3]
    for column in range(first, width):
        d = np.zeros((n, width))
        d.reshape(n, -1, 3)[:, column // 3] = size * turns[:, column // 3, :, column % 3]
        D[:, :, column] = (turning.own(slot, mass, now + d) - turning.own(slot, mass, now - d)) / (2.0 * size * weight)
    return D
