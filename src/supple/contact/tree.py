"""A tree of boxes a body over its triangles, sorted once at rest and refitted to where they are and go.

Triangles are sorted along a Morton curve and hung under a complete binary tree: node i has children 2i + 1 and 2i + 2.
Leaves hold two to four triangles and list their vertices once, so that a refit reads few positions. The order is
that of the rest shape: neighbours stay neighbours however far a body bends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.contact.surface import ContactSurface
from supple.geometry.triangle_tree import morton_codes

Array = np.ndarray
LEAF = 4


class Tree(NamedTuple):
    """node_start: first node of each body and the end, (bodies + 1,); leaf_start likewise for leaves.

    order: triangles, leaf by leaf, (m,). first: where each leaf begins in `order`, (leaves + 1,).
    vertices: those of each leaf, once; vertex_first: where each leaf begins in it, (leaves + 1,).
    """

    node_start: Array
    leaf_start: Array
    order: Array
    first: Array
    vertices: Array
    vertex_first: Array


def make_tree(surface: ContactSurface) -> Tree:
    """The trees of all bodies of a surface."""
    sizes = np.diff(surface.body_start)
    leaves = np.array([1 << max(0, int(np.ceil(np.log2(max(m, 1) / LEAF)))) for m in sizes], np.int64)
    orders, firsts = [np.zeros(0, np.int64)], [np.zeros(1, np.int64)]
    for begin, m, count in zip(surface.body_start, sizes, leaves):
        corners = surface.rest[surface.triangles[begin : begin + m]]
        if m:
            orders.append(begin + np.argsort(morton_codes(corners.mean(axis=1)), kind="stable"))
        firsts.append(begin + np.arange(1, count + 1) * m // count)
    order, first = np.concatenate(orders), np.concatenate(firsts)
    leaf = np.repeat(np.arange(len(first) - 1), np.diff(first))
    keys = np.unique(np.repeat(leaf, 3) * max(surface.count, 1) + surface.triangles[order].ravel())
    vertices, owner = keys % max(surface.count, 1), keys // max(surface.count, 1)
    vertex_first = np.searchsorted(owner, np.arange(len(first)))
    return Tree(
        np.cumsum(np.r_[0, 2 * leaves - 1]),
        np.cumsum(np.r_[0, leaves]),
        order.astype(np.int32),
        first,
        vertices.astype(np.int32),
        vertex_first,
    )
