"""Points cut into compact parts of nearly as many each, and these into larger ones.

A part is as many layers of points thick in each direction as a box of the same sides and number of points, whose points
are equally far apart. What is too long is cut across its longest side, between two layers, so that pieces on both sides
can become equally long in their turn. In a regular mesh parts are boxes of whole layers: cubes of 27 points where they
are to be of that many.
"""

from __future__ import annotations

from math import ceil, log

import numpy as np

Array = np.ndarray
SEARCH = 12
"""Steps of Newton's method for the distance of layers, which comes from one side."""
BESIDE = 0.49
"""Where a cut lies between two layers, in distances of layers: off the middle, where a layer may lie."""
UNEVEN = 8
"""A part that would lose fewer than one in so many points is halved by their number instead."""


def nested_parts(points: Array, label: Array, size: int, few: int) -> list[Array]:
    """Labels (n,) of parts of some `size` points, of parts of as many of these or fewer, and so on down to at most
    `few` parts, or one for each label given. points: [m], (n, 3)."""
    parts = compact_parts(points, label, size)
    levels, of = [parts], np.empty(int(parts.max(initial=-1)) + 1, dtype=label.dtype)
    of[parts] = label
    most = max(few, len(np.unique(label)))
    while len(of) > most:
        counts = np.bincount(parts)
        centres = np.stack([np.bincount(parts, weights=x) / counts for x in points.T], axis=1)
        ratio = len(of) / few
        more = ceil(log(ratio) / log(size) - 1e-9)
        within = ratio ** (1 / more)
        parent = compact_parts(centres, of, within)
        while more == 1 and parent.max() >= most:
            within *= 1.25
            parent = compact_parts(centres, of, within)
        finer, of = of, np.empty(int(parent.max()) + 1, dtype=label.dtype)
        of[parent] = finer
        parts = parent[parts]
        levels.append(parts)
    return levels


def compact_parts(points: Array, label: Array, size: float) -> Array:
    """Labels (n,) of parts of some `size` points, each within one of those given. points: [m], (n, 3)."""
    label = np.unique(label, return_inverse=True)[1].astype(np.int32)
    while len(points):
        counts = np.bincount(label)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        grouped = points[np.argsort(label, kind="stable")]
        low = np.minimum.reduceat(grouped, starts)
        sides = np.maximum.reduceat(grouped, starts) - low
        distance = _layer_distance(sides, counts)
        axis = np.argmax(sides, axis=1)
        long = sides[np.arange(len(counts)), axis]
        layers = long / distance + 1.0
        pieces = np.rint(layers / _thickness(np.sort(sides / distance[:, None] + 1.0, axis=1), size))
        cut = pieces >= 2
        if not cut.any():
            break
        ahead = (pieces // 2) / np.maximum(pieces, 1.0)
        along = np.take_along_axis(points - low[label], axis[label][:, None], axis=1)[:, 0]
        upper = along > ((layers * ahead - 1.0 + BESIDE) * distance)[label]
        above = np.bincount(label, weights=upper, minlength=len(counts))
        ragged = np.minimum(above, counts - above) * UNEVEN < counts
        if (ragged & cut).any():
            rank = np.empty(len(points), dtype=np.int64)
            order = np.lexsort((along, label))
            rank[order] = np.arange(len(points)) - starts[label[order]]
            upper = np.where(ragged[label], 2 * rank >= counts[label], upper)
        label = np.unique(2 * label + (upper & cut[label]), return_inverse=True)[1].astype(np.int32)
    return label


def _layer_distance(sides: Array, counts: Array) -> Array:
    """s of the parts (m,): counts = product of (side / s + 1); 1 where there is one point, or all are in one place."""
    total = sides.sum(axis=1)
    several = (counts > 1) & (total > 0.0)
    sides, total = np.where(several[:, None], sides, 0.0), np.where(several, total, 1.0)
    aim = np.where(several, np.log(counts), 0.0)
    per = aim / total
    for _ in range(SEARCH):
        many = 1.0 + sides * per[:, None]
        slope = (sides / many).sum(axis=1)
        per += (aim - np.log(many).sum(axis=1)) / np.where(several, slope, 1.0)
    return 1.0 / np.where(several, per, 1.0)


def _thickness(layers: Array, size: float) -> Array:
    """p of the parts (m,): size = product of min(p, layers), those given in ascending order (m, 3); in a body of few
    layers parts are wider."""
    thin, middle = layers[:, 0], layers[:, 1]
    p = np.full(len(layers), size ** (1 / 3))
    p = np.where(thin < p, np.sqrt(size / thin), p)
    return np.where(middle < p, size / (thin * middle), p)
