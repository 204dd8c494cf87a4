"""A tree of boxes over triangles, for the nearest point of a surface.

Triangles are sorted along a Morton curve and hung, four a leaf, under a complete binary tree: node i has
children 2i + 1 and 2i + 2, so that the tree is two arrays and no pointers. The nearest point of one triangle
comes from the signs of six dot products, which tell the corner, edge or face region of the triangle's plane.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.geometry.meshes.region import FloatArray, IntArray

LEAF = 4


class TriangleTree(NamedTuple):
    """corners: [m], (m, 3, 3), sorted. number: the original number of each, (m,). leaf_count: a power of two.

    box: lower and upper corner of every tree node [m], (2 leaf_count - 1, 2, 3); empty ones are inside out.
    """

    corners: FloatArray
    number: IntArray
    leaf_count: int
    box: FloatArray


def make_triangle_tree(nodes: FloatArray, triangles: IntArray) -> TriangleTree:
    """The tree over triangles (m, 3) of nodes (n, 3) [m]."""
    corners = nodes[triangles]
    number = np.argsort(morton_codes(corners.mean(axis=1)), kind="stable")
    corners = np.ascontiguousarray(corners[number])
    leaf_count = 1 << max(0, int(np.ceil(np.log2(len(corners) / LEAF))))
    box = np.empty((2 * leaf_count - 1, 2, 3))
    compute_boxes(corners, leaf_count, box)
    return TriangleTree(corners, number, leaf_count, box)


def morton_codes(points: FloatArray) -> IntArray:
    """The place of each point (n, 3) along a Morton curve through their box, (n,)."""
    lower = points.min(axis=0)
    extent = max(float((points.max(axis=0) - lower).max()), 1e-300)
    cell = np.minimum((points - lower) / extent * 2**20, 2**20 - 1).astype(np.int64)
    for shift, mask in ((32, 0x1F00000000FFFF), (16, 0x1F0000FF0000FF), (8, 0x100F00F00F00F00F)):
        cell = (cell | cell << shift) & mask
    for shift, mask in ((4, 0x10C30C30C30C30C3), (2, 0x1249249249249249)):
        cell = (cell | cell << shift) & mask
    return cell[:, 0] << 2 | cell[:, 1] << 1 | cell[:, 2]


@compiled
def compute_boxes(corners: FloatArray, leaf_count: int, box_out: FloatArray) -> None:
    """Boxes of the leaves, then of their parents."""
    box_out[:, 0] = np.inf
    box_out[:, 1] = -np.inf
    for i in range(len(corners)):
        leaf = leaf_count - 1 + i // LEAF
        for k in range(3):
            for a in range(3):
                box_out[leaf, 0, a] = min(box_out[leaf, 0, a], corners[i, k, a])
                box_out[leaf, 1, a] = max(box_out[leaf, 1, a], corners[i, k, a])
    for i in range(leaf_count - 2, -1, -1):
        for a in range(3):
            box_out[i, 0, a] = min(box_out[2 * i + 1, 0, a], box_out[2 * i + 2, 0, a])
            box_out[i, 1, a] = max(box_out[2 * i + 1, 1, a], box_out[2 * i + 2, 1, a])


@compiled(inline=True)
def box_distance(p: FloatArray, box: FloatArray, node: int) -> float:
    """Squared distance [m²] from p (3,) to the box of a tree node; infinite for an empty box."""
    total = 0.0
    for a in range(3):
        gap = max(box[node, 0, a] - p[a], p[a] - box[node, 1, a], 0.0)
        total += gap * gap
    return total


@compiled(inline=True)
def dot(u: FloatArray, v: FloatArray) -> float:
    """u · v of two (3,)."""
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@compiled
def compute_nearest_weights(p: FloatArray, corners: FloatArray, work: FloatArray, weight_out: FloatArray) -> None:
    """Barycentric weights (3,) of the triangle's point nearest to p (3,); corners (3, 3); work (5, 3)."""
    ab, ac, ap, bp, cp = work[0], work[1], work[2], work[3], work[4]
    for a in range(3):
        ab[a], ac[a] = corners[1, a] - corners[0, a], corners[2, a] - corners[0, a]
        ap[a], bp[a], cp[a] = p[a] - corners[0, a], p[a] - corners[1, a], p[a] - corners[2, a]
    d1, d2, d3, d4, d5, d6 = dot(ab, ap), dot(ac, ap), dot(ab, bp), dot(ac, bp), dot(ab, cp), dot(ac, cp)
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    v = w = 0.0
    if d1 <= 0 and d2 <= 0:
        pass
    elif d3 >= 0 and d4 <= d3:
        v = 1.0
    elif d6 >= 0 and d5 <= d6:
        w = 1.0
    elif vc <= 0 and d1 >= 0 and d3 <= 0:
        v = d1 / (d1 - d3) if d1 > d3 else 0.0
    elif vb <= 0 and d2 >= 0 and d6 <= 0:
        w = d2 / (d2 - d6) if d2 > d6 else 0.0
    elif va <= 0 and d4 >= d3 and d5 >= d6:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6)) if d4 - d3 + d5 - d6 > 0 else 0.0
        v = 1.0 - w
    else:
        v, w = vb / (va + vb + vc), vc / (va + vb + vc)
    weight_out[0], weight_out[1], weight_out[2] = 1.0 - v - w, v, w


@compiled
def compute_nearest(
    points: FloatArray,
    tree: TriangleTree,
    triangle_out: IntArray,
    nearest_out: FloatArray,
    distance_out: FloatArray,
) -> None:
    """Nearest triangle (k,), the point on it (k, 3) [m] and its distance (k,) [m] of points (k, 3) [m].

    Of triangles at equal distance the one with the smallest number wins, whatever the order of the visit.
    """
    stack, bound = np.empty(64, np.int64), np.empty(64)
    work, weight, q = np.empty((5, 3)), np.empty(3), np.empty(3)
    for i in range(len(points)):
        p, best, depth = points[i], np.inf, 1
        triangle_out[i] = -1
        stack[0], bound[0] = 0, 0.0
        while depth:
            depth -= 1
            node = stack[depth]
            if bound[depth] > best:
                continue
            if node < tree.leaf_count - 1:
                left, right = 2 * node + 1, 2 * node + 2
                near, far = box_distance(p, tree.box, left), box_distance(p, tree.box, right)
                if near > far:
                    left, right, near, far = right, left, far, near
                stack[depth], bound[depth] = right, far
                stack[depth + 1], bound[depth + 1] = left, near
                depth += 2
                continue
            first = (node - tree.leaf_count + 1) * LEAF
            for k in range(first, min(first + LEAF, len(tree.corners))):
                compute_nearest_weights(p, tree.corners[k], work, weight)
                gap = 0.0
                for a in range(3):
                    q[a] = 0.0
                    for c in range(3):
                        q[a] += weight[c] * tree.corners[k, c, a]
                    gap += (p[a] - q[a]) ** 2
                if gap < best or (gap == best and tree.number[k] < triangle_out[i]):
                    best = gap
                    triangle_out[i] = tree.number[k]
                    nearest_out[i] = q
        distance_out[i] = np.sqrt(best)
