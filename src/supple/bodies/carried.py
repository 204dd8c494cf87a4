"""Surfaces that frames carry: what makes all their points again from a few numbers an instant.

    x = o + s R (X + U q),   then the mean over points that were one before a cut, or that are one point of a finer
                             surface that several domains carry

Domains of one kind share X and U. o, R and q of all domains are a row of numbers, from which points follow without the
body.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol, cast, runtime_checkable

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.surfaces import FrameSkin, RenderSurface

Array = np.ndarray
FRAME = 12
"""Numbers of a frame: its origin and its rotation matrix, row by row."""


class CarriedKind(NamedTuple):
    """Points X (m, 3) [m] of a kind, how they follow its coordinates, U (m, 3, r), and triangles (t, 3) of them."""

    X: Array
    U: Array
    triangles: Array


class Branches(NamedTuple):
    """Which domain hangs on which. parents (d,): number of an earlier domain, -1: on none; names: one a domain, the
    same for several perhaps. The frame of a domain lies at the interface by which it hangs on its parent."""

    parents: Array
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Carriers:
    """kind (d,): of each domain; scale (d,). seams (k,): points that were one before the cut, group by group as of
    group_start (g + 1,). hidden (h,): triangles of all domains, one after another, that are not shown. weights (k,): of
    the seams in the means of their groups; None: equal ones. faces (t, 3): triangles between points of any domains, in
    place of those of the kinds. branches: of a tree, how its domains hang on each other; None: they do not, or nobody
    says so."""

    kinds: tuple[CarriedKind, ...]
    kind: Array
    scale: Array
    seams: Array
    group_start: Array
    hidden: Array
    weights: Array | None = None
    faces: Array | None = None
    branches: Branches | None = None

    @property
    def count(self) -> int:
        """Number of points."""
        return int(self.starts[-1])

    @cached_property
    def starts(self) -> Array:
        """Where the points of each domain begin, and end, (d + 1,)."""
        return np.concatenate([[0], np.cumsum(np.array([len(k.X) for k in self.kinds])[self.kind])])

    @cached_property
    def q_starts(self) -> Array:
        """Where the coordinates of each domain begin, and end, (d + 1,)."""
        return np.concatenate([[0], np.cumsum(np.array([k.U.shape[2] for k in self.kinds])[self.kind])])

    @property
    def width(self) -> int:
        """Numbers of a row: frames of all domains, then their coordinates."""
        return FRAME * len(self.kind) + int(self.q_starts[-1])

    def positions(self, row: Array) -> Array:
        """World positions (count, 3) [m] from a row of numbers (width,)."""
        d, out = len(self.kind), np.empty((self.count, 3))
        frames, q = row[: FRAME * d].astype(float).reshape(d, FRAME), row[FRAME * d :].astype(float)
        o, R = frames[:, None, :3], frames[:, 3:].reshape(d, 3, 3) * self.scale[:, None, None]
        for number, (X, U, _) in enumerate(self.kinds):
            members = np.flatnonzero(self.kind == number)
            m, r = len(X), U.shape[2]
            own = q[self.q_starts[members][:, None] + np.arange(r)]
            local = X + (own @ U.reshape(3 * m, r).T).reshape(-1, m, 3)
            at = self.starts[members][:, None] + np.arange(m)
            out[at] = o[members] + local @ R[members].swapaxes(1, 2)
        for first, last in pairwise(self.group_start):
            own = self.seams[first:last]
            weights = None if self.weights is None else self.weights[first:last]
            out[own] = np.average(out[own], axis=0, weights=weights)
        return out

    @property
    def triangles(self) -> Array:
        """Those that are shown, (t, 3)."""
        if self.faces is not None:
            return self.faces
        parts = [self.kinds[k].triangles + start for k, start in zip(self.kind, self.starts)]
        shown = np.concatenate([np.zeros((0, 3), dtype=np.int64), *parts])
        return np.asarray(np.delete(shown, self.hidden, axis=0))

    def is_like(self, other: Carriers) -> bool:
        """Whether rows of numbers mean the same, in single precision."""
        return (
            np.array_equal(self.kind, other.kind)
            and np.array_equal(self.scale, other.scale)
            and len(self.kinds) == len(other.kinds)
            and all(_is_same(a, b) for one, two in zip(self.kinds, other.kinds) for a, b in zip(one, two))
        )


def _is_same(a: Array, b: Array) -> bool:
    return np.array_equal(a.astype(np.float32), b.astype(np.float32))


@runtime_checkable
class Carried(Protocol):
    """What a skin has whose points follow frames of domains."""

    @property
    def carriers(self) -> Carriers:
        """What is the same at all times."""
        ...

    def carriage(self, x: Array) -> Array:
        """The row of numbers (width,) at coordinates x (1, width of the body)."""
        ...


@runtime_checkable
class CarriedSkin(Carried, Protocol):
    """One that can show fewer points."""

    def thinned(self, most: int) -> RenderSurface:
        """A surface of some of the points, of so many at most where that leaves each domain one."""
        ...


def carriers_of(shown: RenderSurface) -> Carriers | None:
    """What carries a surface, with its triangles; None where it has none or its points follow only themselves."""
    skin = shown.skin
    if not len(shown.triangles):
        return None
    if isinstance(skin, FrameSkin) and (skin.shapes is None or isinstance(skin.shapes, np.ndarray)):
        U = np.zeros((skin.count, 3, 0)) if skin.shapes is None else skin.shapes
        none, zero = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
        only = CarriedKind(skin.local, U, np.zeros((0, 3), dtype=np.int64))
        return Carriers((only,), zero, np.ones(1), none, zero, none, faces=shown.triangles)
    return skin.carriers if isinstance(skin, Carried) else None


def carriage_of(shown: RenderSurface, x: Array) -> Array:
    """The row of numbers (width,) of a surface that has carriers, at coordinates x (1, width of the body)."""
    skin = shown.skin
    if isinstance(skin, FrameSkin):
        modes = skin.shapes.shape[2] if isinstance(skin.shapes, np.ndarray) else 0
        return np.concatenate([x[0, :3], rotations.to_matrix(x[0, 3:7]).ravel(), x[0, 7 : 7 + modes]])
    return cast(Carried, skin).carriage(x)  # a protocol takes 20 us to be recognised
