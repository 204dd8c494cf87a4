"""Regions: named parts of a mesh, and how a person may point at them.

A region names nodes, elements and boundary faces, in any combination. Where nodes are asked for, all that the
region names count: its nodes, the nodes of its elements and of its faces.

A selector is what an argument such as `fix=` accepts: the name of a region, one of the automatic names
`x_min, x_max, y_min, y_max, z_min, z_max`, a predicate on positions, or node indices.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import NOT_NUMBERS, InputError, check_instance

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
Predicate: TypeAlias = Callable[[FloatArray], ArrayLike]
Selector: TypeAlias = "str | Predicate | ArrayLike"

AXIS_REGIONS = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")


@dataclass(frozen=True, eq=False)
class Region:
    """A named part of a mesh; every field may be empty, but not all of them. Each is kept sorted and unique.

    nodes: node indices, (k,). elements: element indices, (k,).
    faces: node indices of boundary faces, (k, 3) or (k, 4).
    """

    nodes: IntArray = ()  # type: ignore[assignment]
    elements: IntArray = ()  # type: ignore[assignment]
    faces: IntArray = ()  # type: ignore[assignment]

    def __post_init__(self) -> None:
        nodes, elements = (
            as_indices(self.nodes, "a region's nodes"),
            as_indices(self.elements, "a region's elements"),
        )
        try:
            faces = np.array(self.faces, dtype=np.int64) if np.size(self.faces) else np.empty((0, 3), np.int64)
        except NOT_NUMBERS:
            raise InputError("a region's faces are not whole numbers", value=self.faces) from None
        if faces.ndim != 2 or faces.shape[1] not in (3, 4):
            raise InputError("a region's faces are not rows of 3 or 4 nodes", value=faces.shape)
        for name, array in (
            ("nodes", np.unique(nodes)),
            ("elements", np.unique(elements)),
            ("faces", np.unique(faces, axis=0)),
        ):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def is_empty(self) -> bool:
        """Whether the region names nothing at all."""
        return not (self.nodes.size or self.elements.size or self.faces.size)


def as_indices(values: Any, what: str) -> IntArray:
    """A flat int64 array of indices; refuses fractions, booleans and text."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{what} are not a flat array of whole numbers", value=values) from None
    if array.size == 0:
        return np.empty(0, np.int64)
    if not np.issubdtype(array.dtype, np.integer) or array.ndim != 1:
        raise InputError(f"{what} are not a flat array of whole numbers", value=f"{array.dtype} {array.shape}")
    return array.astype(np.int64)


def check_regions(
    regions: Mapping[str, Region | ArrayLike], node_count: int, element_count: int, face_width: int
) -> Mapping[str, Region]:
    """Regions as a read-only mapping; plain index arrays become regions of nodes.

    face_width: how many nodes a boundary face has; 0 where the mesh has no boundary faces.
    """
    check_instance(regions, Mapping, "a table of regions by their names", where="regions")
    checked: dict[str, Region] = {}
    for name, given in regions.items():
        region = given if isinstance(given, Region) else Region(nodes=as_indices(given, f"region '{name}'"))
        where = f"region '{name}'"
        if region.is_empty:
            raise InputError("the region is empty", where=where, fix="Name at least one node, element or face.")
        for kind, indices, count in (
            ("node", region.nodes, node_count),
            ("element", region.elements, element_count),
            ("face node", region.faces, node_count),
        ):
            outside = indices[(indices < 0) | (indices >= count)]
            if outside.size:
                raise InputError(
                    f"a {kind} index is out of range",
                    where=where,
                    value=int(outside[0]),
                    allowed=f"0 to {count - 1}",
                )
        if region.faces.size and region.faces.shape[1] != face_width:
            allowed = f"{face_width} nodes a face" if face_width else "no faces in a surface mesh"
            raise InputError("the faces do not fit the mesh", where=where, allowed=allowed)
        checked[str(name)] = region
    return MappingProxyType(checked)


def axis_region(name: str, nodes: FloatArray, tolerance: float) -> IntArray:
    """Nodes within `tolerance` [m] of the bounding face called `name`, one of `AXIS_REGIONS`."""
    coordinate = nodes[:, "xyz".index(name[0])]
    if name.endswith("min"):
        return np.flatnonzero(coordinate <= coordinate.min() + tolerance)
    return np.flatnonzero(coordinate >= coordinate.max() - tolerance)


def predicate_region(predicate: Predicate, nodes: FloatArray) -> IntArray:
    """Nodes for which `predicate(positions (n, 3)) -> (n,) bool` holds."""
    mask = np.asarray(predicate(nodes))
    if mask.dtype != np.bool_ or mask.shape != (len(nodes),):
        raise InputError(
            "the predicate does not give one truth value a node",
            value=f"{mask.dtype} {mask.shape}",
            allowed=f"bool ({len(nodes)},)",
            fix="It receives all positions at once, (n, 3): write e.g. lambda X: X[:, 0] < 0.1.",
        )
    return np.flatnonzero(mask)


def unknown_region(name: str, known: Iterable[str]) -> InputError:
    """The error for a region name nobody gave, with the nearest known one."""
    names = [*known, *AXIS_REGIONS]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return InputError(
        f"no region is called '{name}'",
        allowed=", ".join(names),
        fix=f"Did you mean '{near[0]}'?" if near else None,
    )
