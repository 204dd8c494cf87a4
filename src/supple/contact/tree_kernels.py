"""Refit of the trees of boxes, and their descent against each other to pairs of triangles whose boxes meet."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling import compiled


@compiled(inline=True)
def apart(box, i, j):
    """Whether boxes i and j have a gap between them."""
    return (
        box[i, 0] > box[j, 3]
        or box[j, 0] > box[i, 3]
        or box[i, 1] > box[j, 4]
        or box[j, 1] > box[i, 4]
        or box[i, 2] > box[j, 5]
        or box[j, 2] > box[i, 5]
    )


@compiled(borrows=True)
def compute_boxes(tree, x, end, moves, padding, box_out):
    """Boxes (nodes, 6), lower and upper corners [m], around positions x and, where it moves, `end`, widened."""
    for b in range(len(tree.leaf_start) - 1):
        node_start, leaf_start = tree.node_start[b], tree.leaf_start[b]
        leaves = tree.leaf_start[b + 1] - leaf_start
        pad = padding[b]
        for k in range(leaves):
            lx = ly = lz = np.inf
            ux = uy = uz = -np.inf
            for i in range(tree.vertex_first[leaf_start + k], tree.vertex_first[leaf_start + k + 1]):
                v = tree.vertices[i]
                lx, ly, lz = min(lx, x[v, 0]), min(ly, x[v, 1]), min(lz, x[v, 2])
                ux, uy, uz = max(ux, x[v, 0]), max(uy, x[v, 1]), max(uz, x[v, 2])
                if moves:
                    lx, ly, lz = min(lx, end[v, 0]), min(ly, end[v, 1]), min(lz, end[v, 2])
                    ux, uy, uz = max(ux, end[v, 0]), max(uy, end[v, 1]), max(uz, end[v, 2])
            n = node_start + leaves - 1 + k
            box_out[n, 0], box_out[n, 1], box_out[n, 2] = lx - pad, ly - pad, lz - pad
            box_out[n, 3], box_out[n, 4], box_out[n, 5] = ux + pad, uy + pad, uz + pad
        for k in range(leaves - 2, -1, -1):
            n, l, r = node_start + k, node_start + 2 * k + 1, node_start + 2 * k + 2
            for a in range(3):
                box_out[n, a] = min(box_out[l, a], box_out[r, a])
                box_out[n, a + 3] = max(box_out[l, a + 3], box_out[r, a + 3])


@compiled(inline=True)
def triangle_box(triangles, t, x, end, moves, pad, row, box_out):
    """The widened box of one triangle, in a row of box_out."""
    for a in range(3):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        low, high = min(x[i, a], x[j, a], x[k, a]), max(x[i, a], x[j, a], x[k, a])
        if moves:
            low = min(low, min(end[i, a], end[j, a], end[k, a]))
            high = max(high, max(end[i, a], end[j, a], end[k, a]))
        box_out[row, a], box_out[row, a + 3] = low - pad, high + pad


@compiled(borrows=True)
def add_leaf_pairs(tree, triangles, x, end, moves, pad1, pad2, leaf1, leaf2, small, count, pairs_out):
    """Pairs of triangles of two leaves whose boxes meet; leaf1 == leaf2: each pair once. Returns the new count."""
    f1, f2 = tree.first[leaf1], tree.first[leaf2]
    n1, n2 = tree.first[leaf1 + 1] - f1, tree.first[leaf2 + 1] - f2
    for i in range(n1):
        triangle_box(triangles, tree.order[f1 + i], x, end, moves, pad1, i, small)
    for j in range(n2):
        triangle_box(triangles, tree.order[f2 + j], x, end, moves, pad2, n1 + j, small)
    for i in range(n1):
        for j in range(i + 1 if leaf1 == leaf2 else 0, n2):
            if not apart(small, i, n1 + j):
                if count < len(pairs_out):
                    pairs_out[count, 0], pairs_out[count, 1] = tree.order[f1 + i], tree.order[f2 + j]
                count += 1
    return count


@compiled(borrows=True)
def collect_pairs(tree, box, triangles, x, end, moves, padding, order, allowed, stack, small, pairs_out):
    """Pairs of triangles (k, 2) with boxes that meet, of bodies that may touch; returns how many there are.

    order: bodies by the lower x of their boxes. Where more pairs are found than fit, the rest is only counted.
    """
    count = 0
    for i1 in range(len(order)):
        b1 = order[i1]
        for i2 in range(i1, len(order)):
            b2 = order[i2]
            root1, root2 = tree.node_start[b1], tree.node_start[b2]
            if box[root2, 0] > box[root1, 3]:
                break
            if not allowed[b1, b2]:
                continue
            leaves1, leaves2 = (
                tree.leaf_start[b1 + 1] - tree.leaf_start[b1],
                tree.leaf_start[b2 + 1] - tree.leaf_start[b2],
            )
            stack[0, 0], stack[0, 1], depth = 0, 0, 1
            while depth > 0:
                depth -= 1
                k1, k2 = stack[depth, 0], stack[depth, 1]
                itself = b1 == b2 and k1 == k2
                if not itself and apart(box, root1 + k1, root2 + k2):
                    continue
                inner1, inner2 = k1 < leaves1 - 1, k2 < leaves2 - 1
                if not inner1 and not inner2:
                    count = add_leaf_pairs(
                        tree, triangles, x, end, moves, padding[b1], padding[b2],
                        tree.leaf_start[b1] + k1 - leaves1 + 1, tree.leaf_start[b2] + k2 - leaves2 + 1,
                        small, count, pairs_out,
                    )  # fmt: skip
                    continue
                l1, r1 = (2 * k1 + 1, 2 * k1 + 2) if inner1 else (k1, k1)
                l2, r2 = (2 * k2 + 1, 2 * k2 + 2) if inner2 else (k2, k2)
                stack[depth, 0], stack[depth, 1] = l1, l2
                depth += 1
                if inner2:
                    stack[depth, 0], stack[depth, 1] = l1, r2
                    depth += 1
                if inner1 and not itself:
                    stack[depth, 0], stack[depth, 1] = r1, l2
                    depth += 1
                if inner1 and inner2:
                    stack[depth, 0], stack[depth, 1] = r1, r2
                    depth += 1
    return count
