"""How the trees of boxes are split, refitted, and descended against each other to leaves whose boxes meet."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled

LEAF = 6
LARGEST = np.finfo(np.float64).max


@compiled(inline=True)
def comes_before(key, axis, i, j):
    """Whether point i is before point j along an axis; of equals the lower number."""
    return key[i, axis] < key[j, axis] or (key[i, axis] == key[j, axis] and i < j)


@compiled(borrows=True)
def part(key, axis, order, low, high, middle):
    """Reorder order[low:high] so that what comes before its place `middle` along an axis lies before it [Hoa61]."""
    high -= 1
    while low < high:
        pivot, i, j = order[(low + high) >> 1], low, high
        while i <= j:
            while comes_before(key, axis, order[i], pivot):
                i += 1
            while comes_before(key, axis, pivot, order[j]):
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i, j = i + 1, j - 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@compiled(borrows=True)
def leaf_count_left(count):
    """Leaves under the first child in a tree of `count` leaves without gaps."""
    full = 1
    while 2 * full <= count:
        full *= 2
    return min(full, count - full // 2)


@compiled(borrows=True)
def split_by_halves(key, order, first, stack):
    """Sort numbers `order` of points key (m, 3) into leaves, which begin at first (leaves + 1,), from left to right.

    Each node is parted across the longest side of the box of its points. Returns how many leaves are on the last level.
    """
    stack[0, 0], stack[0, 1], depth = 0, len(first) - 1, 1
    while depth > 0:
        depth -= 1
        leaf, count = stack[depth, 0], stack[depth, 1]
        if count < 2:
            continue
        low, high = first[leaf], first[leaf + count]
        axis, longest = np.int64(0), -1.0  # not a literal, for which callees would be compiled once more
        for a in range(3):
            least, largest = np.inf, -np.inf
            for i in range(low, high):
                least, largest = min(least, key[order[i], a]), max(largest, key[order[i], a])
            if largest - least > longest:
                axis, longest = a, largest - least
        left = leaf_count_left(count)
        part(key, axis, order, low, high, first[leaf + left])
        stack[depth, 0], stack[depth, 1] = leaf, left
        stack[depth + 1, 0], stack[depth + 1, 1] = leaf + left, count - left
        depth += 2
    full = 1
    while full < len(first) - 1:
        full *= 2
    return 2 * (len(first) - 1) - full


@compiled(inline=True)
def apart(box, i, j):
    """Whether boxes i and j have a gap between them; all six sides are looked at, since which one tells is chance."""
    return (
        (box[i, 0] > box[j, 3])
        | (box[j, 0] > box[i, 3])
        | (box[i, 1] > box[j, 4])
        | (box[j, 1] > box[i, 4])
        | (box[i, 2] > box[j, 5])
        | (box[j, 2] > box[i, 5])
    )


@compiled(inline=True)
def compute_leaves(vertices, first, leaf, count, x, end, moves, pad, node, box_out):
    """Boxes of so many leaves of triangles, from node on, around x and, where it moves, `end`, widened by pad."""
    for k in range(count):
        lx = ly = lz = np.inf
        ux = uy = uz = -np.inf
        for i in range(first[leaf + k], first[leaf + k + 1]):
            v = vertices[i]
            lx, ly, lz = min(lx, x[v, 0]), min(ly, x[v, 1]), min(lz, x[v, 2])
            ux, uy, uz = max(ux, x[v, 0]), max(uy, x[v, 1]), max(uz, x[v, 2])
            if moves:
                lx, ly, lz = min(lx, end[v, 0]), min(ly, end[v, 1]), min(lz, end[v, 2])
                ux, uy, uz = max(ux, end[v, 0]), max(uy, end[v, 1]), max(uz, end[v, 2])
        n = node + k
        box_out[n, 0], box_out[n, 1], box_out[n, 2] = lx - pad, ly - pad, lz - pad
        box_out[n, 3], box_out[n, 4], box_out[n, 5] = ux + pad, uy + pad, uz + pad


@compiled(borrows=True)
def compute_point_leaves(vertices, first, leaf, count, x, end, pad, radius, node, box_out):
    """The same of leaves of points with radii (n,)."""
    for k in range(count):
        for a in range(3):
            low, high = np.inf, -np.inf
            for i in range(first[leaf + k], first[leaf + k + 1]):
                v = vertices[i]
                low = min(low, min(x[v, a], end[v, a]) - radius[v])
                high = max(high, max(x[v, a], end[v, a]) + radius[v])
            box_out[node + k, a], box_out[node + k, a + 3] = low - pad, high + pad


@compiled(borrows=True)
def put_ways(v, dt, limit, way_out):
    """way_out = dt v; returns how many numbers of v are beyond a limit."""
    count = 0
    for k in range(len(v)):
        way_out[k] = dt * v[k]
        count += not (abs(v[k]) <= limit)
    return count


@compiled(borrows=True)
def add_places(x, end):
    """end += x; returns how many numbers of it are not finite then."""
    count = 0
    for k in range(len(x)):
        e = end[k] + x[k]
        end[k] = e
        count += not (abs(e) <= LARGEST)
    return count


@compiled(borrows=True)
def compute_ends(first, x, v, dt, way, end_out, way_out):
    """Where vertices go: end_out = x + dt v, all (n, 3) [m]. Returns how many of these numbers are not finite.

    first (bodies + 1,): the first vertex of each body. way_out (bodies,) [m]: a bound on how far vertices of each move,
    which is `way` or none. Velocities are read before places, so that places and ends are at hand for the boxes.
    """
    x, v, end_out = x.reshape(-1), v.reshape(-1), end_out.reshape(-1)
    for b in range(len(first) - 1):
        i, j = 3 * first[b], 3 * first[b + 1]
        fast = put_ways(v[i:j], dt, way / (np.sqrt(3.0) * dt), end_out[i:j])
        way_out[b] = np.inf if fast else way
    return add_places(x, end_out)


@compiled(borrows=True)
def compute_boxes(tree, x, end, moves, padding, is_points, radius, box_out):
    """Boxes (nodes, 6), lower and upper corners [m], around positions x and, where it moves, `end`, widened.

    padding (bodies,) [m]; of points, beside the radius (n,) [m] of each.
    """
    for b in range(len(tree.leaf_start) - 1):
        node, leaf = tree.node_start[b], tree.leaf_start[b]
        count = tree.leaf_start[b + 1] - leaf
        lowest = node + count - 1
        if is_points[b]:
            compute_point_leaves(
                tree.vertices, tree.vertex_first, leaf, count, x, end, padding[b], radius, lowest, box_out
            )
        else:
            compute_leaves(tree.vertices, tree.vertex_first, leaf, count, x, end, moves, padding[b], lowest, box_out)
        for k in range(count - 2, -1, -1):
            n, l, r = node + k, node + 2 * k + 1, node + 2 * k + 2
            for a in range(3):
                box_out[n, a] = min(box_out[l, a], box_out[r, a])
                box_out[n, a + 3] = max(box_out[l, a + 3], box_out[r, a + 3])


@compiled(borrows=True)
def sort_bodies(tree, box, order):
    """Sort bodies by the lower x of their boxes, of equals by their numbers; fast where little has changed."""
    for i in range(1, len(order)):
        b, j = order[i], i
        low = box[tree.node_start[b], 0]
        while j > 0:
            other = box[tree.node_start[order[j - 1]], 0]
            if other < low or (other == low and order[j - 1] < b):
                break
            order[j] = order[j - 1]
            j -= 1
        order[j] = b


@compiled(borrows=True)
def collect_leaves(tree, box, order, allowed, stack, leaves_out):
    """Pairs of leaves (k, 2) with boxes that meet, of bodies that may touch; returns how many there are.

    order: all bodies, in any order, which is changed. Where more pairs are found than fit, the rest is only counted.
    """
    count = 0
    sort_bodies(tree, box, order)
    for i1 in range(len(order)):
        b1 = order[i1]
        for i2 in range(i1, len(order)):
            b2 = order[i2]
            root1, root2 = tree.node_start[b1], tree.node_start[b2]
            if box[root2, 0] > box[root1, 3]:
                break
            if not allowed[b1, b2] or apart(box, root1, root2):
                continue
            inner1 = tree.leaf_start[b1 + 1] - tree.leaf_start[b1] - 1
            inner2 = tree.leaf_start[b2 + 1] - tree.leaf_start[b2] - 1
            stack[0, 0], stack[0, 1], depth = 0, 0, 1
            while depth > 0:
                depth -= 1
                k1, k2 = stack[depth, 0], stack[depth, 1]
                if k1 >= inner1 and k2 >= inner2:
                    if count < len(leaves_out):
                        leaves_out[count, 0] = tree.leaf_start[b1] + k1 - inner1
                        leaves_out[count, 1] = tree.leaf_start[b2] + k2 - inner2
                    count += 1
                    continue
                first1, last1 = (2 * k1 + 1, 2 * k1 + 2) if k1 < inner1 else (k1, k1)
                first2, last2 = (2 * k2 + 1, 2 * k2 + 2) if k2 < inner2 else (k2, k2)
                itself = b1 == b2 and k1 == k2
                for c1 in range(first1, last1 + 1):
                    for c2 in range(c1 if itself else first2, last2 + 1):
                        if not apart(box, root1 + c1, root2 + c2):
                            stack[depth, 0], stack[depth, 1] = c1, c2
                            depth += 1
    return count
