"""A node as it stands now: places on its body are those of a state, not of the start.

What holds on to a body while it runs is given in places of now. Mappings want places L of the body at rest: those with

    y(L) = p,    L_k+1 = L_k + R^T (p - y(L_k)),    R: how the body is turned there

which is exact at once for a rigid body, and converges for strains below one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import KDTree

from supple.algebra.dense import rotations
from supple.bodies.capabilities import Holding, Patched
from supple.bodies.protocols import Mapping
from supple.errors import InputError
from supple.scene.mapped.patch_frame import PatchFrame
from supple.scene.mapped.points import PointSet
from supple.scene.node import Node, Selector

Array = np.ndarray
AROUND = 8
"""Points of a soft body that say how it is turned around a place."""
ITERATIONS = 100
NEAR = 1e-13
"""Of the size of what is seen: how near a place is found."""


@dataclass(eq=False)
class PresentNode(Node):
    """A node of a scene (`whole`) with coordinates x of its body now, (count, width)."""

    scene_node: Node = field(kw_only=True)
    x: Array = field(kw_only=True)

    @classmethod
    def of(cls, node: Node, x: Array) -> PresentNode:
        """A node at coordinates x."""
        return cls(node.name, node.body, node.placement, scene_node=node, x=x)

    @property
    def whole(self) -> Node:
        """The node of the scene."""
        return self.scene_node

    @property
    def rest(self) -> Array:
        """World positions of the body's points now, (n, 3) [m]."""
        mapping = self.held_body.point_mapping(None)
        return self.x if mapping is None else np.asarray(mapping.apply(self.x))

    def points(
        self, selector: Selector = None, *, at: ArrayLike | None = None, local: ArrayLike | None = None
    ) -> PointSet:
        """Points of the body; `at` (n, 3) [m] and predicates see where it is now."""
        if at is None:
            return super().points(selector, local=local)
        places = np.atleast_2d(np.asarray(at, dtype=float))
        with self._named():
            found = self._turned(places)[0]
            if self.held_body.embed(found).numbers is not None:
                return self.numbered_points(KDTree(self.rest).query(places)[1], f"{self.name} points")
            found = self._pulled(places, lambda local: self.held_body.embed(local).mapping)
            mapping = self.held_body.embed(found).mapping
        return PointSet(self.whole, mapping, places, f"{self.name} points", {"local": found})

    def held_points(self, at: Array) -> PointSet:
        """Points at places of now, held fast to the place of the first."""
        body = self.body
        if isinstance(body, Patched):  # one of its small bodies holds them
            around = self.patch_points(KDTree(self.rest).query(at[:1])[1])
            return PointSet(around, PatchFrame.make(around.rest, at), at, f"{self.name} points")
        if not isinstance(body, Holding):
            return self.points(at=at)
        with self._named():
            place = self._pulled(at[:1], lambda local: self.held_body.embed(local).mapping)[0]
            local = self._pulled(at, lambda local: body.held_mapping(place, local))
            return PointSet(self.whole, body.held_mapping(place, local), at, f"{self.name} points")

    def patch_points(self, numbers: Array) -> PointSet:
        """Points of these numbers that carry a frame together."""
        if not isinstance(self.body, Patched):
            return self.points(numbers)
        mapping = self.body.patch_points(numbers)[0]
        return PointSet(self.whole, mapping, np.asarray(mapping.apply(self.x)), f"{self.name} patch points")

    def _turned(self, places: Array) -> tuple[Array, Array]:
        """About where places (k, 3) of now are at rest, in the body's axes, and how it is turned there, (3, 3)."""
        if self.is_frame:
            R, origin = rotations.to_matrix(self.x[0, 3:7]), self.body.frame_origin()  # type: ignore[union-attr]
            return origin + (places - self.x[0, :3]) @ R, R
        now, rest = self.rest, self.held_body.rest_points
        near = np.atleast_1d(KDTree(now).query(places[0], k=min(AROUND, len(now)))[1])
        A = (now[near] - now[near].mean(axis=0)).T @ (rest[near] - rest[near].mean(axis=0))
        U, _, Vt = np.linalg.svd(A)
        R = (U * np.array([1.0, 1.0, np.linalg.det(U @ Vt)])) @ Vt
        return rest[near[0]] + (places - now[near[0]]) @ R, R

    def _pulled(self, places: Array, make: Callable[[Array], Mapping]) -> Array:
        """Places at rest, in the body's axes, whose points by a mapping are at `places` (k, 3) now."""
        local, R = self._turned(places)
        size = np.abs(places).max() + np.ptp(self.rest, axis=0).max()
        for _ in range(ITERATIONS):
            off = places - make(local).apply(self.x)
            if np.abs(off).max() <= NEAR * size:
                return local
            local = local + off @ R
        raise InputError(
            "no place of the body is there now",
            where=f"node '{self.name}'",
            value=places[int(np.argmax(np.abs(off).max(axis=1)))].tolist(),
            fix="Give a place on the body, or on its surface.",
        )
