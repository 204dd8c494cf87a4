"""Broad and narrow phase: boxes that overlap, by sorting and sweeping along x, and the points of their shapes."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.manifolds.polytope_kernels import meet_half_space, meet_polytopes
from supple.contact.manifolds.round_kernels import round_on_half_space, round_on_hull, round_on_round
from supple.contact.manifolds.table import PLANE, ROUND


@compiled
def sort_boxes(box, order):
    """Sort the numbers in `order` (n,) by the lower x of their boxes (n, 6), in place; quick where it nearly is."""
    for k in range(1, len(order)):
        one, at = order[k], k
        while at > 0 and box[order[at - 1], 0] > box[one, 0]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = one


@compiled
def collect_overlaps(box, order, allowed, pairs_out):
    """Pairs (lower number first) of boxes (n, 6) that overlap and are allowed (n, n); returns how many there are, which
    may be more than there is room for."""
    count = 0
    for k in range(len(order)):
        a = order[k]
        for m in range(k + 1, len(order)):
            b = order[m]
            if box[b, 0] > box[a, 3]:
                break
            if box[b, 1] > box[a, 4] or box[a, 1] > box[b, 4] or box[b, 2] > box[a, 5] or box[a, 2] > box[b, 5]:
                continue
            if allowed[a, b]:
                if count < len(pairs_out):
                    pairs_out[count, 0], pairs_out[count, 1] = min(a, b), max(a, b)
                count += 1
    return count


@compiled
def sort_pairs(pairs, count):
    """Sort pairs by their numbers, in place: what is found must not depend on where bodies lie along x."""
    key = np.empty(count, np.int64)
    for k in range(count):
        key[k] = pairs[k, 0] * (1 << 32) + pairs[k, 1]
    key.sort()
    for k in range(count):
        pairs[k, 0], pairs[k, 1] = key[k] >> 32, key[k] & 0xFFFFFFFF


@compiled
def compute_points(table, poses, pairs, count, v, reach, h, margin, room, points_out):
    """Contact points of pairs with gaps below the margin [m] and what they may come nearer within h [s]; v (n, 6) and
    reach (n,) as in `compute_poses`. Returns how many; there is room for `MOST` a pair."""
    found = 0
    for k in range(count):
        a, b = pairs[k, 0], pairs[k, 1]
        square = 0.0
        for c in range(3):
            square += (v[a, c] - v[b, c]) ** 2
        near = margin + h * np.sqrt(square) + reach[a] + reach[b]
        if table.kind[b] == PLANE:
            if table.kind[a] == ROUND:
                found = round_on_half_space(table, poses, a, b, near, found, points_out)
            else:
                found = meet_half_space(table, poses, a, b, near, room, found, points_out)
        elif table.kind[a] == ROUND and table.kind[b] == ROUND:
            found = round_on_round(table, poses, a, b, near, found, points_out)
        elif table.kind[a] == ROUND:
            found = round_on_hull(table, poses, a, b, near, 1.0, found, points_out)
        elif table.kind[b] == ROUND:
            found = round_on_hull(table, poses, b, a, near, -1.0, found, points_out)
        else:
            found = meet_polytopes(table, poses, a, b, near, room, found, points_out)
    return found


@compiled
def keep_near(points, count, poses, v, h, margin):
    """Keep, in place, the points with a gap below the margin [m] now or at the velocities v (n, 6) within h [s]; how
    many there are."""
    kept = 0
    for k in range(count):
        closing = 0.0
        for side in range(2):
            body, sign = points.pair[k, side], 1.0 - 2.0 * side
            R = poses.R[body]
            r0, r1, r2 = (
                points.place[k, 0] - poses.x[body, 0],
                points.place[k, 1] - poses.x[body, 1],
                points.place[k, 2] - poses.x[body, 2],
            )
            w0 = R[0, 0] * v[body, 3] + R[0, 1] * v[body, 4] + R[0, 2] * v[body, 5]
            w1 = R[1, 0] * v[body, 3] + R[1, 1] * v[body, 4] + R[1, 2] * v[body, 5]
            w2 = R[2, 0] * v[body, 3] + R[2, 1] * v[body, 4] + R[2, 2] * v[body, 5]
            closing += sign * points.normal[k, 0] * (v[body, 0] + w1 * r2 - w2 * r1)
            closing += sign * points.normal[k, 1] * (v[body, 1] + w2 * r0 - w0 * r2)
            closing += sign * points.normal[k, 2] * (v[body, 2] + w0 * r1 - w1 * r0)
        if points.gap[k] + min(0.0, h * closing) < margin:
            copy_point(points, k, kept)
            kept += 1
    return kept


@compiled(borrows=True)
def copy_point(points, k, to):
    """Copy point k over another."""
    points.feature[to], points.gap[to], points.area[to] = points.feature[k], points.gap[k], points.area[k]
    for c in range(3):
        points.normal[to, c], points.place[to, c] = points.normal[k, c], points.place[k, c]
        points.core[to, 0, c], points.core[to, 1, c] = points.core[k, 0, c], points.core[k, 1, c]
    points.pair[to, 0], points.pair[to, 1] = points.pair[k, 0], points.pair[k, 1]
