"""Which element belongs to which domain: labels or named regions turned into numbers 0, 1, 2 ... and names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import InputError
from supple.geometry import HexMesh, Selector, TetMesh
from supple.geometry.meshes.connectivity import SharedFaces, element_pieces

Array = np.ndarray
Pieces = Literal["refuse", "split"]


def resolve_labels(
    mesh: TetMesh | HexMesh,
    labels: ArrayLike | None,
    regions: Iterable[str] | Mapping[str, Selector] | None,
    rest: str | None,
) -> tuple[Array, list[str]]:
    """Number (m,) and names of the domains, from labels or from regions; exactly one of the two."""
    if (labels is None) == (regions is None):
        raise InputError("give either labels or regions", where="decompose")
    if labels is None:
        assert regions is not None
        return _from_regions(mesh, regions, rest)
    try:
        given, count = np.asarray(labels), len(mesh.elements)
    except ValueError:
        raise InputError("the labels are rows of different lengths", where="decompose") from None
    if given.shape != (count,) or given.dtype.kind not in "iuU":
        raise InputError(
            "the labels are not one whole number or name an element",
            where="decompose",
            value=f"{given.dtype} {given.shape}",
            allowed=f"({count},)",
        )
    values, numbers = np.unique(given, return_inverse=True)
    names = [str(v) if given.dtype.kind == "U" else f"domain_{v}" for v in values]
    return numbers.ravel().astype(np.int64), names


def _from_regions(
    mesh: TetMesh | HexMesh, regions: Iterable[str] | Mapping[str, Selector], rest: str | None
) -> tuple[Array, list[str]]:
    selectors: dict[str, Any] = dict(regions) if isinstance(regions, Mapping) else {name: name for name in regions}
    out = np.full(len(mesh.elements), -1, dtype=np.int64)
    names = list(selectors)
    for number, (name, selector) in enumerate(selectors.items()):
        elements = mesh.element_region(selector)
        if not elements.size:
            raise InputError("the region holds no element", where=f"region '{name}'")
        taken = elements[out[elements] >= 0]
        if taken.size:
            raise InputError(
                f"{taken.size} elements are also in region '{names[out[taken[0]]]}'",
                where=f"region '{name}', element {taken[0]}",
                fix="Domains may not overlap: leave these elements out of one of the two.",
            )
        out[elements] = number
    bare = np.flatnonzero(out < 0)
    if bare.size and rest is None:
        raise InputError(
            f"{bare.size} elements are in no region",
            where=f"element {bare[0]}",
            fix='Name a domain for them: rest="name".',
        )
    if bare.size:
        assert rest is not None
        if rest in names:
            raise InputError("the name of the rest is already a region's", where="decompose", value=rest)
        out[bare] = len(names)
        names.append(rest)
    return out, names


def check_pieces(labels: Array, names: list[str], shared: SharedFaces, pieces: Pieces) -> tuple[Array, list[str]]:
    """Refuse domains in several pieces, by name, or make a domain of each piece, named `name.1`, `name.2` ..."""
    piece = element_pieces(labels, shared)
    _, first = np.unique(piece, return_index=True)
    count = np.bincount(labels[first], minlength=len(names))
    torn = np.flatnonzero(count > 1)
    if not torn.size:
        return labels, names
    if pieces == "refuse":
        at = first[labels[first] == torn[0]]
        raise InputError(
            f"the domain is in {count[torn[0]]} pieces that share no face",
            where=f"domain '{names[torn[0]]}'",
            value=f"pieces at elements {', '.join(map(str, at[:8]))}",
            fix='Give each piece a label of its own, or pass pieces="split".',
        )
    order = np.lexsort((first, labels[first]))
    out, seen, new_names = np.empty_like(labels), dict.fromkeys(range(len(names)), 0), []
    for number, p in enumerate(order):
        old = int(labels[first[p]])
        seen[old] += 1
        out[piece == p] = number
        new_names.append(names[old] if count[old] == 1 else f"{names[old]}.{seen[old]}")
    return out, new_names
