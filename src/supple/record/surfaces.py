"""Surfaces: what can be seen of each body, and how its points follow from the state.

finite elements   boundary nodes and outward boundary triangles
rigid             the surface, moved by the frame; the frame's origin where it has none
floating          boundary nodes, deformed and moved by the frame; all nodes where there are no elements
layered           the same
particles         the particles, with springs as lines
voxels            the outer faces; a corner is the mean of where its voxels would put it
trees of domains  the boundaries of the domains, or a finer skin; nodes that were one are where their mean is
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.algebra.dense import rotations
from supple.errors import InputError
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray


def _no_cells(width: int) -> Array:
    return np.zeros((0, width), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Surface:
    """What is seen of a body. triangles (k, 3), lines (l, 2), vertices (m, 1): numbers of its points.

    slot: where the body lies in the state. nodes: which of the body's points are seen, (n,). local: for a
    frame, the points in its own axes, (n, 3) [m]; shapes: how they follow the modes of a floating body, (n, 3, r), or
    the free nodes of a layered one, (n, free_count) and sparse. skin: for a lattice or a tree, how the points hang on
    it.
    """

    name: str
    kind: str
    slot: Slot
    nodes: Array | None = None
    local: Array | None = None
    shapes: Any = None
    skin: Any = None
    triangles: Array = field(default_factory=lambda: _no_cells(3))
    lines: Array = field(default_factory=lambda: _no_cells(2))
    vertices: Array = field(default_factory=lambda: _no_cells(1))

    @property
    def point_count(self) -> int:
        """Number of points."""
        if self.skin is not None:
            return int(self.skin.count)
        seen = self.nodes if self.local is None else self.local
        assert seen is not None
        return len(seen)

    def points(self, state: State) -> Array:
        """World positions in single precision, (point_count, 3) [m]."""
        x = self.slot.view_x(state.x)
        if self.skin is not None:
            return self.skin.positions(x).astype(np.float32)
        if self.local is not None:
            local = self.local
            if self.shapes is not None:
                local = local + self._displacements(x[0, 7:])
            return (x[0, :3] + rotations.rotate(x[0, 3:7], local)).astype(np.float32)
        return x[self.nodes].astype(np.float32)

    def _displacements(self, q: Array) -> Array:
        """Of a floating body's points in its frame: by dense shapes of modes, or sparse weights of a layer's nodes."""
        if isinstance(self.shapes, np.ndarray):
            return self.shapes @ q[: self.shapes.shape[2]]
        return np.asarray(self.shapes @ q.reshape(-1, 3))


def make_surface(slot: Slot) -> Surface:
    """The surface of a body in a system."""
    body = slot.node.body
    if body.kind in ("voxel", "tree"):
        skin = body.seen if body.kind == "tree" else body.skin
        return Surface(slot.name, body.kind, slot, skin=skin, triangles=np.asarray(skin.triangles, dtype=np.int64))
    if body.kind in ("floating", "layered"):
        return _floating_surface(slot, body)
    if slot.coordinates.turns:
        if body.surface is None:
            return Surface(
                slot.name, body.kind, slot, local=np.zeros((1, 3)), vertices=np.zeros((1, 1), dtype=np.int64)
            )
        triangles = np.asarray(body.surface.triangles, dtype=np.int64)
        return Surface(slot.name, body.kind, slot, local=np.asarray(body.surface.nodes), triangles=triangles)
    if hasattr(body, "mesh"):
        boundary = body.mesh.boundary
        nodes = np.asarray(boundary.node_indices)
        triangles = np.searchsorted(nodes, boundary.triangles).astype(np.int64)
        return Surface(slot.name, body.kind, slot, nodes=nodes, triangles=triangles)
    if hasattr(body, "springs"):
        count = slot.coordinates.count
        lines = np.asarray(body.springs, dtype=np.int64).reshape(-1, 2)
        vertices = np.arange(count, dtype=np.int64)[:, None]
        return Surface(slot.name, body.kind, slot, nodes=np.arange(count), lines=lines, vertices=vertices)
    raise InputError("a body of this kind has no surface to record", where=f"body '{slot.name}'", value=body.kind)


def _floating_surface(slot: Slot, body: Any) -> Surface:
    if not hasattr(body.mesh, "boundary"):
        local, shapes = body.node_shapes(np.arange(len(body.mesh.nodes)))
        vertices = np.arange(len(local), dtype=np.int64)[:, None]
        return Surface(slot.name, body.kind, slot, local=local, shapes=shapes, vertices=vertices)
    nodes = np.asarray(body.mesh.boundary.node_indices)
    local, shapes = body.node_shapes(nodes)
    triangles = np.searchsorted(nodes, body.mesh.boundary.triangles).astype(np.int64)
    return Surface(slot.name, body.kind, slot, local=local, shapes=shapes, triangles=triangles)


def make_surfaces(system: System) -> list[Surface]:
    """The surfaces of all bodies, in their order."""
    return [make_surface(slot) for slot in system.bodies]
