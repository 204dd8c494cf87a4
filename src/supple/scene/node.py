"""Nodes: the tree a person writes. A node holds a body in its place, or groups others; no arithmetic in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import KDTree

from supple.algebra.dense import rotations
from supple.bodies.placement import Placement
from supple.errors import InputError
from supple.scene.mapped.floating_points import FloatingPoints
from supple.scene.mapped.layered_points import LayeredPoints, points_in_frame
from supple.scene.mapped.mappings import FramePoints, WeightedPoints
from supple.scene.mapped.points import PointSet

Array = np.ndarray


@dataclass(eq=False)
class Node:
    """A place in the tree. body: FemBody, RigidBody, FloatingBody, LayeredBody, Particles or None for a group."""

    name: str
    body: Any = None
    placement: Placement = field(default_factory=Placement)
    children: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, top down."""
        waiting = [self]
        while waiting:  # no recursion: groups may be nested as deeply as a file says
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    @property
    def is_frame(self) -> bool:
        """Whether the body has one frame: a rigid or a floating body."""
        return getattr(self.body, "kind", None) in ("rigid", "floating", "layered")

    @property
    def is_floating(self) -> bool:
        """Whether the body's coordinates are one frame with modes, or with the nodes of a layer."""
        return getattr(self.body, "kind", None) in ("floating", "layered")

    @property
    def origin(self) -> Array:
        """World position of the body's frame at the start, (3,) [m]."""
        return self.placement.apply(self.body.origin[None])[0] if self.is_floating else self.placement.at

    @property
    def is_lattice(self) -> bool:
        """Whether the body's coordinates are many frames, one a voxel."""
        return getattr(self.body, "kind", None) == "voxel"

    @property
    def rest(self) -> Array:
        """World positions at the start of the body's points (nodes, particles, surface of a rigid body), (n, 3) [m]."""
        if self.is_frame and not self.is_floating:
            surface = self.body.surface
            return self.placement.apply(surface.nodes if surface is not None else np.zeros((1, 3)))
        own = self.body.mesh.nodes if hasattr(self.body, "mesh") else self.body.positions
        return self.placement.apply(np.asarray(own))

    def points(self, selector: Any = None, *, at: ArrayLike | None = None, local: ArrayLike | None = None) -> PointSet:
        """Points of the body to attach to.

        selector: a region's name ("x_max"), point numbers, a predicate on world positions, or None for all.
        at: world positions at the start (n, 3) [m], embedded in the body; a tree takes its nearest surface points.
        local: the same in the body's own axes.
        """
        if self.body is None:
            raise InputError("a group has no points of its own", where=f"node '{self.name}'")
        if at is not None or local is not None:
            return self._embedded(at, local)
        if self.is_floating:
            indices = self.indices(selector)
            label = f"{self.name}.{selector}" if isinstance(selector, str) else f"{self.name}[...]"
            return PointSet(self, points_in_frame(*self.body.node_shapes(indices)), self.rest[indices], label)
        if self.is_frame:
            surface = self.body.surface
            if selector is not None or surface is None:
                raise InputError(
                    "a rigid body's points are given by position", where=f"node '{self.name}'", fix="Use at= or local=."
                )
            return PointSet(self, FramePoints.make(surface.nodes), self.rest, f"{self.name} surface")
        if hasattr(self.body, "point_mapping"):
            indices = self.indices(selector)
            label = f"{self.name}.{selector}" if isinstance(selector, str) else f"{self.name}[...]"
            return PointSet(self, self.body.point_mapping(indices), self.rest[indices], label)
        if selector is None and not self.is_lattice:
            return PointSet(self, None, self.rest, self.name)
        indices = self.indices(selector)
        mapping: WeightedPoints | FramePoints
        if self.is_lattice:
            mapping = FramePoints.make(np.zeros((len(indices), 3)), indices)
        else:
            mapping = WeightedPoints.subset(indices, len(self.rest))
        label = f"{self.name}.{selector}" if isinstance(selector, str) else f"{self.name}[...]"
        return PointSet(self, mapping, self.rest[indices], label)

    def held_points(self, at: Array) -> PointSet:
        """Points at world positions (n, 3) [m] held fast to the place of the first, which turn with it: for joints."""
        if not self.is_floating:
            return self.points(at=at)
        local = (at - self.placement.at) @ rotations.to_matrix(self.placement.rotation)
        return PointSet(self, points_in_frame(*self.body.shapes_fixed_to(local[0], local)), at, f"{self.name} points")

    def indices(self, selector: Any) -> Array:
        """Numbers of the body's points that a selector names: a region's name, numbers, None for all, or a predicate,
        which sees world positions at the start, where the body has been placed."""
        if hasattr(self.body, "mesh") and selector is not None and not callable(selector):
            return np.asarray(self.body.mesh.node_region(selector))
        count = len(self.rest)
        if selector is None:
            return np.arange(count)
        if isinstance(selector, str) and hasattr(self.body, "point_region"):
            return np.asarray(self.body.point_region(selector))
        if isinstance(selector, str):
            return self._layer(selector)
        index = (
            np.flatnonzero(selector(self.rest)) if callable(selector) else np.asarray(selector, dtype=np.int64).ravel()
        )
        if index.size == 0:
            raise InputError("the selection is empty", where=f"node '{self.name}'")
        if index.min() < 0 or index.max() >= count:
            raise InputError(
                "a point's number is out of range",
                where=f"node '{self.name}'",
                value=int(index[(index < 0) | (index >= count)][0]),
                allowed=f"0..{count - 1}",
            )
        return index

    def _layer(self, name: str) -> Array:
        """Voxels of an outermost layer: "x_min" to "z_max"."""
        if not self.is_lattice:
            raise InputError("particles have no named regions", where=f"node '{self.name}'", value=name)
        layers = [f"{axis}_{end}" for axis in "xyz" for end in ("min", "max")]
        if name not in layers:
            raise InputError(
                "no layer of that name", where=f"node '{self.name}'", value=name, allowed=", ".join(layers)
            )
        along = np.asarray(self.body.positions)[:, "xyz".index(name[0])]
        end = along.min() if name.endswith("min") else along.max()
        return np.flatnonzero(np.abs(along - end) < 0.5 * self.body.grid.voxel_size)

    def _embedded(self, at: ArrayLike | None, local: ArrayLike | None) -> PointSet:
        inverse = rotations.to_matrix(self.placement.rotation)
        if local is None:
            local = (np.atleast_2d(np.asarray(at, dtype=float)) - self.placement.at) @ inverse
        r = np.atleast_2d(np.asarray(local, dtype=float))
        mapping: WeightedPoints | FramePoints | FloatingPoints | LayeredPoints
        if hasattr(self.body, "point_mapping"):
            nearest = self.body.nearest_points(r)
            return PointSet(self, self.body.point_mapping(nearest), self.rest[nearest], f"{self.name} points")
        if self.is_floating:
            mapping = points_in_frame(*self.body.shapes_at(r))
        elif self.is_frame:
            mapping = FramePoints.make(r)
        elif self.is_lattice:
            centres = np.asarray(self.body.positions)
            nearest = KDTree(centres).query(r)[1]
            mapping = FramePoints.make(r - centres[nearest], nearest)
        elif hasattr(self.body, "mesh"):
            from supple.geometry import embed

            embedding = embed(r, self.body.mesh)
            mapping = WeightedPoints.barycentric(embedding.nodes, embedding.weights, len(self.body.mesh.nodes))
        else:
            raise InputError("particles fill no space to embed points in", where=f"node '{self.name}'")
        return PointSet(self, mapping, self.placement.apply(r), f"{self.name} points")
