"""Vertices near triangles, and triangles near triangles, from pairs of leaves whose boxes meet.

A leaf is in several pairs: the boxes of its elements are computed once and kept at hand, as many leaves of either side
as fit. Large bodies do not stay in the cache from the refit: what later pairs need is asked for in time, in the order
in which one tells where the next lies.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.compiling.prefetching import prefetch
from supple.contact.tree_kernels import LEAF, apart

AT_HAND = 128  # leaves of either side whose boxes are kept, a power of two
AHEAD = 8  # pairs of leaves between asking for memory and reading it


@compiled(inline=True)
def put_boxes(tree, shape, x, end, moves, pad, leaf, row, box_out):
    """The boxes of a leaf's elements, widened, in rows of box_out."""
    begin = tree.first[leaf]
    for e in range(tree.first[leaf + 1] - begin):
        i, j, k = tree.elements[begin + e, 0], tree.elements[begin + e, 1], tree.elements[begin + e, 2]
        radius = shape.vertex_radius[i] if i == j else 0.0  # of points
        for a in range(3):
            low, high = min(x[i, a], x[j, a], x[k, a]), max(x[i, a], x[j, a], x[k, a])
            if moves:
                low = min(low, min(end[i, a], end[j, a], end[k, a]))
                high = max(high, max(end[i, a], end[j, a], end[k, a]))
            box_out[row + e, a], box_out[row + e, a + 3] = low - pad - radius, high + pad + radius


@compiled(inline=True)
def place_at_hand(leaf, side):
    """Where the boxes of a leaf of one of both sides are kept."""
    return side * AT_HAND + (leaf & (AT_HAND - 1))


@compiled(inline=True)
def boxes_at_hand(tree, shape, workspace, settings, x, end, padding, leaf, side):
    """First row of workspace.leaf_box with the boxes of a leaf's elements, which are computed unless at hand."""
    place = place_at_hand(leaf, side)
    if workspace.leaf_at_hand[place] != leaf:
        pad = padding[leaf_body(tree, shape, leaf)]
        put_boxes(tree, shape, x, end, settings.moves, pad, leaf, LEAF * place, workspace.leaf_box)
        workspace.leaf_at_hand[place] = leaf
    return LEAF * place


@compiled(inline=True)
def ask_ahead(tree, workspace, x, end, leaf_count, p):
    """Ask for the positions of a pair of leaves, and for what tells where those of later pairs lie."""
    leaves = workspace.leaves
    for side in range(2):
        if p + 2 * AHEAD < leaf_count:
            prefetch(tree.first, leaves[p + 2 * AHEAD, side])
        if p + AHEAD < leaf_count:
            prefetch(tree.elements, tree.first[leaves[p + AHEAD, side]])
        if p < leaf_count:
            leaf = leaves[p, side]
            if workspace.leaf_at_hand[place_at_hand(leaf, side)] != leaf:
                for e in range(tree.first[leaf], tree.first[leaf + 1]):
                    for c in range(3):
                        prefetch(x, tree.elements[e, c])
                        prefetch(end, tree.elements[e, c])


@compiled(inline=True)
def swept_box(x, end, moves, v, pad):
    """Lower and upper corner of the box of a vertex over the step, widened."""
    lx, ly, lz, ux, uy, uz = x[v, 0], x[v, 1], x[v, 2], x[v, 0], x[v, 1], x[v, 2]
    if moves:
        lx, ly, lz = min(lx, end[v, 0]), min(ly, end[v, 1]), min(lz, end[v, 2])
        ux, uy, uz = max(ux, end[v, 0]), max(uy, end[v, 1]), max(uz, end[v, 2])
    return lx - pad, ly - pad, lz - pad, ux + pad, uy + pad, uz + pad


@compiled(inline=True)
def box_apart(b, box, j):
    """Whether a box and box j have a gap between them."""
    return (
        (b[0] > box[j, 3])
        | (box[j, 0] > b[3])
        | (b[1] > box[j, 4])
        | (box[j, 1] > b[4])
        | (b[2] > box[j, 5])
        | (box[j, 2] > b[5])
    )


@compiled(inline=True)
def leaf_body(tree, shape, leaf):
    """The body of a leaf."""
    return shape.triangle_body[tree.first[leaf]]


@compiled(inline=True)
def leaf_node(tree, body, leaf):
    """The node of a leaf of a body."""
    return tree.node_start[body] + tree.leaf_start[body + 1] - tree.leaf_start[body] - 1 + leaf - tree.leaf_start[body]


@compiled(borrows=True)
def add_near(tree, shape, settings, x, end, box, leaf1, leaf2, leaf_box, row, count, near_out):
    """Append vertices that leaf1 owns and elements of leaf2, whose boxes meet; returns the new count.

    row: of the first element's box in leaf_box. Of points in one leaf each two are listed once.
    """
    begin, number, body = tree.first[leaf2], tree.first[leaf2 + 1] - tree.first[leaf2], leaf_body(tree, shape, leaf2)
    node, reach = leaf_node(tree, body, leaf2), 0.5 * max(settings.margin, settings.depth)
    is_once = leaf1 == leaf2 and shape.is_points[body]
    for m in range(tree.own_first[leaf1], tree.own_first[leaf1 + 1]):
        v = tree.own[m]
        b = swept_box(x, end, settings.moves, v, shape.vertex_radius[v] + reach)
        if box_apart(b, box, node):
            continue
        for e in range(m - tree.own_first[leaf1] + 1 if is_once else 0, number):
            at = min(count, len(near_out) - 1)  # written in any case, kept by counting it
            near_out[at, 0], near_out[at, 1] = v, begin + e
            count += not box_apart(b, leaf_box, row + e)
    return count


@compiled(borrows=True)
def collect_near(tree, shape, workspace, settings, x, end, padding, box, leaf_count):
    """Vertices and elements (k, 2) near each other, from pairs of leaves, in workspace.near; returns how many.

    Where more are found than fit, the rest is only counted. Two points are listed once, and no points as elements for
    vertices of triangles.
    """
    leaves, leaf_box, near, count = workspace.leaves, workspace.leaf_box, workspace.near, np.int64(0)
    workspace.leaf_at_hand[:] = -1
    for ahead in range(leaf_count + AHEAD):
        ask_ahead(tree, workspace, x, end, leaf_count, ahead)
        if ahead < AHEAD:
            continue
        one, two = leaves[ahead - AHEAD, 0], leaves[ahead - AHEAD, 1]
        row1 = boxes_at_hand(tree, shape, workspace, settings, x, end, padding, one, 0)
        row2 = boxes_at_hand(tree, shape, workspace, settings, x, end, padding, two, 1)
        points1, points2 = shape.is_points[leaf_body(tree, shape, one)], shape.is_points[leaf_body(tree, shape, two)]
        if points1 or not points2:
            count = add_near(tree, shape, settings, x, end, box, one, two, leaf_box, row2, count, near)
        if not points1 and one != two:
            count = add_near(tree, shape, settings, x, end, box, two, one, leaf_box, row1, count, near)
    return count


@compiled(borrows=True)
def collect_pairs(tree, shape, workspace, settings, x, end, padding, leaf_count, pairs_out):
    """Pairs of elements (k, 2) with boxes that meet, from pairs of leaves; returns how many there are.

    Where more are found than fit, the rest is only counted.
    """
    count = 0
    workspace.leaf_at_hand[:] = -1
    for p in range(leaf_count):
        one, two = workspace.leaves[p, 0], workspace.leaves[p, 1]
        row1 = boxes_at_hand(tree, shape, workspace, settings, x, end, padding, one, 0)
        row2 = boxes_at_hand(tree, shape, workspace, settings, x, end, padding, two, 1)
        for i in range(tree.first[one + 1] - tree.first[one]):
            for j in range(i + 1 if one == two else 0, tree.first[two + 1] - tree.first[two]):
                at = min(count, len(pairs_out) - 1)  # written in any case, kept by counting it
                pairs_out[at, 0], pairs_out[at, 1] = tree.first[one] + i, tree.first[two] + j
                count += not apart(workspace.leaf_box, row1 + i, row2 + j)
    return count
