"""Points cut into nested parts by halving.

Parts of more than a number of points are cut in two across their longest side, at the median, round by round. So the
parts of a round are unions of those of any later one, and compact.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def nested_parts(points: Array, label: Array, most: int) -> list[Array]:
    """Labels (n,) of parts, coarse to fine, from those given to parts of at most `most` points. points: [m], (n, 3)."""
    rounds = [np.unique(label, return_inverse=True)[1].astype(np.int32)]
    while len(points):
        label = rounds[-1]
        counts = np.bincount(label)
        large = counts > most
        if not large.any():
            break
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        grouped = points[np.argsort(label, kind="stable")]
        sides = np.maximum.reduceat(grouped, starts) - np.minimum.reduceat(grouped, starts)
        along = np.take_along_axis(points, np.argmax(sides, axis=1)[label][:, None], axis=1)[:, 0]
        order = np.lexsort((along, label))
        rank = np.empty(len(points), dtype=np.int64)
        rank[order] = np.arange(len(points)) - starts[label[order]]
        upper = large[label] & (2 * rank >= counts[label])
        rounds.append(np.unique(2 * label + upper, return_inverse=True)[1].astype(np.int32))
    return rounds


def chosen_rounds(rounds: list[Array], few: int, apart: int) -> list[Array]:
    """The finest labels and coarser ones, at most so many rounds apart, down to at most `few` parts."""
    at = len(rounds) - 1
    counts = [int(label.max(initial=-1)) + 1 for label in rounds]
    last = max((k for k in range(at + 1) if counts[k] <= few), default=0)
    chosen = [rounds[at]]
    while at > last:
        at = max(at - apart, last)
        chosen.append(rounds[at])
    return chosen
