"""Surfaces of bodies as values: what touches, what the wind blows on, and what is recorded and drawn.

A surface is points that follow a body's coordinates, with triangles between them. Points to touch carry forces back, so
they are mappings. Points to draw are positions alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sparse

from supple.algebra.dense import rotations
from supple.bodies.protocols import Mapping
from supple.geometry import TetMesh

Array = np.ndarray


def no_cells(width: int) -> Array:
    """No triangles (width 3), lines (2) or vertices (1)."""
    return np.zeros((0, width), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class NumberedSurface:
    """A surface of the body's own points. numbers (n,): which of them, ascending; triangles (t, 3), outward, in the
    numbers of the body's points. radius [m]: of balls around all of the body's points, where there are no triangles.
    """

    numbers: Array
    triangles: Array = field(default_factory=lambda: no_cells(3))
    radius: Array | float = 0.0

    @classmethod
    def of_mesh(cls, mesh: object) -> NumberedSurface:
        """The boundary of a solid mesh, or all nodes where a mesh has none."""
        boundary = getattr(mesh, "boundary", None)
        if boundary is None:
            return cls(np.arange(len(mesh.nodes)))  # type: ignore[attr-defined]
        return cls(np.asarray(boundary.node_indices), np.asarray(boundary.triangles))

    @property
    def own_triangles(self) -> Array:
        """The triangles in the numbers of the surface's points, (t, 3)."""
        return np.searchsorted(self.numbers, self.triangles).astype(np.int64)


@dataclass(frozen=True, eq=False)
class MappedSurface:
    """A surface of points made for it. mappings: from the body's coordinates to the points, one after another; rest
    (m, 3) [m]: where the points of the first mapping are at rest, in the body's own axes; triangles (t, 3), outward."""

    mappings: tuple[Mapping, ...]
    rest: Array
    triangles: Array


class Skin(Protocol):
    """Points that follow a body, to be drawn."""

    @property
    def count(self) -> int: ...
    def positions(self, x: Array) -> Array:
        """World positions (count, 3) [m] at the body's coordinates x."""
        ...


@runtime_checkable
class SingleSkin(Skin, Protocol):
    """One that finds its points in single precision."""

    def single(self, x: Array) -> Array:
        """World positions (count, 3) [m] at the body's coordinates x, of a memory of their own."""
        ...


@dataclass(frozen=True, eq=False)
class RenderSurface:
    """What is recorded and drawn of a body: points, and triangles (k, 3), lines (l, 2), vertices (m, 1) of them.

    colours (k, 3): red, green, blue of the triangles, 0 to 1; None: as pictures choose.
    """

    skin: Skin
    triangles: Array = field(default_factory=lambda: no_cells(3))
    lines: Array = field(default_factory=lambda: no_cells(2))
    vertices: Array = field(default_factory=lambda: no_cells(1))
    colours: Array | None = None


@dataclass(frozen=True, eq=False)
class RenderVolume:
    """The tets behind a render surface. inner: the points that the surface lacks; tets (m, 4), of positive volume at
    rest: in the numbers of the surface's points, then of the inner ones."""

    inner: Skin
    tets: Array

    @classmethod
    def of_mesh(cls, mesh: object, skin: Callable[[Array], Skin]) -> RenderVolume | None:
        """Of a mesh of tets whose boundary is the surface; None where it has other elements. skin: of nodes (k,)."""
        if not isinstance(mesh, TetMesh):
            return None
        outer = mesh.boundary.node_indices
        inner = np.setdiff1d(np.arange(len(mesh.nodes)), outer)
        number = np.argsort(np.concatenate([outer, inner]))
        return cls(skin(inner), number[mesh.tets])


@dataclass(frozen=True, eq=False)
class PointSkin:
    """Some points of a body whose coordinates are points; numbers (n,)."""

    numbers: Array

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.numbers)

    def positions(self, x: Array) -> Array:
        """Those of the coordinates x (points, 3)."""
        return x[self.numbers]


@dataclass(frozen=True, eq=False)
class FrameSkin:
    """Points in the axes of one frame, local (n, 3) [m]. shapes: how they follow coordinates q beside the frame:
    those of modes (n, 3, r), or weights of nodes (n, nodes), sparse; None: not at all."""

    local: Array
    shapes: Array | sparse.csr_array | None = None

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.local)

    def positions(self, x: Array) -> Array:
        """c + R (local + what q adds), at coordinates x (1, 7 + p)."""
        local = self.local
        if isinstance(self.shapes, np.ndarray):
            local = local + self.shapes @ x[0, 7 : 7 + self.shapes.shape[2]]
        elif self.shapes is not None:
            local = local + np.asarray(self.shapes @ x[0, 7:].reshape(-1, 3))
        return np.asarray(x[0, :3] + local @ rotations.to_matrix(x[0, 3:7]).T)
