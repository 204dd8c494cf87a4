"""Points of bodies whose points are nodes of a mesh: what the kinds with meshes share of the contract of a body."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from supple.bodies.body_protocol import Embedding, Numbers
from supple.bodies.protocols import Mapping
from supple.bodies.surfaces import FrameSkin, NumberedSurface, RenderSurface, RenderVolume
from supple.geometry.meshes.region import Selector

Array = np.ndarray


class HasMesh(Protocol):
    """A body with a solid mesh, or with bare nodes."""

    @property
    def mesh(self) -> Any: ...


class MeshPoints:
    """The nodes of a body's mesh as its points, and the mesh's boundary as its surface."""

    @property
    def rest_points(self: HasMesh) -> Array:
        """The nodes, (n, 3) [m]."""
        return np.asarray(self.mesh.nodes)

    def point_numbers(self: HasMesh, selector: Numbers) -> Array:
        """Nodes of a region, or of numbers."""
        return np.asarray(self.mesh.node_region(selector))

    def contact_surface(self: HasMesh) -> NumberedSurface:
        """The boundary, or all nodes where there are no elements."""
        return NumberedSurface.of_mesh(self.mesh)

    def face_triangles(self: HasMesh, region: Selector | None) -> Array:
        """Outward boundary triangles of a region, or all, (k, 3)."""
        return np.asarray(self.mesh.boundary.triangles if region is None else self.mesh.faces_region(region))


class HasShapes(HasMesh, Protocol):
    """A body with one frame, whose points are at X + shapes q in it. Shapes are dense, or sparse weights of nodes."""

    @property
    def origin(self) -> Array: ...
    def node_shapes(self, indices: Array) -> tuple[Array, Any]: ...
    def shapes_at(self, local: Array) -> tuple[Array, Any]: ...
    def shapes_fixed_to(self, place: Array, local: Array) -> tuple[Array, Any]: ...
    def boundary_colours(self) -> Array | None: ...
    @staticmethod
    def points_of(local: Array, shapes: Any) -> Mapping:
        """Points that follow the frame and q."""
        ...


class ShapedPoints:
    """Points of a body with a frame and shapes in it."""

    def frame_origin(self: HasShapes) -> Array:
        """Of the frame, in the mesh (3,) [m]."""
        return self.origin

    def point_mapping(self: HasShapes, numbers: Array | None) -> Mapping:
        """Nodes of these numbers, or all."""
        return self.points_of(*self.node_shapes(np.arange(len(self.mesh.nodes)) if numbers is None else numbers))

    def embed(self: HasShapes, local: Array) -> Embedding:
        """Places (k, 3) [m] of the mesh."""
        return Embedding(self.points_of(*self.shapes_at(local)))

    def held_mapping(self: HasShapes, place: Array, local: Array) -> Mapping:
        """Points (k, 3) [m] held fast to a place (3,) [m] of the body."""
        return self.points_of(*self.shapes_fixed_to(place, local))

    def render_surface(self: HasShapes) -> RenderSurface:
        """The boundary, or all nodes where there are no elements."""
        surface = NumberedSurface.of_mesh(self.mesh)
        skin = FrameSkin(*self.node_shapes(surface.numbers))
        if len(surface.triangles):
            return RenderSurface(skin, surface.own_triangles, colours=self.boundary_colours())
        return RenderSurface(skin, vertices=np.arange(skin.count, dtype=np.int64)[:, None])

    def render_volume(self: HasShapes) -> RenderVolume | None:
        """The tets of the mesh."""
        return RenderVolume.of_mesh(self.mesh, lambda inner: FrameSkin(*self.node_shapes(inner)))
