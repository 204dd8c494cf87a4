"""The root of a tree of domains: the part that is fixed, else the largest or the most central."""

from __future__ import annotations

import numpy as np

from supple.bodies.tree.domains.domain_tree_checks import spans_plane
from supple.decompose.cut_graph import breadth_first
from supple.errors import InputError
from supple.geometry import HexMesh, TetMesh

Array = np.ndarray
Root = str | None
"""A domain's name, "fixed", "largest", "central", or None: the fixed part, else the largest."""


def choose_root(
    mesh: TetMesh | HexMesh, labels: Array, names: list[str], beside: list[list[int]], root: Root, fixed: Array | None
) -> int:
    """Number of the root. labels: domain of each element. beside: neighbours in the tree. fixed: held nodes, if any."""
    if root is None:
        root = "largest" if fixed is None else "fixed"
    if not isinstance(root, str):
        raise InputError("the root is not a name", where="decompose", value=root, allowed=", ".join(names))
    if root in names:
        return names.index(root)
    if root == "fixed":
        if fixed is None:
            raise InputError(
                "no node is fixed, so no part is", where="decompose", fix='Pass fixed=, or root="largest".'
            )
        return int(np.argmax([np.isin(fixed, _nodes(mesh, labels, d)).sum() for d in range(len(names))]))
    volume = np.bincount(labels, mesh.volumes, minlength=len(names))
    if root == "largest":
        return int(np.argmax(volume))
    if root == "central":
        depth = [_depth(beside, d) for d in range(len(names))]
        return min(range(len(names)), key=lambda d: (depth[d], -volume[d], d))
    allowed = f"fixed, largest, central, or one of {', '.join(names)}"
    raise InputError("no such root", where="decompose", value=root, allowed=allowed)


def held_by_root(mesh: TetMesh | HexMesh, labels: Array, names: list[str], root: int, fixed: Array | None) -> Array:
    """Fixed nodes (k,), all in the root; refuses, by name, a domain that is fixed elsewhere: it would close a loop."""
    if fixed is None:
        return np.empty(0, dtype=np.int64)
    if not spans_plane(mesh.nodes[fixed]):
        raise InputError(
            "the fixed nodes do not hold the root: they are fewer than three, or in line",
            where=f"domain '{names[root]}'",
            value=f"{len(fixed)} nodes",
        )
    stray = np.setdiff1d(fixed, _nodes(mesh, labels, root))
    if stray.size:
        other = int(labels[np.flatnonzero((mesh.elements == stray[0]).any(axis=1))[0]])
        raise InputError(
            f"{stray.size} fixed nodes are outside the root '{names[root]}'",
            where=f"domain '{names[other]}', node {stray[0]}",
            fix="A tree is held by its root alone: fix fewer nodes, or join all fixed parts into one domain.",
        )
    return fixed


def _nodes(mesh: TetMesh | HexMesh, labels: Array, domain: int) -> Array:
    return np.unique(mesh.elements[labels == domain])


def _depth(beside: list[list[int]], start: int) -> int:
    """Levels of the tree below this root."""
    before, level = breadth_first(beside, start), {-1: 0}
    for domain, parent in before.items():
        level[domain] = level[parent] + 1
    return max(level.values())
