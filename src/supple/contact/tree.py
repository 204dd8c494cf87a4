"""A tree of boxes a body over its triangles or points, split once at rest and refitted to where they are and go.

Triangles are halved again and again across the longest side of the box around their centres, down to leaves of LEAF of
them: boxes of one level are of one size, so that a patch costs as much on a large body as on a small one. Nodes lie in
a binary tree without gaps: node i has children 2i + 1 and 2i + 2, the last `leaves` of them are the leaves. A leaf
lists its vertices once, so that a refit reads few positions. The order is that of the rest shape: neighbours stay
neighbours however far a body bends. A point is an element of its own, a triangle with three times the same corner.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.contact.surface import ContactSurface
from supple.contact.tree_kernels import LEAF, split_by_halves

Array = np.ndarray


class Tree(NamedTuple):
    """node_start: first node of each body and the end, (bodies + 1,); leaf_start likewise for leaves.

    elements: corners (m, 3) of triangles and points, leaf by leaf; kernels number them by their place here, so that
    what a patch needs lies together. triangle: the number of each in the surface, -1 of points, (m,). first: where each
    leaf begins, (leaves + 1,). vertices: those of each leaf, once; vertex_first: where each leaf begins in it,
    (leaves + 1,). own: the vertices that the triangles of each leaf own, each vertex once; own_first likewise.
    """

    node_start: Array
    leaf_start: Array
    elements: Array
    triangle: Array
    first: Array
    vertices: Array
    vertex_first: Array
    own: Array
    own_first: Array


def make_tree(surface: ContactSurface) -> Tree:
    """The trees of all bodies of a surface."""
    elements, triangles, leaf_counts, lengths = [np.zeros((0, 3), np.int64)], [np.zeros(0, np.int64)], [0], []
    for body, (begin, end) in enumerate(zip(surface.body_start, surface.body_start[1:])):
        number = np.arange(begin, end)
        corners = surface.triangles[begin:end]
        if begin == end:
            own = np.flatnonzero(surface.vertex_body == body)
            number, corners = np.full(len(own), -1), np.repeat(own[:, None], 3, axis=1)
        m, count = len(corners), max(1, -(-len(corners) // LEAF))
        order, first = np.arange(m), np.arange(count + 1) * m // count
        deepest = split_by_halves(surface.rest[corners].mean(axis=1), order, first, np.empty((64, 2), np.int64))
        order = np.roll(order, -first[deepest])  # leaves above the last level have the lower numbers, and lie right
        elements.append(corners[order])
        triangles.append(number[order])
        leaf_counts.append(count)
        lengths.append(np.roll(np.diff(first), -deepest))
    leaves = np.array(leaf_counts[1:], np.int64)
    element, first = np.concatenate(elements), np.cumsum(np.concatenate([[0], *lengths])).astype(np.int64)
    leaf = np.repeat(np.arange(len(first) - 1), np.diff(first))
    keys = np.unique(np.repeat(leaf, 3) * max(surface.count, 1) + element.ravel())
    vertices, owner = keys % max(surface.count, 1), keys // max(surface.count, 1)
    place = np.sort(np.unique(element.ravel(), return_index=True)[1])
    return Tree(
        np.cumsum(np.r_[0, 2 * leaves - 1]),
        np.cumsum(np.r_[0, leaves]),
        element.astype(np.int32),
        np.concatenate(triangles),
        first,
        vertices.astype(np.int32),
        np.searchsorted(owner, np.arange(len(first))),
        element.ravel()[place].astype(np.int32),
        np.searchsorted(leaf[place // 3], np.arange(len(first))),
    )
