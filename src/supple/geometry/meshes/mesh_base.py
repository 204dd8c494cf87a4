"""What tet, hex and surface meshes share: regions by name, bounds, content hash, moving, scaling, merging."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import InputError
from supple.geometry.meshes import region as regional
from supple.geometry.meshes.mesh_checks import isolated_nodes, refuse_isolated
from supple.geometry.meshes.placement import as_rotation, as_vector
from supple.geometry.meshes.region import FloatArray, IntArray, Region, Selector
from supple.geometry.meshes.welding import weld_nodes

AXIS_TOLERANCE = 1e-6  # of the bounding diagonal: how near a node must be to `x_min` and its like


class Mesh(ABC):
    """Frozen nodes, elements and named regions; no physics."""

    kind: ClassVar[str]
    face_width: ClassVar[int]  # nodes a boundary face; 0 where a mesh has none
    nodes: FloatArray
    regions: Mapping[str, Region]

    @property
    @abstractmethod
    def elements(self) -> IntArray:
        """Node indices of the elements, (m, nodes an element)."""

    @abstractmethod
    def _with(self, nodes: ArrayLike, elements: ArrayLike, regions: Mapping[str, Any]) -> Self:
        """A checked mesh of the same kind."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Made anew, and so checked, where it is read back: other processes take meshes too."""
        return type(self), (np.array(self.nodes), np.array(self.elements), dict(self.regions))

    def _adopt_regions(self, isolated: str) -> None:
        """Last step of construction: refuse or drop nodes without an element, then check the regions."""
        regions = self._checked_regions(self.regions)
        unused = isolated_nodes(self.elements, len(self.nodes))
        if unused.size and isolated == "refuse":
            raise refuse_isolated(unused)
        if unused.size:
            number = np.cumsum(~np.isin(np.arange(len(self.nodes)), unused)) - 1
            kept = {
                name: Region(number[np.setdiff1d(r.nodes, unused)], r.elements, number[r.faces])
                for name, r in regions.items()
            }
            nodes, elements = np.delete(self.nodes, unused, axis=0), number[self.elements]
            self._set_arrays(nodes, elements)
            regions = self._checked_regions(kept)
        object.__setattr__(self, "regions", regions)

    def _checked_regions(self, regions: Mapping[str, Any]) -> Mapping[str, Region]:
        return regional.check_regions(regions, len(self.nodes), len(self.elements), self.face_width)

    @abstractmethod
    def _set_arrays(self, nodes: FloatArray, elements: IntArray) -> None:
        """Store the arrays, read-only."""

    @cached_property
    def bounds(self) -> FloatArray:
        """Smallest and largest coordinates [m], (2, 3)."""
        return np.stack([self.nodes.min(axis=0), self.nodes.max(axis=0)])

    @property
    def diagonal(self) -> float:
        """Length of the bounding box's diagonal [m]."""
        return float(np.linalg.norm(self.bounds[1] - self.bounds[0]))

    def node_region(self, selector: Selector) -> IntArray:
        """Node indices, ascending, that a name, a predicate (n, 3) -> (n,) bool, or indices select."""
        if isinstance(selector, str):
            found = self._named_nodes(selector)
        elif callable(selector):
            found = regional.predicate_region(selector, self.nodes)
        else:
            found = np.unique(regional.as_indices(selector, "the node indices"))
            outside = found[(found < 0) | (found >= len(self.nodes))]
            if outside.size:
                raise InputError(
                    "a node index is out of range",
                    value=int(outside[0]),
                    allowed=f"0 to {len(self.nodes) - 1}",
                )
        if not found.size:
            raise InputError("the selection holds no node", value=selector if isinstance(selector, str) else None)
        return found

    def _named_nodes(self, name: str) -> IntArray:
        if name in self.regions:
            region = self.regions[name]
            return np.unique(
                np.concatenate([region.nodes, self.elements[region.elements].ravel(), region.faces.ravel()])
            )
        if name in regional.AXIS_REGIONS:
            return regional.axis_region(name, self.nodes, AXIS_TOLERANCE * self.diagonal)
        raise regional.unknown_region(name, self.regions)

    def element_region(self, selector: Selector) -> IntArray:
        """Elements the named region lists; where it lists none, those with all nodes in the selection."""
        if isinstance(selector, str) and selector in self.regions and self.regions[selector].elements.size:
            return self.regions[selector].elements
        return np.flatnonzero(self._node_mask(selector)[self.elements].all(axis=1))

    def _node_mask(self, selector: Selector) -> np.ndarray[Any, np.dtype[np.bool_]]:
        mask = np.zeros(len(self.nodes), dtype=bool)
        mask[self.node_region(selector)] = True
        return mask

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of kind, nodes, elements and regions, as hexadecimal text."""
        digest = hashlib.sha256(f"{self.kind} {self.nodes.shape} {self.elements.shape}".encode())
        digest.update(self.nodes.tobytes())
        digest.update(self.elements.tobytes())
        for name in sorted(self.regions):
            region = self.regions[name]
            for part in (region.nodes, region.elements, region.faces):
                digest.update(f"{name!r} {part.shape}".encode())
                digest.update(part.tobytes())
        return digest.hexdigest()

    def with_regions(self, regions: Mapping[str, Region | ArrayLike]) -> Self:
        """The same mesh with these regions in place of its own."""
        return self._with(self.nodes, self.elements, regions)

    def moved(self, *, at: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> Self:
        """Rotated by a quaternion (w, x, y, z) or matrix (3, 3) about the origin, shifted by `at` [m]."""
        nodes = self.nodes @ as_rotation(rotation).T + as_vector(at, "at")
        return self._with(nodes, self.elements, self.regions)

    def scaled(self, factor: float) -> Self:
        """All coordinates times a positive factor [-]."""
        if not (np.isfinite(factor) and factor > 0):
            raise InputError("the scale factor is not positive", value=factor)
        return self._with(self.nodes * float(factor), self.elements, self.regions)

    def merged(self, other: Self) -> Self:
        """Both meshes as one, without joining nodes; regions of the same name are united."""
        if self.kind != other.kind:
            raise InputError(f"a {self.kind} mesh cannot be merged with a {other.kind} mesh")
        regions: dict[str, Region] = dict(self.regions)
        for name, r in other.regions.items():
            old, faces = regions.get(name, Region()), r.faces + len(self.nodes)
            regions[name] = Region(
                np.concatenate([old.nodes, r.nodes + len(self.nodes)]),
                np.concatenate([old.elements, r.elements + len(self.elements)]),
                np.concatenate([part for part in (old.faces, faces) if part.size] or [faces]),
            )
        elements = np.concatenate([self.elements, other.elements + len(self.nodes)])
        return self._with(np.concatenate([self.nodes, other.nodes]), elements, regions)

    def welded(self, *, tolerance: float = 0.0) -> Self:
        """Nodes within `tolerance` [m] of each other made one, at the first of them."""
        first, number = weld_nodes(self.nodes, tolerance)
        regions = {name: Region(number[r.nodes], r.elements, number[r.faces]) for name, r in self.regions.items()}
        return self._with(self.nodes[first], number[self.elements], regions)
