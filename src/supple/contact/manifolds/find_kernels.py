"""Broad and narrow phase: boxes that overlap, by sorting and sweeping along x, and the points of their shapes."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.manifolds.impact_kernels import NEVER, bring_back, impact_time, is_fast, point_speed
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
def compute_points(table, poses, frames, pairs, count, v, reach, h, margin, room, points_out):
    """Contact points of pairs with gaps below the margin [m] and what they may come nearer within h [s]; frames (n, 7),
    v (n, 6) and reach (n,) as in `compute_poses`. Of pairs that are fast for their width, the points where they meet
    within the step. Returns how many; there is room for `MOST` a pair."""
    found = np.int64(0)  # not a literal, for which callees would be compiled once more
    for k in range(count):
        a, b = pairs[k, 0], pairs[k, 1]
        square = 0.0
        for c in range(3):
            square += (v[a, c] - v[b, c]) ** 2
        way, t = h * np.sqrt(square) + reach[a] + reach[b], 0.0
        if is_fast(table, a, b, way):
            t = impact_time(table, poses, frames, v, reach, a, b, h)
            way *= 0.0 if t == NEVER else 1.0 - t / h
        first = found
        if t == NEVER:
            bring_back(table, poses, frames, v, a, b, 0.0, found, found, points_out)
        found = meet_pair(table, poses, a, b, margin + way, room, found, points_out)
        if t > 0.0:
            bring_back(table, poses, frames, v, a, b, t, first, found, points_out)
    return found


@compiled(borrows=True)
def meet_pair(table, poses, a, b, near, room, found, points_out):
    """Points of one pair with gaps below `near` [m], after `found` others; returns the new count."""
    if table.kind[b] == PLANE:
        if table.kind[a] == ROUND:
            return round_on_half_space(table, poses, a, b, near, found, points_out)
        return meet_half_space(table, poses, a, b, near, room, found, points_out)
    if table.kind[a] == ROUND and table.kind[b] == ROUND:
        return round_on_round(table, poses, a, b, near, found, points_out)
    if table.kind[a] == ROUND:
        return round_on_hull(table, poses, a, b, near, 1.0, found, points_out)
    if table.kind[b] == ROUND:
        return round_on_hull(table, poses, b, a, near, -1.0, found, points_out)
    return meet_polytopes(table, poses, a, b, near, room, found, points_out)


@compiled
def keep_near(points, count, poses, v, h, margin):
    """Keep, in place, the points with a gap below the margin [m] now or at the velocities v (n, 6) within h [s], and
    those of pairs that meet within it; how many there are."""
    kept = np.int64(0)  # not a literal, for which callees would be compiled once more
    for k in range(count):
        if points.time[k] == 0.0:
            points.speed[k] = point_speed(points, k, poses, v)
        if points.time[k] > 0.0 or points.gap[k] + min(0.0, h * points.speed[k]) < margin:
            copy_point(points, k, kept)
            kept += 1
    return kept


@compiled(borrows=True)
def copy_point(points, k, to):
    """Copy point k over another."""
    points.feature[to], points.gap[to], points.area[to] = points.feature[k], points.gap[k], points.area[k]
    points.speed[to], points.time[to] = points.speed[k], points.time[k]
    for c in range(3):
        points.normal[to, c], points.place[to, c] = points.normal[k, c], points.place[k, c]
        points.core[to, 0, c], points.core[to, 1, c] = points.core[k, 0, c], points.core[k, 1, c]
        points.shift[to, 0, c], points.shift[to, 1, c] = points.shift[k, 0, c], points.shift[k, 1, c]
    points.pair[to, 0], points.pair[to, 1] = points.pair[k, 0], points.pair[k, 1]
