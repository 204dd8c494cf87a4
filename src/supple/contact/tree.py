"""A tree of boxes a body over its triangles, split once at rest and refitted to where they are and go.

Triangles are halved again and again across the longest side of the box around their centres, down to leaves of LEAF of
them: boxes of one level are of one size, so that a patch costs as much on a large body as on a small one. Nodes lie in
a binary tree without gaps: node i has children 2i + 1 and 2i + 2, the last `leaves` of them are the leaves. A leaf
lists its vertices once, so that a refit reads few positions. The order is that of the rest shape: neighbours stay
neighbours however far a body bends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.contact.surface import ContactSurface
from supple.contact.tree_kernels import LEAF, split_by_halves

Array = np.ndarray


class Tree(NamedTuple):
    """node_start: first node of each body and the end, (bodies + 1,); leaf_start likewise for leaves.

    order: triangles, leaf by leaf, (m,). Kernels number triangles by their place in it, so that what a patch needs lies
    together. first: where each leaf begins, (leaves + 1,). vertices: those of each leaf, once; vertex_first: where each
    leaf begins in it, (leaves + 1,).
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
    leaves = np.maximum(1, -(-sizes // LEAF))
    orders, firsts = [np.zeros(0, np.int64)], [np.zeros(1, np.int64)]
    for begin, m, count in zip(surface.body_start, sizes, leaves):
        centres = surface.rest[surface.triangles[begin : begin + m]].mean(axis=1)
        order, first = np.arange(m), np.arange(count + 1) * m // count
        rank = split_by_halves(centres, order, first, np.empty((64, 3), np.int64))
        lengths = np.diff(first)[rank:]  # leaves of the last level but one have the lower numbers and lie on the right
        orders.append(begin + np.roll(order, -first[rank]))
        firsts.append(begin + np.cumsum(np.r_[lengths, np.diff(first)[:rank]]))
    order, first = np.concatenate(orders), np.concatenate(firsts)
    leaf = np.repeat(np.arange(len(first) - 1), np.diff(first))
    keys = np.unique(np.repeat(leaf, 3) * max(surface.count, 1) + surface.triangles[order].ravel())
    vertices, owner = keys % max(surface.count, 1), keys // max(surface.count, 1)
    vertex_first = np.searchsorted(owner, np.arange(len(first)))
    return Tree(
        np.cumsum(np.r_[0, 2 * leaves - 1]),
        np.cumsum(np.r_[0, leaves]),
        order,
        first,
        vertices.astype(np.int32),
        vertex_first,
    )
