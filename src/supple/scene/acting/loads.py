"""Loads on points: given forces, following pressure, and springs between points of any bodies.

    pressure on a triangle (x0, x1, x2):   f_k = -p (x1 - x0) × (x2 - x0) / 6   for each of its corners

A given force may be a function of time. The tangent of a pressure is exact; asked to be definite it is left out, since
a following load is not conservative where its surface is open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_array
from supple.algebra.dense.rotations import cross, skew
from supple.bodies.capabilities import Faced
from supple.bodies.protocols import LocalState, Pairs
from supple.errors import InputError, check_instance, is_finite, is_number
from supple.interaction.springs import SpringForce
from supple.scene.mapped.points import JoinedPoints, Points, check_points, join
from supple.scene.node import Node, Selector

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Load:
    """A force on points: total (3,) [N], shared equally, or each (n, 3) [N]; or a function of time giving either.

    >>> # scene.add(sp.Load(beam.points("x_max"), (0, 0, -1.0)))
    """

    on: Points
    force: ArrayLike | Callable[[float], ArrayLike]
    is_load = True

    def __post_init__(self) -> None:
        check_points(self.on, "Load")
        self.values(0.0)

    def given(self, t: float) -> Array:
        """What was given, at time t: the total (3,), or the force on each point (n, 3) [N]."""
        given = self.force(t) if callable(self.force) else self.force
        f = check_array(given, name="the force", where=f"load on {self.on.label}")
        if f.shape not in ((3,), (self.on.count, 3)):
            raise InputError("a load is not (3,) or one force a point", where=f"load on {self.on.label}", value=f.shape)
        if not np.logical_and.reduce(np.isfinite(f), axis=None):
            raise InputError("a load is not finite", where=f"load on {self.on.label}, t = {t:g} s", value=given)
        return f

    def values(self, t: float) -> Array:
        """Force on each point at time t, (n, 3) [N]."""
        f = self.given(t)
        return np.broadcast_to(f / self.on.count, (self.on.count, 3)) if f.ndim == 1 else f

    def restricted(self, parts: Sequence[int]) -> Load:
        """The same forces on some parts of joined points, by their numbers."""
        assert isinstance(self.on, JoinedPoints)
        starts = np.concatenate([[0], np.cumsum([part.count for part in self.on.parts])])
        rows = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in parts])
        on = join(*(self.on.parts[k] for k in parts))
        return Load(on, (lambda t: self.values(t)[rows]) if callable(self.force) else self.values(0.0)[rows])

    @property
    def is_passive(self) -> bool:
        """Whether it is constant."""
        return not callable(self.force)

    def energy(self, state: LocalState) -> float:
        """Potential of a constant load [J], zero at the start; a load in time has none."""
        return 0.0 if callable(self.force) else -float(np.sum(self.values(state.t) * (state.x - self.on.rest)))

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f += load."""
        f_out += self.values(state.t)

    def linearize(self, state: LocalState, *, definite: bool = False) -> Load:
        """No derivatives."""
        return self

    def block_pattern(self) -> Pairs:
        """No blocks."""
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """Nothing."""

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Nothing."""


@dataclass(frozen=True, eq=False)
class Pressure:
    """A pressure [Pa] on boundary faces of a body, normal to them as they move; positive pushes inward.

    node: a finite-element body in the scene. region: as in `node.points`. pressure: a number or a function of time.
    """

    node: Node
    region: Selector
    pressure: float | Callable[[float], float]
    is_load = True

    def __post_init__(self) -> None:
        check_instance(self.node, Node, "a body in the scene", where="Pressure", fix="Give what scene.add returned.")
        _ = self.triangles
        self.value(0.0)

    @cached_property
    def triangles(self) -> Array:
        """Loaded boundary triangles, outward, (k, 3)."""
        if not isinstance(self.node.body, Faced):
            raise InputError("a pressure needs the faces of a finite-element body", where=f"node '{self.node.name}'")
        region = self.node.indices(self.region) if callable(self.region) else self.region
        return self.node.body.face_triangles(region)

    @property
    def on(self) -> Points:
        """All nodes of the body."""
        return self.node.points()

    def value(self, t: float) -> float:
        """Pressure at time t [Pa]."""
        p = self.pressure(t) if callable(self.pressure) else self.pressure
        if not is_number(p):
            raise InputError("a pressure is not a number", where=f"node '{self.node.name}', t = {t:g} s", value=p)
        if not is_finite(p):
            raise InputError("a pressure is not finite", where=f"node '{self.node.name}', t = {t:g} s", value=p)
        return p

    @property
    def is_passive(self) -> bool:
        """Whether it is constant and has a potential."""
        return not callable(self.pressure) and self.is_closed

    @cached_property
    def is_closed(self) -> bool:
        """Whether the loaded faces enclose a volume."""
        edges = np.concatenate([self.triangles[:, [0, 1]], self.triangles[:, [1, 2]], self.triangles[:, [2, 0]]])
        return {tuple(e) for e in edges.tolist()} == {(b, a) for a, b in edges.tolist()}

    def energy(self, state: LocalState) -> float:
        """p times the enclosed volume [J] for a constant pressure on a closed surface, else zero."""
        if callable(self.pressure) or not self.is_closed:
            return 0.0
        x = state.x[self.triangles]
        return float(self.value(state.t) * np.einsum("ki,ki->", x[:, 0], cross(x[:, 1], x[:, 2])) / 6)

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f -= p area normal / 3 at each corner."""
        x = state.x[self.triangles]
        f = -self.value(state.t) / 6 * cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
        for corner in range(3):
            np.add.at(f_out, self.triangles[:, corner], f)

    def linearize(self, state: LocalState, *, definite: bool = False) -> PressureTangent:
        """Derivative of the corner force by each corner, (k, 3, 3, 3)."""
        x = state.x[self.triangles]
        p = 0.0 if definite else -self.value(state.t) / 6
        by_1 = -p * skew(x[:, 2] - x[:, 0])
        by_2 = p * skew(x[:, 1] - x[:, 0])
        return PressureTangent(self.triangles, np.stack([-by_1 - by_2, by_1, by_2], axis=1))

    def block_pattern(self) -> Pairs:
        """Nine blocks a triangle."""
        return np.repeat(self.triangles, 3, axis=1).ravel(), np.tile(self.triangles, (1, 3)).ravel()


@dataclass(frozen=True, eq=False)
class PressureTangent:
    """blocks[k, b] = df/dx_b of triangle k, the same for its three corners."""

    triangles: Array
    blocks: Array

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df += stiffness K dv."""
        df = stiffness * np.einsum("kbij,kbj->ki", self.blocks, dv[self.triangles])
        for corner in range(3):
            np.add.at(df_out, self.triangles[:, corner], df)

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble stiffness K."""
        values = np.broadcast_to(stiffness * self.blocks[:, None], (len(self.blocks), 3, 3, 3, 3))
        np.add.at(data_out, positions, values.reshape(-1, 3, 3))


@dataclass(frozen=True, eq=False)
class Springs:
    """Springs between points of two sides, point by point: an interaction of bodies of any kinds.

    a, b: point sets of equal count. stiffness [N/m], damping [N s/m]; rest_length [m], default the distance at the
    start; zero makes a soft attachment.
    """

    a: Points
    b: Points
    stiffness: ArrayLike
    damping: ArrayLike = 0.0
    rest_length: ArrayLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for side in (self.a, self.b):
            check_points(side, "Springs")
        if self.a.count != self.b.count:
            raise InputError(
                "the two sides have different numbers of points", where="Springs", value=(self.a.count, self.b.count)
            )
        _ = self.force

    @cached_property
    def on(self) -> JoinedPoints:
        """The points of both sides."""
        return join(self.a, self.b)

    @cached_property
    def force(self) -> SpringForce:
        """The springs on the joined points."""
        n = self.a.count
        pairs = np.stack([np.arange(n), n + np.arange(n)], axis=1)
        rest = np.linalg.norm(self.b.rest - self.a.rest, axis=1) if self.rest_length is None else self.rest_length
        where = f"springs {self.a.label} - {self.b.label}"
        return SpringForce.make(pairs, self.stiffness, rest, self.damping, where=where)  # type: ignore[arg-type]
